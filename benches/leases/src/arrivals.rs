//! [`Arrivals`]: the runs that tenants ask for.

use crate::{
    random::Random,
    run::{Life, Run},
    scenario::Tenant,
    worker::Time,
};

/// The time of the parts of a run between two commits, in milliseconds.
const STEP: f64 = 5_000.0;

/// The most commits between the beginning and the end of a run.
const MOST_STEPS: f64 = 10.0;

/// The runs that a tenant will ask for. They do not depend on what else happens.
pub(crate) struct Arrivals {
    random: Random,
    rate: f64,
    pub(crate) left: usize,
    /// The time of the next one, in milliseconds.
    next: f64,
}

impl Arrivals {
    pub(crate) fn new(tenant: &Tenant, seed: u64) -> Self {
        Self {
            random: Random::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
            rate: tenant.rate,
            left: tenant.runs,
            next: 0.0,
        }
    }

    pub(crate) fn run(&mut self, tenant: usize, poison: f64) -> Run {
        let length = self.random.length();
        Run {
            tenant: u32::try_from(tenant).unwrap_or(u32::MAX),
            priority: self.random.priority(),
            length: length as u32,
            steps: (length / STEP).ceil().clamp(1.0, MOST_STEPS) as u8,
            is_poison: self.random.happens(poison),
            queued_at: 0,
            life: Life::New,
            is_deleted: false,
            done: 0,
            attempts: 0,
            epoch: 0,
            is_held: false,
            claimed_by: None,
            renewed_at: 0,
            until: 0,
        }
    }

    /// Returns the time of the next run, if there is one.
    pub(crate) fn next(&mut self) -> Option<Time> {
        if self.left == 0 {
            return None;
        }
        self.next += self.random.pause(self.rate);
        Some(self.next as Time)
    }
}

//! A model of what must be stored, with which every answer of the store is compared.

mod claims;
mod violations;
mod writes;

pub(crate) use self::claims::{Asked, Takeover, millis};
pub use self::violations::Violations;
use crate::{
    figures::Figures,
    run::{Life, Run},
    scenario::Scenario,
    worker::Time,
};

/// The runs of a tenant.
#[derive(Debug, Clone, Copy, Default)]
struct Load {
    kind: usize,
    /// The runs that no worker has had.
    waiting: usize,
    /// The runs with a lease that holds.
    held: u64,
}

/// A model of what must be stored.
#[derive(Debug)]
pub(crate) struct Judge {
    pub(crate) runs: Vec<Run>,
    pub(crate) figures: Figures,
    pub(crate) violations: Violations,
    tenants: Vec<Load>,
    /// The runs that no worker has had.
    waiting: usize,
    /// The runs whose lease has expired.
    expired: usize,
    /// The runs that are not over.
    pub(crate) open: usize,
    /// The time at which a run was claimed or written to.
    pub(crate) moved_at: Time,
}

impl Judge {
    pub(crate) fn new(scenario: &Scenario) -> Self {
        let load = |kind| Load {
            kind,
            ..Load::default()
        };
        let tenants: Vec<Load> = scenario.tenants.iter().map(|tenant| load(tenant.kind)).collect();
        let figures = Figures {
            waits: vec![Vec::new(); scenario.kinds.len()],
            served: vec![0; tenants.len()],
            ..Figures::default()
        };
        Self {
            runs: Vec::with_capacity(scenario.size.runs),
            figures,
            violations: Violations::default(),
            tenants,
            waiting: 0,
            expired: 0,
            open: 0,
            moved_at: 0,
        }
    }

    /// Adds a run that is about to be stored. Returns its number.
    pub(crate) fn add(&mut self, run: Run) -> u32 {
        self.open += 1;
        self.runs.push(run);
        u32::try_from(self.runs.len() - 1).unwrap_or(u32::MAX)
    }

    /// A run was stored.
    pub(crate) fn queued(&mut self, run: u32, now: Time) {
        let Some(found) = self.runs.get_mut(run as usize) else {
            return;
        };
        (found.life, found.queued_at) = (Life::Queued, now);
        self.waiting += 1;
        self.tenants[found.tenant as usize].waiting += 1;
    }

    /// Time passes. What workers do counts while all tenants wait.
    pub(crate) fn pass(&mut self, time: Time) {
        if self.waiting >= self.tenants.len() && self.tenants.iter().all(|tenant| tenant.waiting > 0) {
            let served = self.figures.served.iter_mut();
            served
                .zip(&self.tenants)
                .for_each(|(served, tenant)| *served += tenant.held * time);
        }
    }

    /// A lease expires unless it was renewed. Returns the time of the next check.
    pub(crate) fn expire(&mut self, run: u32, epoch: u64, now: Time) -> Option<Time> {
        let found = self.runs.get_mut(run as usize)?;
        if !found.is_open() || !found.is_held || found.epoch != epoch {
            return None;
        }
        if found.until > now {
            return Some(found.until);
        }
        found.is_held = false;
        self.tenants[found.tenant as usize].held -= 1;
        self.expired += 1;
        None
    }

    /// A run is over, which a worker has, or whose lease has expired.
    fn end(&mut self, run: u32, life: Life) {
        let Some(found) = self.runs.get_mut(run as usize) else {
            return;
        };
        found.life = life;
        match found.is_held {
            true => self.tenants[found.tenant as usize].held -= 1,
            false => self.expired = self.expired.saturating_sub(usize::from(found.attempts > 0)),
        }
        found.is_held = false;
        self.open -= 1;
    }

    /// A session was deleted. Returns whether it must have existed.
    pub(crate) fn deleted(&mut self, run: u32, existed: bool) {
        if let Some(found) = self.runs.get_mut(run as usize) {
            found.is_deleted = true;
        }
        self.violations
            .unless(existed, || format!("the session of run {run} was lost"));
    }
}

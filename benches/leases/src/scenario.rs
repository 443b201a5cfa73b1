//! [`Scenario`]: tenants and their runs, workers, and failures.

use agcore_session::TenantShare;

use crate::random::MEAN_LENGTH;

/// The size of a simulation.
#[derive(Debug, Clone, Copy)]
pub struct Size {
    /// The number of workers.
    pub workers: usize,
    /// The number of runs that a worker executes at a time.
    pub slots: usize,
    /// The number of runs.
    pub runs: usize,
    /// The seed of all random numbers.
    pub seed: u64,
}

/// Tenants and their runs, workers, and failures.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// The name.
    pub name: &'static str,
    /// The size.
    pub size: Size,
    /// The names of the kinds of tenants.
    pub kinds: Vec<&'static str>,
    /// The tenants.
    pub tenants: Vec<Tenant>,
    /// The failures.
    pub faults: Faults,
}

/// A tenant.
#[derive(Debug, Clone)]
pub struct Tenant {
    /// The name.
    pub name: String,
    /// The number of its kind.
    pub kind: usize,
    /// The share of the workers.
    pub share: TenantShare,
    /// The number of its runs.
    pub runs: usize,
    /// The number of runs that it asks for in a second, on average.
    pub rate: f64,
}

/// The frequencies of failures.
#[derive(Debug, Clone, Copy)]
pub struct Faults {
    /// The seconds after which a worker is killed, on average.
    pub kill_after: f64,
    /// The part of the workers that start again after they were killed.
    pub restarts: f64,
    /// The seconds after which a worker is stopped for a while, on average.
    pub stop_after: f64,
    /// The part of the requests, and of the answers, that are lost.
    pub lost: f64,
    /// The part of the runs that kill each worker that begins them.
    pub poison: f64,
    /// The part of the workers whose clock runs slowly.
    pub slow: f64,
    /// The part of the workers whose calendar is wrong.
    pub wrong_calendar: f64,
}

impl Default for Faults {
    fn default() -> Self {
        Self {
            kill_after: 300.0,
            restarts: 0.9,
            stop_after: 300.0,
            lost: 0.005,
            poison: 0.0001,
            slow: 0.01,
            wrong_calendar: 0.02,
        }
    }
}

impl Size {
    /// Returns the number of runs that all workers can execute in a second.
    fn capacity(self) -> f64 {
        (self.workers * self.slots) as f64 * 1_000.0 / MEAN_LENGTH
    }

    fn with_runs(self, share: f64) -> Self {
        Self {
            runs: (self.runs as f64 * share) as usize,
            ..self
        }
    }
}

/// The part of the workers that the steady tenant needs.
const STEADY: f64 = 0.25;

impl Scenario {
    /// Returns all scenarios, which have the runs of this size together.
    pub fn all(size: Size) -> Vec<Self> {
        let steady = size.with_runs(0.05).runs;
        vec![
            Self::alone(size, steady),
            Self::flood(size, steady),
            Self::weights(size.with_runs(0.24)),
            Self::many(size.with_runs(0.4975)),
        ]
    }

    /// Returns one tenant that needs a part of the workers.
    pub fn alone(size: Size, steady: usize) -> Self {
        Self::new("alone", size, vec!["steady"], vec![Tenant::steady(size, steady)])
    }

    /// Returns the same tenant beside another one with the same weight, which asks for twice as many runs as all workers can execute.
    pub fn flood(size: Size, steady: usize) -> Self {
        let flood = Tenant {
            name: "flood".to_owned(),
            kind: 1,
            share: TenantShare::new(1),
            runs: steady * 13 / 4,
            rate: size.capacity() * 2.0,
        };
        let tenants = vec![Tenant::steady(size, steady), flood];
        Self::new("flood", size, vec!["steady", "flood"], tenants)
    }

    /// Returns three tenants with different weights that all want more than they get.
    pub fn weights(size: Size) -> Self {
        let weighted = |(kind, weight): (usize, u32)| Tenant {
            name: format!("weight-{weight}"),
            kind,
            share: TenantShare::new(weight),
            runs: size.runs * weight as usize / 7,
            rate: size.capacity() * 2.0 * f64::from(weight) / 7.0,
        };
        let tenants = [1, 2, 4].into_iter().enumerate().map(weighted).collect();
        Self::new("weights", size, vec!["weight 1", "weight 2", "weight 4"], tenants)
    }

    /// Returns many small tenants that need three fifths of the workers together: some workers are always gone or stopped.
    pub fn many(size: Size) -> Self {
        let count = (size.runs / 50).clamp(1, 200);
        let small = |number: usize| Tenant {
            name: format!("small-{number}"),
            kind: 0,
            share: TenantShare::default(),
            runs: size.runs / count,
            rate: size.capacity() * 0.6 / count as f64,
        };
        Self::new("many", size, vec!["small"], (0..count).map(small).collect())
    }

    fn new(name: &'static str, size: Size, kinds: Vec<&'static str>, tenants: Vec<Tenant>) -> Self {
        let runs = tenants.iter().map(|tenant| tenant.runs).sum();
        Self {
            name,
            size: Size { runs, ..size },
            kinds,
            tenants,
            faults: Faults::default(),
        }
    }
}

impl Tenant {
    fn steady(size: Size, runs: usize) -> Self {
        Self {
            name: "steady".to_owned(),
            kind: 0,
            share: TenantShare::new(1),
            runs,
            rate: size.capacity() * STEADY,
        }
    }
}

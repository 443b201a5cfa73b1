//! Scenarios that take seconds, with many failures.

use std::sync::Arc;

use agcore_benches_leases::{
    Outcome,
    scenario::{Faults, Scenario, Size},
    simulate,
    subject::{Kind, Subject},
};
use agcore_testkit::clock::ManualClock;

pub(crate) const SIZE: Size = Size {
    workers: 12,
    slots: 3,
    runs: 500,
    seed: 7,
};

/// Failures that happen often enough to be part of a short simulation.
const FAULTS: Faults = Faults {
    kill_after: 60.0,
    restarts: 0.9,
    stop_after: 40.0,
    lost: 0.02,
    poison: 0.01,
    slow: 0.2,
    wrong_calendar: 0.2,
};

/// Many small tenants.
pub(crate) fn many(seed: u64) -> Scenario {
    let mut scenario = Scenario::many(Size { seed, ..SIZE });
    scenario.faults = FAULTS;
    scenario
}

/// Simulates a scenario with a store that may have been changed.
pub(crate) async fn run(scenario: Scenario, kind: Kind, change: impl FnOnce(Subject) -> Subject) -> Outcome {
    let clock = Arc::new(ManualClock::new());
    let subject = Subject::open(kind, Arc::clone(&clock) as _).await.unwrap();
    let (figures, violations) = simulate(&scenario, &change(subject), &clock).await.unwrap();
    Outcome {
        scenario,
        figures,
        violations,
    }
}

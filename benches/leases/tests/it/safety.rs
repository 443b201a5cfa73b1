//! Stores that are right.

use std::time::Duration;

use agcore_benches_leases::{
    requirements,
    scenario::{Scenario, Size},
    subject::Kind,
};

use crate::small::{SIZE, many, run};

const SEEDS: u64 = 4;

async fn no_answer_is_wrong(kind: Kind) {
    for seed in 1..=SEEDS {
        let outcome = run(many(seed), kind, |subject| subject).await;
        assert_eq!(outcome.violations.first, Vec::<String>::new());
        let figures = outcome.figures;
        assert_eq!(figures.ended + figures.dead, outcome.scenario.size.runs as u64);
        // The failures have happened.
        for count in [
            figures.fenced,
            figures.repeated_claims,
            figures.poisoned,
            figures.dead,
            figures.left_in_time,
        ] {
            assert!(count > 0, "{figures:?}");
        }
        assert!(!figures.takeovers.is_empty());
    }
}

#[tokio::test]
async fn no_answer_of_sqlite_is_wrong() {
    no_answer_is_wrong(Kind::Sqlite).await;
}

#[tokio::test]
async fn no_answer_of_the_store_in_memory_is_wrong() {
    no_answer_is_wrong(Kind::InMemory).await;
}

#[tokio::test]
async fn a_store_gives_the_same_answers_for_a_seed() {
    for kind in [Kind::Sqlite, Kind::InMemory] {
        let mut all = Vec::new();
        for _ in 0..2 {
            let mut figures = run(many(4), kind, |subject| subject).await.figures;
            figures.cpu = Duration::ZERO;
            all.push(format!("{figures:?}"));
        }
        assert_eq!(all[0], all[1]);
    }
}

#[tokio::test]
async fn all_requirements_are_met() {
    let size = Size {
        workers: 14,
        slots: 5,
        runs: 3_000,
        ..SIZE
    };
    let mut outcomes = Vec::new();
    for scenario in Scenario::all(size) {
        outcomes.push(run(scenario, Kind::InMemory, |subject| subject).await);
    }
    for requirement in requirements(&outcomes) {
        println!("{requirement}");
        assert!(requirement.is_met(), "{requirement}");
    }
}

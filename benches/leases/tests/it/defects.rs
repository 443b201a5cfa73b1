//! Each defect is found.

use agcore_benches_leases::{
    requirements,
    scenario::{Scenario, Size},
    subject::{Kind, Subject},
};

use crate::{
    defective::{Defect, unfenced, with},
    small::{SIZE, many, run},
};

/// Simulates with a defect, until there is a violation that is described like this.
async fn is_found(change: impl Fn(Subject) -> Subject, expected: &str) {
    for seed in 5..15 {
        let violations = run(many(seed), Kind::InMemory, &change).await.violations;
        if let Some(found) = violations.first.iter().find(|violation| violation.contains(expected)) {
            println!("one of {}: {found}", violations.count);
            return;
        }
    }
    panic!("the defect was not found");
}

#[tokio::test]
async fn finds_a_store_that_ignores_the_fence() {
    is_found(unfenced, "with the lost epoch").await;
}

#[tokio::test]
async fn finds_a_store_that_forgets_the_end_of_leases() {
    is_found(with(Defect::ForgetsTheEndOfLeases), "but left").await;
}

#[tokio::test]
async fn finds_a_store_that_gives_runs_away() {
    is_found(with(Defect::GivesRunsAway), "which is over or held by").await;
}

#[tokio::test]
async fn finds_a_store_that_renews_what_is_lost() {
    is_found(with(Defect::RenewsWhatIsLost), "was renewed as Held").await;
}

#[tokio::test]
async fn finds_a_store_that_counts_no_attempts() {
    is_found(with(Defect::CountsNoAttempts), "was claimed 6 times").await;
}

#[tokio::test]
async fn finds_a_store_that_prefers_a_flood() {
    let size = Size { workers: 8, ..SIZE };
    let alone = run(Scenario::alone(size, 200), Kind::InMemory, |subject| subject).await;
    let flood = run(
        Scenario::flood(size, 200),
        Kind::InMemory,
        with(Defect::PrefersTheFlood),
    )
    .await;
    let all = requirements(&[alone, flood]);
    let wait = all.iter().find(|requirement| requirement.unit == " × alone").unwrap();
    assert!(!wait.is_met(), "{wait}");
}

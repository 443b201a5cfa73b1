//! Which run is claimed next.

use std::time::Duration;

use agcore_session::{Commit, Release, ReleaseReason, RunChange, RunStatus};

use super::opened::{LENGTH, open, queued, request, runs};
use crate::stores::RunLeasesSubject;

/// Checks that a queued run is claimed once, with everything that its worker has to know, and that claiming does not change its
/// status.
pub async fn claims_what_waits(subject: &dyn RunLeasesSubject) {
    let opened = open(subject).await;
    opened.claim_none("early bird").await;
    opened.queue("acme", queued("r")).await;
    let lease = opened.claim_one("h").await;
    assert_eq!((&*lease.tenant, &*lease.session, &*lease.run), ("acme", "r", "r"));
    assert_eq!((lease.status, lease.epoch, lease.attempt), (RunStatus::Queued, 1, 1));
    assert_eq!((lease.length, lease.cancel_requested), (LENGTH, false));
    assert!(lease.remaining <= LENGTH && lease.remaining > LENGTH / 2, "{lease:?}");
    opened.claim_none("other").await;

    let run = opened.run(&lease).await;
    assert_eq!(run.status, RunStatus::Queued);
    assert_eq!((run.lease.epoch, run.lease.attempts), (1, 1));
    assert_eq!(run.lease.holder.as_deref(), Some("h"));
    assert_eq!(run.lease.worker.as_deref(), Some("worker of h"));
    assert!(run.lease.lease_until.is_some());

    // It is over, or waits for a person.
    opened.set_status(&lease, RunStatus::Running).await;
    opened.set_status(&lease, RunStatus::Interrupted).await;
    opened.expire().await;
    opened.claim_none("late").await;
}

/// Checks that a worker that asks again with the same id, because the answer was lost, gets what it has got already, and no other
/// run.
pub async fn the_same_holder_gets_the_same_leases(subject: &dyn RunLeasesSubject) {
    let opened = open(subject).await;
    for run in ["a", "b", "c"] {
        opened.queue("acme", queued(run)).await;
    }
    let first = opened.claim(request("h").with_limit(2)).await;
    let again = opened.other.claim(&request("h").with_limit(2)).await.unwrap();
    assert_eq!(runs(&first.leases), ["a", "b"]);
    assert_eq!(runs(&again.leases), ["a", "b"]);
    assert!(again.leases.iter().all(|lease| (lease.epoch, lease.attempt) == (1, 1)));
    assert_eq!(opened.claim_one("other").await.run, "c");
}

/// Checks that a run whose time has not come is not claimed.
pub async fn a_run_waits_for_its_time(subject: &dyn RunLeasesSubject) {
    let opened = open(subject).await;
    // The time of the database is known from a run that waits already.
    opened.queue("acme", queued("now")).await;
    let lease = opened.claim_one("h").await;
    let now = opened.run(&lease).await.lease.queued_at;
    opened.set_status(&lease, RunStatus::Cancelled).await;
    let later = queued("later").with_not_before(now.after(Duration::from_secs(3600)));
    opened.queue("acme", later).await;
    opened.claim_none("early").await;
    opened.pass(3600).await;
    assert_eq!(opened.claim_one("late").await.run, "later");
}

/// Checks that of two runs that have waited about as long, the one with the smaller number of the priority comes first.
pub async fn urgent_runs_come_first(subject: &dyn RunLeasesSubject) {
    let opened = open(subject).await;
    for (run, priority) in [("usual", 0), ("rare", 7), ("urgent", -7)] {
        opened.queue("acme", queued(run).with_priority(priority)).await;
    }
    let claims = opened.claim(request("h").with_limit(3)).await;
    assert_eq!(runs(&claims.leases), ["urgent", "usual", "rare"]);
    let lease = opened.run(&claims.leases[0]).await.lease;
    assert_eq!(lease.priority, -7);
}

/// Checks that a run with a low priority that has waited long enough comes before one with a higher priority that is new.
pub async fn low_priorities_do_not_starve(subject: &dyn RunLeasesSubject) {
    let opened = open(subject).await;
    opened.queue("acme", queued("patient").with_priority(3)).await;
    opened.pass(20).await;
    opened.queue("acme", queued("early")).await;
    opened.pass(20).await;
    opened.queue("acme", queued("late")).await;
    // Three steps are worth thirty seconds of waiting.
    let claims = opened.claim(request("h").with_limit(3)).await;
    assert_eq!(runs(&claims.leases), ["early", "patient", "late"]);
}

/// Checks that two runs of a session are never held at once: the oldest that has started, else the oldest that may start, has its
/// turn until it is over.
pub async fn one_run_of_a_session_at_a_time(subject: &dyn RunLeasesSubject) {
    let opened = open(subject).await;
    let session = ("acme", "s");
    opened.queue_in(session, queued("first")).await;
    opened.queue_in(session, queued("second").with_priority(-9)).await;
    let claims = opened.claim(request("a").with_limit(5)).await;
    assert_eq!(runs(&claims.leases), ["first"]);
    opened.claim_none("b").await;
    // Also when it has expired, or was released: it has started.
    opened.set_status(&claims.leases[0], RunStatus::Running).await;
    opened.expire().await;
    let first = opened.claim(request("c").with_limit(5)).await;
    assert_eq!(runs(&first.leases), ["first"]);
    let release = Release::new(ReleaseReason::GivenBack).with_delay(Duration::from_secs(60));
    assert!(opened.store.release(&first.leases[0], release).await.unwrap());
    opened.claim_none("d").await;
    opened.pass(61).await;
    let first = opened.claim_one("e").await;
    assert_eq!(first.run, "first");
    opened.set_status(&first, RunStatus::Completed).await;
    assert_eq!(opened.claim_one("f").await.run, "second");
}

/// Checks that no worker takes a run that a program drives without a lease, nor another run of its session meanwhile.
pub async fn runs_without_leases_are_left_alone(subject: &dyn RunLeasesSubject) {
    let opened = open(subject).await;
    let session = ("acme", "s");
    opened
        .queue_in(session, RunChange::new("driven", RunStatus::Running))
        .await;
    opened.queue_in(session, queued("next")).await;
    opened.pass(100_000).await;
    opened.claim_none("a").await;
    let end = Commit::new().with_run(RunChange::new("driven", RunStatus::Completed));
    opened.commit(session, end).await.unwrap();
    assert_eq!(opened.claim_one("b").await.run, "next");
}

/// Checks that a worker for some tenants gets no runs of others.
pub async fn selects_tenants(subject: &dyn RunLeasesSubject) {
    let opened = open(subject).await;
    for tenant in ["a", "b", "c", "d"] {
        opened.queue(tenant, queued(tenant)).await;
    }
    let claims = opened
        .claim(request("h").with_tenant("d").with_tenant("b").with_limit(9))
        .await;
    assert_eq!(runs(&claims.leases), ["b", "d"]);
    opened.expire().await;
    let claims = opened
        .claim(request("i").with_tenant("d").with_tenant("x").with_limit(9))
        .await;
    assert_eq!(runs(&claims.leases), ["d"]);
}

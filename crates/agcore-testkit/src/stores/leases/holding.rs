//! Holding a lease, losing it, and giving it back.

use std::time::Duration;

use agcore_session::{
    CancelRequest, ClaimRequest, Commit, Release, ReleaseReason, Renewal, RunChange, RunStatus, SessionErrorKind,
    TenantShare, Timestamp,
};

use super::opened::{LENGTH, open, queued, refused, request};
use crate::stores::RunLeasesSubject;

/// Checks that a renewed lease holds on, and that each of several renewals has its own answer.
pub async fn renewing_keeps_a_lease(subject: &dyn RunLeasesSubject) {
    let opened = open(subject).await;
    assert_eq!(opened.store.renew(&[]).await.unwrap(), []);
    for run in ["a", "b"] {
        opened.queue("acme", queued(run)).await;
    }
    let leases = [opened.claim_one("a").await, opened.claim_one("b").await];
    for _ in 0..3 {
        opened.pass(LENGTH.as_secs() - 60).await;
        let renewed = opened.other.renew(&leases).await.unwrap();
        let is_held = |renewal: &Renewal| match renewal {
            Renewal::Held {
                remaining,
                cancel_requested: false,
            } => *remaining > LENGTH / 2 && *remaining <= LENGTH,
            _ => false,
        };
        assert!(renewed.len() == 2 && renewed.iter().all(is_held), "{renewed:?}");
    }
    opened.claim_none("c").await;
    let mut unknown = leases[0].clone();
    unknown.run = "unknown".to_owned();
    let mut stale = leases[0].clone();
    stale.epoch -= 1;
    let all = [unknown, leases[1].clone(), stale];
    let renewed = opened.store.renew(&all).await.unwrap();
    assert!(
        matches!(renewed[..], [Renewal::Lost, Renewal::Held { .. }, Renewal::Lost]),
        "{renewed:?}"
    );
}

/// Checks that an expired lease cannot be renewed, that another worker takes the run over with a greater epoch, and that the first
/// one can then do nothing to it.
pub async fn an_expired_lease_is_taken_over(subject: &dyn RunLeasesSubject) {
    let opened = open(subject).await;
    opened.queue("acme", queued("r")).await;
    let lost = opened.claim_one("a").await;
    opened.set_status(&lost, RunStatus::Running).await;
    opened.expire().await;
    assert_eq!(opened.renew(&lost).await, Renewal::Lost);
    assert_eq!(
        refused(opened.write(&lost, Commit::new()).await),
        SessionErrorKind::Fenced
    );
    let taken = opened.claim_one("b").await;
    assert_eq!((&*taken.run, taken.status), ("r", RunStatus::Running));
    assert_eq!((taken.epoch, taken.attempt), (2, 2));
    assert_eq!(opened.renew(&lost).await, Renewal::Lost);
    let release = Release::new(ReleaseReason::GivenBack);
    assert!(!opened.store.release(&lost, release).await.unwrap(), "it has no lease");
    opened.claim_none("c").await;
    opened.write(&taken, Commit::new()).await.unwrap();
}

/// Checks that no lease gets an epoch that there was before, whatever happens to the run.
pub async fn epochs_only_grow(subject: &dyn RunLeasesSubject) {
    let opened = open(subject).await;
    opened.queue("acme", queued("r")).await;
    for epoch in 1..=4 {
        let lease = opened.claim_one(&format!("h{epoch}")).await;
        assert_eq!(lease.epoch, epoch);
        match epoch {
            1 => assert!(
                opened
                    .store
                    .release(&lease, Release::new(ReleaseReason::GivenBack))
                    .await
                    .unwrap()
            ),
            2 => assert!(
                opened
                    .store
                    .release(&lease, Release::new(ReleaseReason::Failed))
                    .await
                    .unwrap()
            ),
            _ => opened.expire().await,
        }
    }
    let claims = opened.claim(request("dead").with_max_attempts(1)).await;
    assert_eq!((claims.leases.len(), claims.dead.len()), (0, 1));
    opened.store.revive("acme", "r", "r").await.unwrap();
    assert_eq!(opened.claim_one("last").await.epoch, 5);
}

/// Checks that a run that was released can be claimed at once, or after the delay, and that its worker can write nothing more.
pub async fn a_released_run_is_free_at_once(subject: &dyn RunLeasesSubject) {
    let opened = open(subject).await;
    opened.queue("acme", queued("r")).await;
    let lease = opened.claim_one("a").await;
    opened.set_status(&lease, RunStatus::Running).await;
    let now = Release::new(ReleaseReason::GivenBack);
    assert!(opened.store.release(&lease, now).await.unwrap());
    assert!(
        !opened.store.release(&lease, now).await.unwrap(),
        "it was released already"
    );
    assert_eq!(
        refused(opened.write(&lease, Commit::new()).await),
        SessionErrorKind::Fenced
    );
    assert_eq!(opened.renew(&lease).await, Renewal::Lost);

    let lease = opened.claim_one("b").await;
    assert_eq!((lease.status, lease.attempt), (RunStatus::Running, 1));
    let later = Release::new(ReleaseReason::Failed).with_delay(Duration::from_secs(30));
    assert!(opened.store.release(&lease, later).await.unwrap());
    opened.claim_none("c").await;
    opened.pass(31).await;
    let lease = opened.claim_one("d").await;
    assert_eq!((lease.epoch, lease.attempt), (3, 2));
}

/// Checks that a run that waits for a person has no worker any more, so that its answer can be stored while another run of its
/// session has one.
pub async fn an_interrupted_run_has_no_worker(subject: &dyn RunLeasesSubject) {
    let opened = open(subject).await;
    let session = ("acme", "s");
    opened.queue_in(session, queued("asks")).await;
    let asking = opened.claim_one("a").await;
    opened.queue_in(session, queued("waits")).await;
    for status in [RunStatus::Running, RunStatus::Interrupted] {
        opened.set_status(&asking, status).await;
    }
    assert_eq!(opened.renew(&asking).await, Renewal::Lost);
    let state = opened.run(&asking).await.lease;
    assert_eq!((state.holder, state.lease_until, state.epoch), (None, None, 1));
    assert_eq!(state.worker.as_deref(), Some("worker of a"), "for people");

    // The answer ends the run that has asked.
    let waiting = opened.claim_one("b").await;
    assert_eq!(waiting.run, "waits");
    let mut answer = Commit::new().with_run(queued("answers"));
    for status in [RunStatus::Running, RunStatus::Completed] {
        answer = answer.with_run(RunChange::new("asks", status));
    }
    opened.commit(session, answer).await.unwrap();
    opened.write(&waiting, Commit::new()).await.unwrap();
}

/// Checks that the delays of released runs can be ended early, and that those of new runs stay.
pub async fn delays_end_early(subject: &dyn RunLeasesSubject) {
    let opened = open(subject).await;
    let later = Release::new(ReleaseReason::GivenBack).with_delay(Duration::from_secs(3600));
    opened.queue_in(("acme", "s"), queued("waits")).await;
    let lease = opened.claim_one("a").await;
    opened.store.release(&lease, later).await.unwrap();
    let planned = queued("planned").with_not_before(Timestamp::from_millis(200_000_000_000_000));
    opened.queue_in(("acme", "s"), planned).await;
    opened.queue_in(("acme", "other"), queued("other")).await;
    let other = opened.claim_one("b").await;
    opened.store.release(&other, later).await.unwrap();
    opened.claim_none("c").await;
    assert_eq!(opened.other.end_delays("acme", "missing").await.unwrap(), 0);
    assert_eq!(opened.other.end_delays("acme", "s").await.unwrap(), 1);
    assert_eq!(opened.claim_one("d").await.run, "waits");
    opened.claim_none("e").await;
    // A run that a worker has is left alone.
    assert_eq!(opened.other.end_delays("acme", "s").await.unwrap(), 0);
}

/// Checks that a request to cancel reaches the worker when it asks, with its next renewal, or with the lease of the next one.
pub async fn a_cancel_request_reaches_the_holder(subject: &dyn RunLeasesSubject) {
    let opened = open(subject).await;
    let cancel = async |run: &str| opened.other.request_cancel("acme", run, run).await;
    assert_eq!(refused(cancel("missing").await), SessionErrorKind::NotFound);
    opened.queue("acme", queued("free")).await;
    assert_eq!(cancel("free").await.unwrap(), CancelRequest::Free);
    let free = opened.claim_one("a").await;
    assert!(free.cancel_requested);
    opened.queue("acme", queued("held")).await;
    let held = opened.claim_one("b").await;
    assert!(!held.cancel_requested);
    for _ in 0..2 {
        assert_eq!(cancel("held").await.unwrap(), CancelRequest::Held);
    }
    opened.queue("acme", queued("wanted")).await;
    let wanted = opened.claim_one("c").await;
    let mut late = held.clone();
    late.epoch += 1;
    let listed = opened.store.cancel_requests(&[wanted, held.clone(), late]).await;
    assert_eq!(listed.unwrap(), [false, true, false]);
    assert!(opened.store.cancel_requests(&[]).await.unwrap().is_empty());
    let renewed = opened.renew(&held).await;
    assert!(
        matches!(
            renewed,
            Renewal::Held {
                cancel_requested: true,
                ..
            }
        ),
        "{renewed:?}"
    );
    opened.set_status(&held, RunStatus::Cancelled).await;
    assert_eq!(cancel("held").await.unwrap(), CancelRequest::Over);
    let wrong_tenant = opened.store.request_cancel("evil", "free", "free").await;
    assert_eq!(refused(wrong_tenant), SessionErrorKind::NotFound);
}

/// Checks that requests that no store can answer are refused.
pub async fn unacceptable_requests_are_refused(subject: &dyn RunLeasesSubject) {
    let opened = open(subject).await;
    for bad in [
        ClaimRequest::new("", "w"),
        ClaimRequest::new("h", ""),
        ClaimRequest::new("h", "w").with_length(Duration::ZERO),
        ClaimRequest::new("h", "w").with_length(Duration::MAX),
        ClaimRequest::new("h", "w").with_limit(0),
        ClaimRequest::new("h", "w").with_max_attempts(0),
    ] {
        assert_eq!(
            refused(opened.store.claim(&bad).await),
            SessionErrorKind::InvalidInput,
            "{bad:?}"
        );
    }
    let share = opened.store.set_share("acme", TenantShare::new(0)).await;
    assert_eq!(refused(share), SessionErrorKind::InvalidInput);
    let unnamed = opened.store.set_share("", TenantShare::new(1)).await;
    assert_eq!(refused(unnamed), SessionErrorKind::InvalidInput);
    let revived = opened.store.revive("acme", "missing", "missing").await;
    assert_eq!(refused(revived), SessionErrorKind::NotFound);
}

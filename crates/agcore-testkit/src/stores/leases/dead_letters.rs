//! Runs that are claimed too often.

use agcore_session::{
    Commit, Release, ReleaseReason, RunFilter, RunKey, RunStatus, SessionErrorKind, SessionState, SessionStatus,
};

use super::opened::{open, queued, refused, request, runs};
use crate::stores::RunLeasesSubject;

/// Checks that a run that was claimed as often as allowed fails and is listed, together with its session, and that other runs have
/// its place.
pub async fn a_run_that_ends_its_workers_fails(subject: &dyn RunLeasesSubject) {
    let opened = open(subject).await;
    for (tenant, run) in [("acme", "bad"), ("acme", "good"), ("other", "worse")] {
        opened.queue(tenant, queued(run)).await;
    }
    for attempt in 1..=2 {
        let asked = request(&format!("h{attempt}")).with_limit(3).with_max_attempts(2);
        let claims = opened.claim(asked).await;
        assert_eq!((claims.leases.len(), claims.dead.len()), (3, 0));
        for lease in &claims.leases {
            if lease.run == "good" {
                assert!(
                    opened
                        .store
                        .release(lease, Release::new(ReleaseReason::GivenBack))
                        .await
                        .unwrap()
                );
                continue;
            }
            assert_eq!(lease.attempt, attempt);
            let first = Commit::new().with_state(SessionState::running());
            opened.write(lease, first).await.unwrap();
            opened.set_status(lease, RunStatus::Running).await;
        }
        opened.expire().await;
    }
    let claims = opened.claim(request("last").with_limit(1).with_max_attempts(2)).await;
    assert_eq!(runs(&claims.leases), ["good"], "it has the place of those that failed");
    let mut dead: Vec<_> = claims
        .dead
        .iter()
        .map(|letter| (&*letter.run, letter.attempts))
        .collect();
    dead.sort_unstable();
    assert_eq!(dead, [("bad", 2), ("worse", 2)]);

    let listed = opened.other.dead_letters(Some("acme"), 10).await.unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!(
        (&*listed[0].tenant, &*listed[0].session, &*listed[0].run),
        ("acme", "bad", "bad")
    );
    assert!(listed[0].worker.is_some() && listed[0].reason().contains("2 workers"));
    assert_eq!(opened.store.dead_letters(None, 10).await.unwrap().len(), 2);
    assert_eq!(opened.store.dead_letters(None, 1).await.unwrap().len(), 1);
    assert_eq!(opened.session(("acme", "bad")).await.status, SessionStatus::Failed);
    let found = opened.store.runs("acme", "bad", &RunFilter::new()).await.unwrap();
    assert_eq!(found[0].status, RunStatus::Failed);
    let keys = [RunKey::new("acme", "bad", "bad"), RunKey::new("acme", "good", "good")];
    let progress = opened.store.progress(&keys).await.unwrap();
    assert!(
        progress[0].is_some_and(|bad| bad.is_dead && bad.status == RunStatus::Failed),
        "{progress:?}"
    );
    assert!(progress[1].is_some_and(|good| !good.is_dead), "{progress:?}");
}

/// Checks that a claim that was released does not count, and one whose attempt has failed does.
pub async fn attempts_that_were_given_back_do_not_count(subject: &dyn RunLeasesSubject) {
    let opened = open(subject).await;
    opened.queue("acme", queued("r")).await;
    for number in 0..4 {
        let claims = opened.claim(request(&format!("h{number}")).with_max_attempts(1)).await;
        assert_eq!(runs(&claims.leases), ["r"], "after {number} releases");
        let release = Release::new(ReleaseReason::GivenBack);
        assert!(opened.store.release(&claims.leases[0], release).await.unwrap());
    }
    let lease = opened.claim_one("fails").await;
    assert!(
        opened
            .store
            .release(&lease, Release::new(ReleaseReason::Failed))
            .await
            .unwrap()
    );
    let claims = opened.claim(request("last").with_max_attempts(1)).await;
    assert_eq!((claims.leases.len(), claims.dead.len()), (0, 1));
}

/// Checks that a dead letter can be started again, with all its attempts, and that other runs that are over cannot.
pub async fn a_dead_letter_starts_again(subject: &dyn RunLeasesSubject) {
    let opened = open(subject).await;
    opened.queue("acme", queued("r")).await;
    let lost = opened.claim_one("a").await;
    opened.expire().await;
    let claims = opened.claim(request("b").with_max_attempts(1)).await;
    assert_eq!(claims.dead.len(), 1);
    opened.claim_none("c").await;
    opened.other.revive("acme", "r", "r").await.unwrap();
    assert_eq!(opened.store.dead_letters(None, 10).await.unwrap(), []);
    assert_eq!(
        refused(opened.write(&lost, Commit::new()).await),
        SessionErrorKind::Fenced
    );
    let lease = opened.claim_one("d").await;
    assert_eq!((lease.status, lease.attempt, lease.epoch), (RunStatus::Queued, 1, 2));
    assert_eq!(
        refused(opened.store.revive("acme", "r", "r").await),
        SessionErrorKind::InvalidState
    );
    opened.set_status(&lease, RunStatus::Running).await;
    opened.set_status(&lease, RunStatus::Failed).await;
    assert_eq!(
        refused(opened.store.revive("acme", "r", "r").await),
        SessionErrorKind::InvalidState
    );
}

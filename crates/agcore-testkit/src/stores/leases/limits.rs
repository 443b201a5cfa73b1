//! Limits of runs, and taking over all of them.

use std::sync::Arc;

use agcore_session::{
    Actor, CheckpointStore, Commit, Fenced, NewCheckpoint, NewEvent, NewSession, Record, RunChange, RunKey, RunLimits,
    RunScope, RunStatus, SessionErrorKind, SessionEvents, SessionWriter, Timestamp,
};
use futures_util::future::join_all;
use serde_json::json;

use super::opened::{open, queued, refused, request, runs};
use crate::stores::RunLeasesSubject;

/// Checks that runs that begin are counted, each for its user, its tenant and all, until they are over or wait for a person.
pub async fn limits_of_runs_are_kept(subject: &dyn RunLeasesSubject) {
    let opened = open(subject).await;
    let begin = async |(tenant, user): (&str, &str), run: &str, limits: RunLimits| {
        let new = NewSession::new(run).with_owner(Actor::new(tenant, user));
        opened.store.create(new).await.unwrap();
        let commit = Commit::new().with_run(queued(run)).with_limits(limits);
        opened.other.commit(tenant, run, 0, commit).await
    };
    let limits = RunLimits::new(4).with_tenant(3).with_user(2);
    for (owner, run) in [
        (("acme", "ann"), "a1"),
        (("acme", "ann"), "a2"),
        (("acme", "bob"), "b1"),
    ] {
        begin(owner, run, limits).await.unwrap();
    }
    let of = |scope| SessionErrorKind::TooManyRuns(scope);
    assert_eq!(refused(begin(("acme", "ann"), "a3", limits).await), of(RunScope::User));
    assert_eq!(refused(begin(("acme", "cy"), "c1", limits).await), of(RunScope::Tenant));
    let stored = opened.store.runs("acme", "c1", &Default::default()).await.unwrap();
    assert_eq!(stored, [], "a refused run was stored");
    // Another user with the same name, in another tenant.
    begin(("evil", "ann"), "e1", limits).await.unwrap();
    assert_eq!(refused(begin(("evil", "ann"), "e2", limits).await), of(RunScope::Total));
    // Runs that a worker has count, those that are over or wait for a person do not, nor do those without a lease.
    let lease = opened.claim_one("w").await;
    assert_eq!(refused(begin(("evil", "ann"), "e3", limits).await), of(RunScope::Total));
    opened.set_status(&lease, RunStatus::Running).await;
    assert_eq!(refused(begin(("evil", "ann"), "e4", limits).await), of(RunScope::Total));
    opened.set_status(&lease, RunStatus::Interrupted).await;
    let driven = Commit::new().with_run(RunChange::new("driven", RunStatus::Running));
    opened.commit(("evil", "e4"), driven).await.unwrap();
    begin(("evil", "ann"), "e5", limits).await.unwrap();
    assert_eq!(refused(begin(("evil", "bob"), "e6", limits).await), of(RunScope::Total));
}

/// Checks that runs that begin at the same time do not exceed a limit together.
pub async fn runs_that_begin_together_respect_the_limits(subject: &dyn RunLeasesSubject) {
    let opened = open(subject).await;
    let limits = RunLimits::new(5);
    let begin = async |number: usize| {
        let (id, store) = (format!("s{number}"), [&opened.store, &opened.other][number % 2]);
        let new = NewSession::new(&*id).with_owner(Actor::new("acme", "ann"));
        store.create(new).await.unwrap();
        let commit = Commit::new().with_run(queued("r")).with_limits(limits);
        store.commit("acme", &id, 0, commit).await
    };
    let results = join_all((0..20).map(begin)).await;
    let allowed = results.iter().filter(|result| result.is_ok()).count();
    assert_eq!(allowed, 5, "{results:?}");
    for error in results.into_iter().filter_map(Result::err) {
        assert_eq!(error.kind(), SessionErrorKind::TooManyRuns(RunScope::User));
    }
}

/// Checks that a process that has the database for itself takes over the runs of workers that are gone, and can cancel them.
pub async fn all_runs_are_taken_over_at_once(subject: &dyn RunLeasesSubject) {
    let opened = open(subject).await;
    for run in ["a", "b", "over", "waiting"] {
        opened.queue("acme", queued(run)).await;
    }
    let leases = opened.claim(request("w").with_limit(3)).await.leases;
    assert_eq!(runs(&leases), ["a", "b", "over"]);
    opened.set_status(&leases[0], RunStatus::Running).await;
    opened.set_status(&leases[2], RunStatus::Cancelled).await;
    assert_eq!(opened.other.take_over(false).await.unwrap(), 3);
    let late = opened.write(&leases[0], Commit::new().with_title("late")).await;
    assert_eq!(refused(late), SessionErrorKind::Fenced);
    let claims = opened.claim(request("next").with_limit(9)).await;
    assert_eq!(runs(&claims.leases), ["a", "b", "waiting"]);
    assert!(claims.leases.iter().all(|lease| !lease.cancel_requested));
    // What has ended its worker before counts, so that it does not do so for ever.
    assert_eq!(claims.leases[0].attempt, 2);
    assert_eq!(opened.store.take_over(true).await.unwrap(), 3);
    let claims = opened.claim(request("last").with_limit(9)).await;
    assert!(claims.leases.len() == 3 && claims.leases.iter().all(|lease| lease.cancel_requested));
}

/// Checks that a [fenced](Fenced) store writes while the lease holds, and nothing after that.
pub async fn a_fenced_store_writes_under_its_lease(subject: &dyn RunLeasesSubject) {
    let opened = open(subject).await;
    opened.queue("acme", queued("r")).await;
    let lease = opened.claim_one("w").await;
    let fenced = Fenced::new(Arc::clone(&opened.store), lease.fence());
    let record = || Record::new("test", 1, Timestamp::default(), json!({}));
    let event = || SessionEvents::new(("acme", "r"), 1, vec![NewEvent::new("r", "text", json!({}))]);
    let run = RunKey::new("acme", "r", "r");
    let committed = fenced.commit("acme", "r", 0, Commit::new().with_record(record())).await;
    assert_eq!(committed.unwrap().end, 1);
    assert!(fenced.commit_events(vec![event()]).await.remove(0).is_ok());
    let checkpoints: &dyn CheckpointStore = &fenced;
    checkpoints
        .save_checkpoint(run, 0, NewCheckpoint::snapshot("step", json!({})))
        .await
        .unwrap();
    let kept = fenced.hold("name").await.unwrap();
    assert_eq!(refused(fenced.hold("name").await), SessionErrorKind::Held);
    assert_eq!(refused(opened.other.hold("name").await), SessionErrorKind::Held);
    opened.expire().await;
    // The worker that has lost its lease, and may be stopped, does not keep the next one away.
    let next = Fenced::new(Arc::clone(&opened.other), opened.claim_one("next").await.fence());
    drop(next.hold("name").await.unwrap());
    drop(kept);
    let fenced_out = SessionErrorKind::Fenced;
    let late = fenced.commit("acme", "r", 1, Commit::new().with_record(record())).await;
    assert_eq!(refused(late), fenced_out);
    assert_eq!(refused(fenced.commit_events(vec![event()]).await.remove(0)), fenced_out);
    let late = checkpoints
        .save_checkpoint(run, 1, NewCheckpoint::snapshot("late", json!({})))
        .await;
    assert_eq!(refused(late), fenced_out);
    assert_eq!(refused(checkpoints.trim_checkpoints(run, 1).await), fenced_out);
}

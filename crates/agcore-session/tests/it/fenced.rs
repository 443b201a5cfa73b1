//! Stores for the worker that has a run.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use agcore_chat::SystemClock;
use agcore_session::{
    ClaimRequest, Commit, Fenced, InMemorySessionStore, NewSession, Record, RunChange, RunLeases, RunStatus,
    SessionErrorKind, SessionWriter, Timestamp,
};
use serde_json::json;

#[tokio::test]
async fn a_write_whose_answer_comes_after_the_lease_fails() {
    let store = Arc::new(InMemorySessionStore::new(Arc::new(SystemClock::new())));
    store.create(NewSession::new("tea")).await.unwrap();
    let queued = Commit::new().with_run(RunChange::new("r1", RunStatus::Queued));
    store.commit("local", "tea", 0, queued).await.unwrap();
    let request = ClaimRequest::new("a random id", "worker 1");
    let lease = store.claim(&request).await.unwrap().leases.remove(0);
    // The number of checks before the lease has ended.
    let left = Arc::new(AtomicUsize::new(usize::MAX));
    let checks = Arc::clone(&left);
    let is_over = move || {
        let left = checks.load(Ordering::SeqCst);
        checks.store(left.saturating_sub(1), Ordering::SeqCst);
        left == 0
    };
    let fenced = Fenced::new(Arc::clone(&store), lease.fence()).with_deadline(is_over);
    let step = || Commit::new().with_record(Record::new("step", 1, Timestamp::default(), json!({})));
    assert_eq!(fenced.commit("local", "tea", 0, step()).await.unwrap().end, 1);
    left.store(1, Ordering::SeqCst);
    let late = fenced.commit("local", "tea", 1, step()).await.unwrap_err();
    assert_eq!(late.kind(), SessionErrorKind::Fenced);
    // It took place, so that the next one comes after it.
    left.store(2, Ordering::SeqCst);
    assert_eq!(fenced.commit("local", "tea", 2, step()).await.unwrap().end, 3);
    // One that begins after the end does not take place.
    let refused = fenced.commit("local", "tea", 3, step()).await.unwrap_err();
    assert_eq!(refused.kind(), SessionErrorKind::Fenced);
    left.store(2, Ordering::SeqCst);
    assert_eq!(fenced.commit("local", "tea", 3, step()).await.unwrap().end, 4);
}

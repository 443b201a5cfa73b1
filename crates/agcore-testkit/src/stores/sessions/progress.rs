//! The progress of runs.

use agcore_session::{Actor, Commit, NewEvent, NewSession, RunChange, RunKey, RunProgress, RunStatus};
use serde_json::json;

use super::opened::{open, start};
use crate::stores::SessionStoreSubject;

/// Checks the progress of many runs: of several tenants, of one that is named twice, and of some that do not exist.
pub async fn reports_the_progress_of_runs(subject: &dyn SessionStoreSubject) {
    let opened = open(subject).await;
    for session in ["s", "t"] {
        opened.create(session).await;
    }
    opened
        .store
        .create(NewSession::new("s").with_owner(Actor::new("other", "bob")))
        .await
        .unwrap();
    assert_eq!(opened.store.progress(&[]).await.unwrap(), []);
    opened
        .commit("s", Commit::new().with_run(RunChange::new("q", RunStatus::Queued)))
        .await;
    opened
        .commit("s", start("r").with_event(event(1)).with_event(event(2)))
        .await;
    opened.commit("t", start("r").with_event(event(1))).await;
    opened
        .commit("t", Commit::new().with_run(RunChange::new("r", RunStatus::Completed)))
        .await;
    let elsewhere = Commit::new().with_run(RunChange::new("r", RunStatus::Failed));
    opened.store.commit("other", "s", 0, elsewhere).await.unwrap();
    let keys = [
        ("local", "t", "r"),
        ("local", "s", "missing"),
        ("local", "s", "q"),
        ("other", "t", "r"),
        ("local", "s", "r"),
        ("other", "s", "r"),
        ("local", "t", "r"),
        ("local", "missing", "r"),
        ("local", "s", "r\0"),
        ("local", "s' OR '1", "r"),
    ];
    let keys = keys.map(|(tenant, session, run)| RunKey::new(tenant, session, run));
    let found = opened.store.progress(&keys).await.unwrap();
    let of = |status, last_event| Some(RunProgress::new(status, false, last_event));
    let completed = of(RunStatus::Completed, 1);
    let (queued, running) = (of(RunStatus::Queued, 2), of(RunStatus::Running, 2));
    let failed = of(RunStatus::Failed, 0);
    let expected = [
        completed, None, queued, None, running, failed, completed, None, None, None,
    ];
    assert_eq!(found, expected);
    // As many as a server may follow.
    let many = vec![RunKey::new("local", "s", "r"); 2_000];
    assert_eq!(opened.store.progress(&many).await.unwrap(), vec![running; 2_000]);
}

fn event(number: u64) -> NewEvent {
    NewEvent::new("r", "text", json!(number))
}

//! The observer of runs is reported exactly what was stored.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use agcore_session::{
    Actor, ClaimRequest, Commit, InMemorySessionStore, MessageRole, NewMessage, NewSession, Run, RunChange, RunFilter,
    RunLeases, RunStatus, SessionReader, SessionRetention, SessionWriter,
};
use agcore_testkit::clock::ManualClock;

const LENGTH: Duration = Duration::from_secs(60);

/// A store with what its observer was reported.
struct Observed {
    store: InMemorySessionStore,
    clock: Arc<ManualClock>,
    reported: Arc<Mutex<Vec<(Actor, String, Run)>>>,
}

impl Observed {
    async fn new() -> Self {
        let (clock, reported) = (Arc::new(ManualClock::new()), Arc::default());
        let log: Arc<Mutex<Vec<(Actor, String, Run)>>> = Arc::clone(&reported);
        let store = InMemorySessionStore::new(Arc::clone(&clock) as _).with_run_observer(move |owner, session, run| {
            log.lock()
                .unwrap()
                .push((owner.clone(), session.to_owned(), run.clone()));
        });
        let session = NewSession::new("s").with_owner(Actor::new("acme", "ann"));
        store.create(session).await.unwrap();
        Self { store, clock, reported }
    }

    /// Returns the ids of the runs that were reported since the last call, with their statuses.
    fn reported(&self) -> Vec<(String, RunStatus)> {
        let reported = std::mem::take(&mut *self.reported.lock().unwrap()).into_iter();
        reported
            .map(|(owner, session, run)| {
                assert_eq!((owner, &*session), (Actor::new("acme", "ann"), "s"));
                (run.id, run.status)
            })
            .collect()
    }

    fn reported_one(&self, run: &str, status: RunStatus) {
        assert_eq!(self.reported(), [(run.to_owned(), status)]);
    }
}

fn run(id: &str, status: RunStatus) -> Commit {
    Commit::new().with_run(RunChange::new(id, status))
}

#[tokio::test]
async fn each_status_of_a_run_is_reported_once() {
    let observed = Observed::new().await;
    for status in [RunStatus::Queued, RunStatus::Running, RunStatus::Interrupted] {
        for _ in 0..2 {
            observed.store.commit("acme", "s", 0, run("r", status)).await.unwrap();
        }
        observed.clock.advance(LENGTH);
        observed.reported_one("r", status);
    }
    let end = run("new", RunStatus::Completed)
        .with_run(RunChange::new("r", RunStatus::Running))
        .with_run(RunChange::new("r", RunStatus::Running))
        .with_run(RunChange::new("r", RunStatus::Failed));
    observed.store.commit("acme", "s", 0, end).await.unwrap();
    let stored = observed.store.runs("acme", "s", &RunFilter::new()).await.unwrap();
    let last = observed.reported.lock().unwrap().last().unwrap().2.clone();
    assert_eq!(last, stored[0], "the run is reported as it is stored");
    let expected = [
        ("new", RunStatus::Completed),
        ("r", RunStatus::Running),
        ("r", RunStatus::Failed),
    ];
    assert_eq!(
        observed.reported(),
        expected.map(|(run, status)| (run.to_owned(), status))
    );
    observed
        .store
        .commit("acme", "s", 0, Commit::new().with_title("t"))
        .await
        .unwrap();
    assert_eq!(observed.reported(), []);
}

#[tokio::test]
async fn a_commit_that_fails_is_not_reported() {
    let observed = Observed::new().await;
    let message = || NewMessage::new("m", MessageRole::User, "Hello");
    let start = run("over", RunStatus::Completed).with_message(message());
    observed.store.commit("acme", "s", 0, start).await.unwrap();
    observed.reported_one("over", RunStatus::Completed);
    let completed = || run("r", RunStatus::Completed);
    let impossible = RunChange::new("over", RunStatus::Running);
    for (end, commit) in [
        (7, completed()),
        (0, completed().with_message(message())),
        (0, completed().with_run(impossible)),
    ] {
        observed.store.commit("acme", "s", end, commit).await.unwrap_err();
        assert_eq!(observed.reported(), []);
    }
}

#[tokio::test]
async fn dead_letters_and_those_that_start_again_are_reported() {
    let observed = Observed::new().await;
    observed
        .store
        .commit("acme", "s", 0, run("r", RunStatus::Queued))
        .await
        .unwrap();
    observed.reported_one("r", RunStatus::Queued);
    for holder in ["a", "b"] {
        let request = ClaimRequest::new(holder, holder)
            .with_length(LENGTH)
            .with_max_attempts(1);
        observed.store.claim(&request).await.unwrap();
        observed.clock.advance(LENGTH * 2);
    }
    observed.reported_one("r", RunStatus::Failed);
    observed.store.revive("acme", "s", "r").await.unwrap();
    observed.reported_one("r", RunStatus::Queued);
}

#[tokio::test]
async fn parts_and_removed_runs_are_not_reported() {
    let observed = Observed::new().await;
    let part = NewSession::new("part")
        .with_owner(Actor::new("acme", "ann"))
        .with_part_of("s");
    observed.store.create(part).await.unwrap();
    for session in ["part", "s"] {
        observed
            .store
            .commit("acme", session, 0, run("r", RunStatus::Running))
            .await
            .unwrap();
    }
    observed.reported_one("r", RunStatus::Running);
    assert!(observed.store.erase_session("acme", "s").await.unwrap());
    assert_eq!(observed.reported(), []);
}

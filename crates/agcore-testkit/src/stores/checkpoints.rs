//! The behaviors of checkpoint stores. Each function checks one of them and panics with the reason if it fails.

#![expect(
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    reason = "a check panics if it fails"
)]

use std::{sync::Arc, time::Duration};

use agcore_session::{
    Checkpoint, CheckpointStore, Clock, Commit, NewCheckpoint, NewSession, RunChange, RunKey, RunStatus,
    SessionErrorKind, SessionStore,
};
use futures_util::future::join_all;
use serde_json::json;

use super::CheckpointStoreSubject;
use crate::clock::ManualClock;

/// A store with the runs `r` and `r2` of the session `s`.
struct Opened {
    sessions: Arc<dyn SessionStore>,
    store: Arc<dyn CheckpointStore>,
    clock: Arc<ManualClock>,
}

async fn open(subject: &dyn CheckpointStoreSubject) -> Opened {
    let clock = Arc::new(ManualClock::new());
    let (sessions, store) = subject.checkpoint_store(Arc::clone(&clock) as _).await;
    let opened = Opened { sessions, store, clock };
    opened.start("s", &["r", "r2"]).await;
    opened
}

impl Opened {
    /// Creates a session with runs.
    async fn start(&self, session: &str, runs: &[&str]) {
        self.sessions.create(NewSession::new(session)).await.unwrap();
        let commit = runs.iter().fold(Commit::new(), |commit, run| {
            commit.with_run(RunChange::new(*run, RunStatus::Running))
        });
        self.sessions.commit("local", session, 0, commit).await.unwrap();
    }

    async fn save(&self, expected: u64, checkpoint: NewCheckpoint) -> u64 {
        self.store
            .save_checkpoint(run("r"), expected, checkpoint)
            .await
            .unwrap()
    }

    async fn refuse(&self, run: RunKey<'_>, expected: u64, checkpoint: NewCheckpoint) -> SessionErrorKind {
        self.store
            .save_checkpoint(run, expected, checkpoint)
            .await
            .unwrap_err()
            .kind()
    }

    /// Saves a snapshot for each `s` and a patch for each `p`.
    async fn save_all(&self, kinds: &str) {
        for (number, kind) in (0..).zip(kinds.chars()) {
            let checkpoint = if kind == 's' {
                snapshot(number + 1)
            } else {
                patch(number + 1)
            };
            assert_eq!(self.save(number, checkpoint).await, number + 1);
        }
    }

    async fn all(&self) -> Vec<u64> {
        numbers(self.store.checkpoints(run("r"), 0).await.unwrap())
    }

    async fn at(&self, seq: u64) -> Vec<u64> {
        numbers(self.store.checkpoints_at(run("r"), seq).await.unwrap())
    }

    async fn latest(&self) -> Vec<u64> {
        numbers(self.store.latest_checkpoints(run("r")).await.unwrap())
    }
}

fn run(id: &str) -> RunKey<'_> {
    RunKey::new("local", "s", id)
}

fn snapshot(number: u64) -> NewCheckpoint {
    NewCheckpoint::snapshot("step", json!(number))
}

fn patch(number: u64) -> NewCheckpoint {
    NewCheckpoint::patch("step", json!(number))
}

/// Returns the numbers, after checking that the data belongs to them.
fn numbers(checkpoints: Vec<Checkpoint>) -> Vec<u64> {
    let number = |checkpoint: Checkpoint| {
        assert_eq!(checkpoint.data, json!(checkpoint.seq));
        checkpoint.seq
    };
    checkpoints.into_iter().map(number).collect()
}

/// Checks that checkpoints are numbered 1, 2, 3 … in each run, and come back as they were saved.
pub async fn checkpoints_are_numbered(subject: &dyn CheckpointStoreSubject) {
    let opened = open(subject).await;
    let data = json!({"b": 0.1, "a": [u64::MAX, null, "\u{0}日本😀"]});
    let first = NewCheckpoint::snapshot("röuter/\u{1}", data.clone());
    let second = NewCheckpoint::patch("worker", json!(null));
    assert_eq!(opened.save(0, first.clone()).await, 1);
    let saved = opened.clock.now().into();
    opened.clock.advance(Duration::from_secs(1));
    assert_eq!(opened.save(1, second.clone()).await, 2);
    assert_eq!(
        opened.store.save_checkpoint(run("r2"), 0, snapshot(1)).await.unwrap(),
        1
    );
    let expected = [first.store(1, saved), second.store(2, opened.clock.now().into())];
    assert_eq!(opened.store.checkpoints(run("r"), 0).await.unwrap(), expected);
    assert_eq!(opened.store.checkpoints(run("r"), 2).await.unwrap(), expected[1..]);
    assert_eq!(opened.store.checkpoints(run("r"), 3).await.unwrap(), []);
    assert_eq!(opened.store.checkpoints(run("r"), u64::MAX).await.unwrap(), []);
}

/// Checks that a writer who expects another last checkpoint gets an error with the real one, and nothing is saved.
pub async fn reports_every_conflict(subject: &dyn CheckpointStoreSubject) {
    let opened = open(subject).await;
    assert_eq!(
        opened.refuse(run("r"), 1, snapshot(2)).await,
        SessionErrorKind::Conflict { expected: 1, found: 0 }
    );
    opened.save_all("spp").await;
    for expected in [0, 2, 4, u64::MAX] {
        let kind = opened.refuse(run("r"), expected, patch(9)).await;
        assert_eq!(kind, SessionErrorKind::Conflict { expected, found: 3 });
    }
    assert_eq!(opened.all().await, [1, 2, 3]);
}

/// Checks that of several writers, one wins each number: no checkpoint is lost or doubled.
pub async fn of_many_writers_one_wins(subject: &dyn CheckpointStoreSubject) {
    let opened = open(subject).await;
    let save = |_| opened.store.save_checkpoint(run("r"), 0, snapshot(1));
    let results = join_all((0..16).map(save)).await;
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
    for error in results.into_iter().filter_map(Result::err) {
        assert_eq!(
            error.kind(),
            SessionErrorKind::Conflict { expected: 0, found: 1 },
            "{error}"
        );
    }
    assert_eq!(opened.all().await, [1]);
}

/// Checks that the first checkpoint of a run must be a snapshot.
pub async fn the_first_is_a_snapshot(subject: &dyn CheckpointStoreSubject) {
    let opened = open(subject).await;
    assert_eq!(
        opened.refuse(run("r"), 0, patch(1)).await,
        SessionErrorKind::InvalidInput
    );
    assert_eq!(opened.all().await, [0; 0]);
    opened.save_all("sp").await;
    assert_eq!(
        opened.refuse(run("r2"), 0, patch(1)).await,
        SessionErrorKind::InvalidInput
    );
}

/// Checks that the latest checkpoints, and those at any other, are the last snapshot and the patches after it.
pub async fn the_latest_restore_the_state(subject: &dyn CheckpointStoreSubject) {
    for (kinds, expected) in [
        ("", &[][..]),
        ("s", &[1]),
        ("spp", &[1, 2, 3]),
        ("spps", &[4]),
        ("sppspp", &[4, 5, 6]),
        ("sss", &[3]),
    ] {
        let opened = open(subject).await;
        opened.save_all(kinds).await;
        assert_eq!(opened.latest().await, expected, "{kinds}");
        let last = kinds.len() as u64;
        for seq in 1..=last {
            let before = &kinds[..usize::try_from(seq).unwrap_or(0)];
            let first = before.rfind('s').map_or(1, |index| index as u64 + 1);
            assert_eq!(
                opened.at(seq).await,
                (first..=seq).collect::<Vec<_>>(),
                "{kinds} at {seq}"
            );
        }
        for seq in [0, last + 1, u64::MAX] {
            assert_eq!(opened.at(seq).await, [0; 0], "{kinds} at {seq}");
        }
    }
}

/// Checks that trimming keeps the checkpoints that restore the state from a checkpoint on, and that they keep their numbers.
pub async fn trimming_keeps_what_is_needed(subject: &dyn CheckpointStoreSubject) {
    let opened = open(subject).await;
    opened.save_all("sppsppspp").await;
    opened.store.save_checkpoint(run("r2"), 0, snapshot(1)).await.unwrap();
    let trim = async |before: u64| opened.store.trim_checkpoints(run("r"), before).await.unwrap();
    for before in [0, 1, 2, 3] {
        assert_eq!(trim(before).await, 0, "before {before}");
    }
    assert_eq!(trim(6).await, 3);
    assert_eq!(opened.all().await, [4, 5, 6, 7, 8, 9]);
    assert_eq!((opened.at(3).await, opened.at(5).await), (vec![], vec![4, 5]));
    assert_eq!(trim(6).await, 0);
    assert_eq!(trim(u64::MAX).await, 3);
    assert_eq!(
        (opened.all().await, opened.latest().await),
        (vec![7, 8, 9], vec![7, 8, 9])
    );
    assert_eq!(opened.save(9, patch(10)).await, 10);
    assert_eq!(opened.store.checkpoints(run("r2"), 0).await.unwrap().len(), 1);
    assert_eq!(opened.store.trim_checkpoints(run("missing"), 5).await.unwrap(), 0);
}

/// Checks that a run that does not exist has no checkpoints, and none can be saved.
pub async fn needs_a_run(subject: &dyn CheckpointStoreSubject) {
    let opened = open(subject).await;
    opened.save_all("s").await;
    let long = "x".repeat(10_000);
    let missing = [
        RunKey::new("local", "s", "missing"),
        RunKey::new("local", "missing", "r"),
        RunKey::new("missing", "s", "r"),
        RunKey::new("local", "s", ""),
        RunKey::new("local", "s", "r\0"),
        RunKey::new("local", &long, "r"),
    ];
    for run in missing {
        assert_eq!(opened.refuse(run, 0, snapshot(1)).await, SessionErrorKind::NotFound);
        assert_eq!(opened.store.checkpoints(run, 0).await.unwrap(), []);
        assert_eq!(opened.store.latest_checkpoints(run).await.unwrap(), []);
        assert_eq!(opened.store.checkpoints_at(run, 1).await.unwrap(), []);
    }
    for step in ["", "a\0", &long] {
        let kind = opened.refuse(run("r"), 1, NewCheckpoint::patch(step, json!(2))).await;
        assert_eq!(kind, SessionErrorKind::InvalidInput);
    }
    assert_eq!(opened.all().await, [1]);
}

/// Checks that checkpoints are deleted with their session, and those of other sessions are not.
pub async fn are_deleted_with_their_session(subject: &dyn CheckpointStoreSubject) {
    let opened = open(subject).await;
    opened.start("s%", &["r"]).await;
    opened.save_all("sp").await;
    let other = RunKey::new("local", "s%", "r");
    opened.store.save_checkpoint(other, 0, snapshot(1)).await.unwrap();
    assert!(opened.sessions.delete_session("local", "s").await.unwrap());
    assert_eq!(opened.all().await, [0; 0]);
    assert_eq!(opened.store.checkpoints(other, 0).await.unwrap().len(), 1);
    opened.start("s", &["r"]).await;
    assert_eq!(opened.all().await, [0; 0]);
    assert_eq!(opened.save(0, snapshot(1)).await, 1);
}

//! Cooldowns of keys that several processes share.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use agcore_agent::SharedCooldowns;
use agcore_chat::{ChatRequest, Message};
use agcore_llm::{
    LlmError, LlmErrorKind, LlmProviderExt as _,
    layer::key_pool::{KeyPool, KeyPoolPolicy, PoolKey},
};
use agcore_session::{Entry, InMemoryJournal, Journal, Record, SessionError, SessionErrorKind, Timestamp};
use agcore_testkit::{
    clock::ManualClock,
    scripted::{ScriptStep, ScriptedProvider},
};
use async_trait::async_trait;
use serde_json::json;
use tokio_util::sync::CancellationToken;

const LABELS: [&str; 2] = ["team", "spare"];

/// A process with a pool whose keys have scripts.
struct Process {
    pool: KeyPool,
    shared: SharedCooldowns,
}

fn limited(seconds: u64) -> ScriptStep {
    let error = LlmError::new(LlmErrorKind::RateLimit, "slow down");
    ScriptStep::error(error.with_retry_after(Some(Duration::from_secs(seconds))))
}

fn process(clock: &Arc<ManualClock>, journal: &Arc<dyn Journal>, scripts: [Vec<ScriptStep>; 2]) -> Process {
    let keys = LABELS.into_iter().zip(scripts);
    let keys = keys.map(|(label, steps)| PoolKey::new(label, ScriptedProvider::new(steps)));
    let pool = KeyPool::new(keys, KeyPoolPolicy::new(), Arc::clone(clock) as _).unwrap();
    let shared = SharedCooldowns::new("pool", pool.clone(), Arc::clone(journal), Arc::clone(clock) as _);
    Process { pool, shared }
}

impl Process {
    async fn ask(&self) -> Result<String, LlmError> {
        let reply = self.pool.chat(ChatRequest::new([Message::user("Hello")])).await?;
        Ok(reply.answered_by.unwrap().key.unwrap().to_string())
    }

    fn cooldowns(&self) -> Vec<Option<u64>> {
        let status = self.pool.status().into_iter();
        status.map(|key| key.cooldown.map(|rest| rest.as_secs())).collect()
    }
}

fn journal() -> Arc<dyn Journal> {
    Arc::new(InMemoryJournal::new())
}

#[tokio::test]
async fn a_key_that_is_limited_in_one_process_cools_down_in_all() {
    let (clock, journal) = (Arc::new(ManualClock::new()), journal());
    let mut one = process(&clock, &journal, [vec![limited(20)], vec![ScriptStep::text("a")]]);
    let mut two = process(&clock, &journal, [vec![], vec![ScriptStep::text("b")]]);
    assert_eq!(one.ask().await.unwrap(), "spare");
    one.shared.exchange().await.unwrap();
    two.shared.exchange().await.unwrap();
    assert_eq!(two.cooldowns(), [Some(20), None]);
    assert_eq!(two.ask().await.unwrap(), "spare");

    // What others have written is not written again.
    two.shared.exchange().await.unwrap();
    assert_eq!(journal.read("key-cooldowns/pool", 1).await.unwrap()[0].seq, 1);
    // A process that starts later knows it as well, until the end.
    clock.advance(Duration::from_secs(15));
    let mut three = process(&clock, &journal, [vec![ScriptStep::text("c")], vec![]]);
    three.shared.exchange().await.unwrap();
    assert_eq!(three.cooldowns(), [Some(5), None]);
    clock.advance(Duration::from_secs(5));
    assert_eq!(three.ask().await.unwrap(), "team");
}

#[tokio::test]
async fn a_key_that_was_restored_stays_available() {
    let (clock, journal) = (Arc::new(ManualClock::new()), journal());
    let mut one = process(&clock, &journal, [vec![limited(20)], vec![ScriptStep::text("a")]]);
    let mut two = process(&clock, &journal, [vec![ScriptStep::text("b")], vec![]]);
    one.ask().await.unwrap();
    one.shared.exchange().await.unwrap();
    two.shared.exchange().await.unwrap();
    assert!(two.pool.restore("team"));
    // Another record with the cooldown that was lifted.
    clock.advance(Duration::from_secs(2));
    let mut three = process(&clock, &journal, [vec![], vec![limited(30)]]);
    three.shared.exchange().await.unwrap();
    three.ask().await.unwrap_err();
    three.shared.exchange().await.unwrap();
    two.shared.exchange().await.unwrap();
    assert_eq!(two.cooldowns(), [None, Some(30)]);
    assert_eq!(two.ask().await.unwrap(), "team");
}

#[tokio::test]
async fn refused_keys_are_not_shared() {
    let (clock, journal) = (Arc::new(ManualClock::new()), journal());
    let refused = |kind| vec![ScriptStep::error(LlmError::new(kind, "no"))];
    let scripts = [refused(LlmErrorKind::Authentication), vec![ScriptStep::text("a")]];
    let mut one = process(&clock, &journal, scripts);
    assert_eq!(one.ask().await.unwrap(), "spare");
    one.shared.exchange().await.unwrap();
    assert_eq!(journal.read("key-cooldowns/pool", 1).await.unwrap(), []);
}

/// A journal to which another process writes between a read and the write that follows.
#[derive(Debug)]
struct Contended {
    inner: InMemoryJournal,
    is_due: AtomicBool,
}

#[async_trait]
impl Journal for Contended {
    async fn append(&self, stream: &str, expected: u64, records: Vec<Record>) -> Result<u64, SessionError> {
        if self.is_due.swap(false, Ordering::SeqCst) {
            let other = json!({"version": 1, "keys": [{"label": "spare", "until_ms": u64::MAX / 2, "rest_ms": 9000}]});
            let record = Record::new("key_cooldowns", 1, Timestamp::default(), other);
            self.inner.append(stream, expected, vec![record]).await?;
        }
        self.inner.append(stream, expected, records).await
    }

    async fn read(&self, stream: &str, from: u64) -> Result<Vec<Entry>, SessionError> {
        self.inner.read(stream, from).await
    }

    async fn trim(&self, stream: &str, before: u64) -> Result<(), SessionError> {
        self.inner.trim(stream, before).await
    }

    async fn delete(&self, stream: &str) -> Result<bool, SessionError> {
        self.inner.delete(stream).await
    }
}

#[tokio::test]
async fn processes_that_write_at_the_same_time_lose_nothing() {
    let clock = Arc::new(ManualClock::new());
    let journal: Arc<dyn Journal> = Arc::new(Contended {
        inner: InMemoryJournal::new(),
        is_due: AtomicBool::new(true),
    });
    let mut one = process(&clock, &journal, [vec![limited(20)], vec![ScriptStep::text("a")]]);
    one.ask().await.unwrap();
    one.shared.exchange().await.unwrap();
    // That of the other process is no longer than it has stated, whatever its clock shows.
    assert_eq!(one.cooldowns(), [Some(20), Some(9)]);
    let mut two = process(&clock, &journal, [vec![], vec![]]);
    two.shared.exchange().await.unwrap();
    assert_eq!(two.cooldowns(), [Some(20), Some(9)]);
}

#[tokio::test]
async fn a_stream_that_was_deleted_is_written_again() {
    let (clock, journal) = (Arc::new(ManualClock::new()), journal());
    let mut one = process(&clock, &journal, [vec![limited(20), limited(5)], vec![limited(30)]]);
    one.ask().await.unwrap_err();
    one.shared.exchange().await.unwrap();
    assert!(journal.delete("key-cooldowns/pool").await.unwrap());
    clock.advance(Duration::from_secs(20));
    let mut two = process(&clock, &journal, [vec![], vec![]]);
    two.shared.exchange().await.unwrap();
    assert_eq!(two.cooldowns(), [None, None]);
    // The key is limited again, which is news for others.
    one.ask().await.unwrap_err();
    one.shared.exchange().await.unwrap();
    two.shared.exchange().await.unwrap();
    assert_eq!(two.cooldowns(), [Some(5), Some(10)]);
}

#[tokio::test]
async fn records_that_cannot_be_read_are_reported() {
    let (clock, journal) = (Arc::new(ManualClock::new()), journal());
    for (seq, data) in [(0, json!({"version": 99})), (1, json!("?"))] {
        let record = Record::new("key_cooldowns", 1, Timestamp::default(), data);
        journal.append("key-cooldowns/pool", seq, vec![record]).await.unwrap();
        let mut one = process(&clock, &journal, [vec![], vec![]]);
        let error = one.shared.exchange().await.unwrap_err();
        assert_eq!(error.kind(), SessionErrorKind::Serialization, "{error:?}");
    }
}

#[tokio::test]
async fn a_task_shares_a_cooldown_at_once_and_looks_for_others_after_each_pause() {
    let (clock, journal) = (Arc::new(ManualClock::new()), journal());
    let one = process(&clock, &journal, [vec![limited(20)], vec![ScriptStep::text("a")]]);
    let two = process(&clock, &journal, [vec![], vec![]]);
    let stop = CancellationToken::new();
    let tasks = [one.shared, two.shared].map(|shared| tokio::spawn(shared.run(stop.clone())));
    clock.wait_for_sleeps(2).await;
    one.pool.chat(ChatRequest::new([Message::user("Hello")])).await.unwrap();
    while journal.read("key-cooldowns/pool", 1).await.unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    clock.advance(Duration::from_secs(1));
    while two.pool.status()[0].cooldown.is_none() {
        tokio::task::yield_now().await;
    }
    assert_eq!(two.pool.status()[0].cooldown, Some(Duration::from_secs(19)));
    stop.cancel();
    for task in tasks {
        task.await.unwrap();
    }
}

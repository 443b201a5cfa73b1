//! The death of the process in the middle of writes: nothing that was acknowledged is lost, and nothing is half written.

use std::{
    collections::BTreeSet,
    hash::{BuildHasher, RandomState},
    path::Path,
    time::{Duration, Instant},
};

use agcore_memory::{MemoryFilter, MemoryItem, MemoryStore};
use agcore_session::{
    CallChange, CheckpointStore, Commit, EventFilter, Journal, MessageFilter, MessageRole, NewCheckpoint, NewEvent,
    NewMessage, NewSession, Record, RunChange, RunKey, RunStatus, SessionErrorKind, SessionFilter, SessionReader,
    SessionWriter, Timestamp,
};
use agcore_store::sqlite::{Durability, SqliteStore};
use futures_util::future::join_all;
use serde_json::{Value, json};

use super::child::{Writer, open, report};
use crate::killed_erasure;

const TASKS: usize = 8;
/// The kills that one file has to survive.
const KILLS_PER_FILE: usize = 10;

fn record(data: Value) -> Record {
    Record::new("test", 1, Timestamp::default(), data)
}

fn durability(name: &str) -> Durability {
    match name {
        "power loss" => Durability::PowerLoss,
        _ => Durability::ProcessDeath,
    }
}

/// The job `kill`: writes until it is killed. Reports every write after it was acknowledged.
pub(super) async fn write(file: &str, argument: &str) {
    let (durability_name, generation) = argument.split_once('/').unwrap();
    let store = open(file, durability(durability_name)).await;
    join_all((0..TASKS).map(|task| write_forever(&store, format!("{generation}-{task}")))).await;
}

/// The job `erase`: creates and erases sessions with parts until it is killed.
pub(super) async fn erase(file: &str, generation: &str) {
    let store = open(file, Durability::ProcessDeath).await;
    killed_erasure::erase_forever(&store, generation, report).await;
}

async fn write_forever(store: &SqliteStore, name: String) {
    let (stream, session) = (format!("stream {name}"), format!("session {name}"));
    store.create(NewSession::new(&*session)).await.unwrap();
    report(&format!("session {name}"));
    let start = Commit::new().with_run(RunChange::new("r", RunStatus::Running));
    store.commit("local", &session, 0, start).await.unwrap();
    report(&format!("run {name}"));
    let mut shared_end = 0;
    for number in 1.. {
        let text = "x".repeat(number * 7_919 % 5_000);
        store
            .save(MemoryItem::new(format!("save/{name}/{number}"), text.as_str()))
            .await
            .unwrap();
        report(&format!("save {name} {number}"));
        let pair = ["a", "b"].map(|half| MemoryItem::new(format!("pair/{name}/{number}/{half}"), text.as_str()));
        store.save_many(pair.to_vec()).await.unwrap();
        report(&format!("pair {name} {number}"));
        let records = vec![record(json!(number)), record(json!(text))];
        store.append(&stream, 2 * (number as u64 - 1), records).await.unwrap();
        report(&format!("append {name} {number}"));
        store
            .commit("local", &session, number as u64 - 1, one_of_each(number, &text))
            .await
            .unwrap();
        report(&format!("commit {name} {number}"));
        let checkpoint = NewCheckpoint::snapshot("step", json!(text));
        store
            .save_checkpoint(RunKey::new("local", &session, "r"), number as u64 - 1, checkpoint)
            .await
            .unwrap();
        report(&format!("checkpoint {name} {number}"));
        loop {
            let data = json!([name, number]);
            match store.append("shared", shared_end, vec![record(data)]).await {
                Ok(end) => {
                    shared_end = end;
                    report(&format!("shared {name} {number}"));
                    break;
                }
                Err(error) => match error.kind() {
                    SessionErrorKind::Conflict { found, .. } => shared_end = found,
                    _ => panic!("{error:?}"),
                },
            }
        }
    }
}

fn one_of_each(number: usize, text: &str) -> Commit {
    Commit::new()
        .with_record(record(json!(number)))
        .with_message(NewMessage::new(format!("m{number}"), MessageRole::User, text))
        .with_message(NewMessage::audit(format!("a{number}"), text))
        .with_event(NewEvent::new("r", "text", json!(text)))
        .with_call(CallChange::start("r", format!("c{number}"), "search", json!(text)))
        .with_call(CallChange::finish("r", format!("c{number}"), json!(number)))
}

/// The reports of the killed processes.
#[derive(Default)]
struct Acknowledged(BTreeSet<String>);

impl Acknowledged {
    /// Returns the greatest number of a kind of write of a task. Tasks write one after the other.
    fn last(&self, kind: &str, name: &str) -> u64 {
        let prefix = format!("{kind} {name} ");
        let numbers = self
            .0
            .range(prefix.clone()..)
            .take_while(|report| report.starts_with(&prefix));
        numbers
            .filter_map(|report| report.rsplit(' ').next()?.parse().ok())
            .max()
            .unwrap_or(0)
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|report| report.strip_prefix("session "))
    }
}

/// Checks everything that the file should contain.
async fn check(path: &Path, acknowledged: &Acknowledged) -> Duration {
    let begin = Instant::now();
    let store = open(path.to_str().unwrap(), Durability::ProcessDeath).await;
    let opened = begin.elapsed();
    let raw = rusqlite::Connection::open(path).unwrap();
    let integrity: String = raw.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(integrity, "ok");
    let orphans = raw
        .prepare("PRAGMA foreign_key_check")
        .unwrap()
        .query([])
        .unwrap()
        .next()
        .unwrap()
        .is_some();
    assert!(!orphans, "a row belongs to none");
    for name in acknowledged.names() {
        check_items(&store, acknowledged, name).await;
        check_session(&store, acknowledged, name).await;
        let entries = store.read(&format!("stream {name}"), 0).await.unwrap();
        assert!(entries.iter().map(|entry| entry.seq).eq(1..=entries.len() as u64));
        assert!(entries.len() % 2 == 0, "half of an append is visible");
        assert!(
            entries.len() as u64 / 2 >= acknowledged.last("append", name),
            "an append is lost"
        );
    }
    check_shared(&store, acknowledged).await;
    store.close().await;
    opened
}

async fn check_items(store: &SqliteStore, acknowledged: &Acknowledged, name: &str) {
    let ids = async |prefix: String| -> BTreeSet<String> {
        let items = store
            .list(&MemoryFilter::new("local").with_prefix(prefix))
            .await
            .unwrap();
        items.into_iter().map(|item| item.id).collect()
    };
    let saved = ids(format!("save/{name}/")).await;
    for number in 1..=acknowledged.last("save", name) {
        assert!(saved.contains(&format!("save/{name}/{number}")), "an item is lost");
    }
    let pairs = ids(format!("pair/{name}/")).await;
    for number in 1..=pairs.len().max(acknowledged.last("pair", name) as usize) as u64 {
        let half = |half: &str| pairs.contains(&format!("pair/{name}/{number}/{half}"));
        assert_eq!(half("a"), half("b"), "half of the items of one save are visible");
        assert!(half("a") || number > acknowledged.last("pair", name), "items are lost");
    }
}

async fn check_session(store: &SqliteStore, acknowledged: &Acknowledged, name: &str) {
    let id = format!("session {name}");
    let session = store
        .get_session("local", &id)
        .await
        .unwrap()
        .expect("a session is lost");
    let end = session.end;
    assert!(end >= acknowledged.last("commit", name), "a commit is lost");
    let numbers: Vec<u64> = (1..=end).collect();
    let records = store.read(&session.stream(), 0).await.unwrap();
    let messages = store.messages("local", &id, &MessageFilter::new()).await.unwrap();
    let audit = store.messages("local", &id, &MessageFilter::audit()).await.unwrap();
    let events = store.events("local", &id, &EventFilter::new()).await.unwrap();
    let calls = store.calls("local", &id, "r").await.unwrap();
    let parts = [
        records
            .iter()
            .map(|entry| entry.record.data.as_u64().unwrap())
            .collect::<Vec<_>>(),
        messages.iter().map(|message| message.seq.unsigned_abs()).collect(),
        audit.iter().map(|message| message.seq.unsigned_abs()).collect(),
        events.iter().map(|event| event.seq).collect(),
        calls
            .iter()
            .map(|call| call.result.as_ref().unwrap().as_u64().unwrap())
            .collect(),
    ];
    for part in parts {
        assert_eq!(part, numbers, "a commit is half written");
    }
    let checkpoints = store.checkpoints(RunKey::new("local", &id, "r"), 0).await.unwrap();
    assert!(
        checkpoints
            .iter()
            .map(|checkpoint| checkpoint.seq)
            .eq(1..=checkpoints.len() as u64)
    );
    assert!(
        checkpoints.len() as u64 >= acknowledged.last("checkpoint", name),
        "a checkpoint is lost"
    );
}

async fn check_shared(store: &SqliteStore, acknowledged: &Acknowledged) {
    let shared = store.read("shared", 0).await.unwrap();
    assert!(shared.iter().map(|entry| entry.seq).eq(1..=shared.len() as u64));
    let written: BTreeSet<String> = shared
        .iter()
        .map(|entry| {
            format!(
                "shared {} {}",
                entry.record.data[0].as_str().unwrap(),
                entry.record.data[1]
            )
        })
        .collect();
    assert_eq!(written.len(), shared.len(), "a record was appended twice");
    let reported = acknowledged.0.iter().filter(|report| report.starts_with("shared "));
    for report in reported {
        assert!(written.contains(report), "lost: {report}");
    }
    assert!(!store.sessions(&SessionFilter::new("local")).await.unwrap().is_empty() || acknowledged.0.is_empty());
}

/// Small random numbers from a seed.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }
}

#[tokio::test]
async fn nothing_acknowledged_is_lost_when_the_process_is_killed() {
    let kills = if std::env::var_os("AGCORE_SOAK").is_some() {
        200
    } else {
        40
    };
    let seed = RandomState::new().hash_one("kill");
    println!("seed {seed}");
    let (mut random, mut slowest, mut reports) = (Random(seed), Duration::ZERO, 0);
    for file in 0..kills / KILLS_PER_FILE {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("agcore.db");
        let durability = ["process death", "power loss"][file % 2];
        let mut acknowledged = Acknowledged::default();
        for generation in 0..KILLS_PER_FILE {
            let mut writer = Writer::start("kill", &path, &format!("{durability}/{generation}"));
            // Some are killed while they open the file.
            for _ in 0..random.below(8) * random.below(60) {
                acknowledged
                    .0
                    .insert(writer.next().expect("the process ended by itself"));
            }
            // Not always right after a report.
            for _ in 0..random.below(1_000_000) {
                std::hint::spin_loop();
            }
            writer.kill();
            acknowledged.0.extend(std::iter::from_fn(|| writer.next()));
            slowest = slowest.max(check(&path, &acknowledged).await);
        }
        reports += acknowledged.0.len();
    }
    println!("{kills} kills, {reports} acknowledged writes, none lost; opened within {slowest:?}");
}

#[tokio::test]
async fn sessions_are_erased_with_their_parts_or_not_at_all() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("agcore.db");
    let (mut random, mut reports) = (Random(RandomState::new().hash_one("erase")), BTreeSet::new());
    for generation in 0..KILLS_PER_FILE {
        let mut writer = Writer::start("erase", &path, &generation.to_string());
        for _ in 0..2 + random.below(6) {
            reports.insert(writer.next().expect("the process ended by itself"));
        }
        // Not always right after a report.
        for _ in 0..random.below(1_000_000) {
            std::hint::spin_loop();
        }
        writer.kill();
        reports.extend(std::iter::from_fn(|| writer.next()));
        let store = open(path.to_str().unwrap(), Durability::ProcessDeath).await;
        killed_erasure::check(&store, &reports).await;
        store.close().await;
    }
    assert!(
        reports.iter().any(|report| report.starts_with("erased ")),
        "{reports:?}"
    );
}

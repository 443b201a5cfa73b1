//! A client that is killed while it writes: no acknowledged write is lost, and no part of one is visible.

use std::{
    collections::BTreeSet,
    env,
    io::{BufRead, BufReader},
    process::{Command, Stdio},
    sync::Arc,
};

use agcore_memory::{MemoryFilter, MemoryItem, MemoryStore};
use agcore_session::{
    CallChange, CheckpointStore, Commit, EventFilter, Journal, MessageFilter, MessageRole, NewCheckpoint, NewEvent,
    NewMessage, NewSession, Record, RunChange, RunKey, RunStatus, SessionReader, SessionWriter, Timestamp,
};
use agcore_store::postgres::PostgresStore;
use agcore_testkit::clock::ManualClock;
use serde_json::json;

use super::server::{Names, need_server, options_of, url};
use crate::killed_erasure;

/// The schema of the writer, and the number with which it begins.
const SCHEMA: &str = "AGCORE_TEST_KILLED_SCHEMA";
const FIRST: &str = "AGCORE_TEST_KILLED_FIRST";

const SESSION: &str = "session";

/// The number of items that are saved together, and of records that are appended together.
const BATCH: u64 = 3;

#[expect(clippy::disallowed_methods, reason = "the test starts itself as another process")]
fn variable(name: &str) -> Option<String> {
    env::var(name).ok()
}

#[tokio::test]
#[ignore = "started by the test below, which kills it"]
async fn writer() {
    let Some(schema) = variable(SCHEMA) else {
        return;
    };
    let store = options_of(&url(), &schema)
        .open(Arc::new(ManualClock::new()))
        .await
        .unwrap();
    let first: u64 = variable(FIRST).unwrap().parse().unwrap();
    let mut end = store.read("s", 0).await.unwrap().len() as u64;
    let mut committed = store.get_session("local", SESSION).await.unwrap().unwrap().end;
    let run = RunKey::new("local", SESSION, "r");
    let mut states = store.checkpoints(run, 0).await.unwrap().len() as u64;
    for number in first.. {
        let items = (0..BATCH).map(|part| MemoryItem::new(format!("{number:09}/{part}"), "x".repeat(500)));
        store.save_many(items.collect()).await.unwrap();
        println!("saved {number}");
        let record = Record::new("k", 1, Timestamp::default(), json!(number));
        end = store.append("s", end, vec![record; BATCH as usize]).await.unwrap();
        println!("appended {end}");
        store
            .commit("local", SESSION, committed, one_of_each(committed + 1))
            .await
            .unwrap();
        committed += 1;
        println!("committed {committed}");
        let state = NewCheckpoint::snapshot("step", json!("x".repeat(2_000)));
        store.save_checkpoint(run, states, state).await.unwrap();
        states += 1;
        println!("checkpointed {states}");
    }
}

fn one_of_each(number: u64) -> Commit {
    let text = "x".repeat(500);
    let id = number.to_string();
    Commit::new()
        .with_record(Record::new("k", 1, Timestamp::default(), json!(number)))
        .with_message(NewMessage::new(format!("m{id}"), MessageRole::User, text.as_str()))
        .with_message(NewMessage::audit(format!("a{id}"), text.as_str()))
        .with_event(NewEvent::new("r", "text", json!(text)))
        .with_call(CallChange::start("r", id.as_str(), "search", json!(text)))
        .with_call(CallChange::finish("r", id.as_str(), json!(number)))
}

/// The last numbers of each kind of write that were acknowledged.
#[derive(Debug, Default)]
struct Acknowledged {
    saved: u64,
    appended: u64,
    committed: u64,
    checkpointed: u64,
}

impl Acknowledged {
    /// Reads a line of the writer. Returns whether it was an acknowledgement.
    fn read(&mut self, line: &str) -> bool {
        let Some((kind, number)) = line.split_once(' ') else {
            return false;
        };
        let last = match kind {
            "saved" => &mut self.saved,
            "appended" => &mut self.appended,
            "committed" => &mut self.committed,
            "checkpointed" => &mut self.checkpointed,
            _ => return false,
        };
        *last = number.parse().unwrap();
        true
    }
}

#[tokio::test]
async fn no_acknowledged_write_is_lost() {
    need_server!();
    let names = Names::default();
    let schema = names.name();
    let store = options_of(&url(), &schema)
        .open(Arc::new(ManualClock::new()))
        .await
        .unwrap();
    store.create(NewSession::new(SESSION)).await.unwrap();
    let start = Commit::new().with_run(RunChange::new("r", RunStatus::Running));
    store.commit("local", SESSION, 0, start).await.unwrap();
    let kills = if variable("AGCORE_SOAK").is_some() { 200 } else { 20 };
    let mut acknowledged = Acknowledged::default();
    let mut random = fastrand::Rng::with_seed(u64::from(std::process::id()));
    for kill in 0..kills {
        write_and_kill(&schema, &mut acknowledged, random.u32(1..40));
        // What was in flight may have been written.
        acknowledged.saved = check_items(&store, kill, acknowledged.saved).await;
        check_journal(&store, kill, acknowledged.appended).await;
        check_session(&store, kill, &acknowledged).await;
    }
    assert!(acknowledged.saved > 0 && acknowledged.appended > 0, "{acknowledged:?}");
    assert!(
        acknowledged.committed > 0 && acknowledged.checkpointed > 0,
        "{acknowledged:?}"
    );
}

/// Checks the memory items, and returns the number of the last ones.
async fn check_items(store: &PostgresStore, kill: u32, saved: u64) -> u64 {
    let items = store.list(&MemoryFilter::new("local")).await.unwrap();
    let mut ids: Vec<&str> = items.iter().map(|item| item.id.as_str()).collect();
    ids.sort_unstable();
    let last = ids.len() as u64 / BATCH;
    let all = (1..=last).flat_map(|number| (0..BATCH).map(move |part| format!("{number:09}/{part}")));
    assert!(all.eq(ids.iter().copied()), "kill {kill}: a part of a batch is visible");
    assert!(
        last >= saved,
        "kill {kill}: the items {saved} were acknowledged, but the last ones are {last}"
    );
    last
}

async fn check_journal(store: &PostgresStore, kill: u32, appended: u64) {
    let entries = store.read("s", 0).await.unwrap();
    let end = entries.len() as u64;
    assert!(
        entries.iter().map(|entry| entry.seq).eq(1..=end),
        "kill {kill}: the journal has gaps"
    );
    assert_eq!(end % BATCH, 0, "kill {kill}: a part of an append is visible");
    assert!(
        end >= appended,
        "kill {kill}: record {appended} was acknowledged, but the last one is {end}"
    );
}

/// Checks that commits are whole, and that none and no checkpoint is lost.
async fn check_session(store: &PostgresStore, kill: u32, acknowledged: &Acknowledged) {
    let session = store.get_session("local", SESSION).await.unwrap().unwrap();
    assert!(
        session.end >= acknowledged.committed,
        "kill {kill}: commit {} was acknowledged, but the last one is {}",
        acknowledged.committed,
        session.end
    );
    let messages = store.messages("local", SESSION, &MessageFilter::new()).await.unwrap();
    let audit = store.messages("local", SESSION, &MessageFilter::audit()).await.unwrap();
    let events = store.events("local", SESSION, &EventFilter::new()).await.unwrap();
    let calls = store.calls("local", SESSION, "r").await.unwrap();
    let records = store.read(&session.stream(), 0).await.unwrap();
    let parts: [Vec<u64>; 5] = [
        messages.iter().map(|message| message.seq.unsigned_abs()).collect(),
        audit.iter().map(|message| message.seq.unsigned_abs()).collect(),
        events.iter().map(|event| event.seq).collect(),
        calls.iter().filter_map(|call| call.result.as_ref()?.as_u64()).collect(),
        records.iter().filter_map(|entry| entry.record.data.as_u64()).collect(),
    ];
    for part in parts {
        assert!(
            part.iter().copied().eq(1..=session.end),
            "kill {kill}: a part of a commit is visible"
        );
    }
    let states = store.checkpoints(RunKey::new("local", SESSION, "r"), 0).await.unwrap();
    assert!(states.iter().map(|state| state.seq).eq(1..=states.len() as u64));
    assert!(
        states.len() as u64 >= acknowledged.checkpointed,
        "kill {kill}: a checkpoint is lost"
    );
}

/// Starts a writer, kills it after a number of acknowledgements, and reads those that it printed.
fn write_and_kill(schema: &str, acknowledged: &mut Acknowledged, count: u32) {
    let mut writer = Command::new(env::current_exe().unwrap())
        .args(["--exact", "postgres::killed::writer", "--ignored", "--nocapture"])
        .env(SCHEMA, schema)
        .env(FIRST, (acknowledged.saved + 1).to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut seen = 0;
    // After the kill, the pipe still has what was printed before.
    for line in BufReader::new(writer.stdout.take().unwrap()).lines() {
        seen += u32::from(acknowledged.read(&line.unwrap()));
        if seen == count {
            writer.kill().unwrap();
        }
    }
    writer.wait().unwrap();
    assert!(seen >= count, "the writer ended by itself");
}

#[tokio::test]
#[ignore = "started by the test below, which kills it"]
async fn eraser() {
    let Some(schema) = variable(SCHEMA) else {
        return;
    };
    let store = options_of(&url(), &schema)
        .open(Arc::new(ManualClock::new()))
        .await
        .unwrap();
    let generation = variable(FIRST).unwrap();
    killed_erasure::erase_forever(&store, &generation, |report| println!("{report}")).await;
}

#[tokio::test]
async fn sessions_are_erased_with_their_parts_or_not_at_all() {
    need_server!();
    let names = Names::default();
    let schema = names.name();
    let store = options_of(&url(), &schema)
        .open(Arc::new(ManualClock::new()))
        .await
        .unwrap();
    let mut random = fastrand::Rng::with_seed(u64::from(std::process::id()));
    let mut reports = BTreeSet::new();
    for generation in 0..8 {
        let mut eraser = Command::new(env::current_exe().unwrap())
            .args(["--exact", "postgres::killed::eraser", "--ignored", "--nocapture"])
            .env(SCHEMA, &schema)
            .env(FIRST, generation.to_string())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (mut seen, count) = (0, 2 + random.u32(0..5));
        // After the kill, the pipe still has what was printed before.
        for line in BufReader::new(eraser.stdout.take().unwrap()).lines() {
            let line = line.unwrap();
            if line.starts_with("created ") || line.starts_with("erased ") {
                reports.insert(line);
                seen += 1;
                if seen == count {
                    eraser.kill().unwrap();
                }
            }
        }
        eraser.wait().unwrap();
        assert!(seen >= count, "the eraser ended by itself");
        killed_erasure::check(&store, &reports).await;
    }
    assert!(
        reports.iter().any(|report| report.starts_with("erased ")),
        "{reports:?}"
    );
    store.close().await;
}

//! A client that is killed while it writes: no acknowledged write is lost, and no part of one is visible.

use std::{
    env,
    io::{BufRead, BufReader},
    process::{Command, Stdio},
    sync::Arc,
};

use agcore_memory::{Journal, MemoryFilter, MemoryItem, MemoryStore, Record, Timestamp};
use agcore_testkit::clock::ManualClock;
use serde_json::json;

use super::server::{Names, need_server, options_of, url};

/// The schema of the writer, and the number with which it begins.
const SCHEMA: &str = "AGCORE_TEST_KILLED_SCHEMA";
const FIRST: &str = "AGCORE_TEST_KILLED_FIRST";

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
    for number in first.. {
        let items = (0..BATCH).map(|part| MemoryItem::new(format!("{number:09}/{part}"), "x".repeat(500)));
        store.save_many(items.collect()).await.unwrap();
        println!("saved {number}");
        let record = Record::new("k", 1, Timestamp::default(), json!(number));
        end = store.append("s", end, vec![record; BATCH as usize]).await.unwrap();
        println!("appended {end}");
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
    let kills = if variable("AGCORE_SOAK").is_some() { 200 } else { 20 };
    let (mut saved, mut appended) = (0, 0);
    let mut random = fastrand::Rng::with_seed(u64::from(std::process::id()));
    for kill in 0..kills {
        let acknowledged = random.u32(1..40);
        (saved, appended) = write_and_kill(&schema, saved, appended, acknowledged);
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
        // What was in flight may have been written.
        saved = last;
    }
    assert!(saved > 0 && appended > 0);
}

/// Starts a writer, kills it after a number of acknowledgements, and returns the last ones that it printed.
fn write_and_kill(schema: &str, mut saved: u64, mut appended: u64, acknowledged: u32) -> (u64, u64) {
    let mut writer = Command::new(env::current_exe().unwrap())
        .args(["--exact", "postgres::killed::writer", "--ignored", "--nocapture"])
        .env(SCHEMA, schema)
        .env(FIRST, (saved + 1).to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut seen = 0;
    // After the kill, the pipe still has what was printed before.
    for line in BufReader::new(writer.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        let number = |prefix: &str| line.strip_prefix(prefix).map(|number| number.parse().unwrap());
        saved = number("saved ").unwrap_or(saved);
        appended = number("appended ").unwrap_or(appended);
        seen += u32::from(line.starts_with("saved ") || line.starts_with("appended "));
        if seen == acknowledged {
            writer.kill().unwrap();
        }
    }
    writer.wait().unwrap();
    assert!(seen >= acknowledged, "the writer ended by itself");
    (saved, appended)
}

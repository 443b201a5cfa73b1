//! Programs and servers that are killed while they write.
#![expect(clippy::print_stdout, reason = "a failing run names its seed")]

use std::{
    io::{BufRead, BufReader, Write},
    process::{Command, Stdio},
    sync::Arc,
    time::SystemTime,
};

use agcore_memory::{MemoryFilter, MemoryItem, MemoryStore};
use agcore_session::{Actor, Journal, Record, Timestamp};
use agcore_store::redis::{RedisOptions, RedisStore};
use agcore_testkit::clock::ManualClock;
use serde_json::json;

use super::{SharedServer, private_server::PrivateServer, server_or_return};

/// The URL of the server and the prefix of keys, separated by a space: set for the program that is killed.
const TARGET: &str = "AGCORE_TEST_REDIS_TARGET";

/// The name of the test that is that program.
const WRITER: &str = "redis::crashes::writer";

fn rounds(few: usize, many: usize) -> usize {
    if std::env::var_os("AGCORE_SOAK").is_some() {
        many
    } else {
        few
    }
}

/// A small generator of pseudo-random numbers, so that a failing run can be repeated.
struct Numbers(u64);

impl Numbers {
    fn new() -> Self {
        let seed = std::env::var("AGCORE_TEST_SEED")
            .ok()
            .and_then(|seed| seed.parse().ok());
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        let seed = seed.unwrap_or_else(|| u64::from(now.subsec_nanos()));
        println!("AGCORE_TEST_SEED={seed}");
        Self(seed | 1)
    }

    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap()
    }
}

async fn open(options: RedisOptions) -> RedisStore {
    options.open(Arc::new(ManualClock::new())).await.unwrap()
}

/// Makes write number `number`: three items and two records.
async fn write(store: &RedisStore, number: u64) -> Result<(), agcore_store::StoreError> {
    let items = ["a", "b", "c"].map(|part| {
        let owner = Actor::user(format!("user {}", number % 2));
        MemoryItem::new(format!("{number:06}/{part}"), format!("content {number}")).with_owner(owner)
    });
    // Of a write that is replaced by the next one, only the whole can be seen, too.
    let shared = ["x", "y"].map(|id| MemoryItem::new(id, format!("content {number}")));
    store.save_many(items.into_iter().chain(shared).collect()).await?;
    let record = |part: &str| Record::new("k", 1, Timestamp::default(), json!([number, part]));
    store
        .append("s", 2 * (number - 1), vec![record("a"), record("b")])
        .await?;
    Ok(())
}

/// Checks that nothing of the first writes is lost and that nothing is half-written. Returns the number of records.
async fn check(store: &RedisStore, acknowledged: u64) -> u64 {
    let items = store.list(&MemoryFilter::new("local").with_prefix("0")).await.unwrap();
    assert_eq!(items.len() % 3, 0, "half of a write is visible");
    let written = items.len() as u64 / 3;
    assert!(
        written >= acknowledged,
        "{acknowledged} writes were acknowledged, {written} are left"
    );
    assert!(written <= acknowledged + 1, "{written}");
    for (item, place) in items.iter().zip(3..) {
        assert_eq!(item.content, format!("content {}", place / 3));
    }
    let mut owned = 0;
    for user in ["user 0", "user 1"] {
        owned += store.count(&MemoryFilter::owned_by(Actor::user(user))).await.unwrap();
    }
    assert_eq!(owned, 3 * written);
    let all = store.count(&MemoryFilter::new("local")).await.unwrap();
    assert_eq!(all, 3 * written + if written == 0 { 0 } else { 2 });
    for id in ["x", "y"] {
        let content = store.get("local", id).await.unwrap().map(|item| item.content);
        assert_eq!(content, (written > 0).then(|| format!("content {written}")));
    }
    let entries = store.read("s", 0).await.unwrap();
    assert_eq!(entries.len() % 2, 0, "half of an append is visible");
    assert!(entries.len() as u64 >= 2 * acknowledged, "records are lost");
    for (place, entry) in entries.iter().enumerate() {
        let part = ["a", "b"][place % 2];
        assert_eq!(entry.seq, place as u64 + 1);
        assert_eq!(entry.record.data, json!([place / 2 + 1, part]));
    }
    entries.len() as u64
}

#[test]
#[ignore = "this is the program that the test kills"]
fn writer() {
    let Ok(target) = std::env::var(TARGET) else { return };
    let (url, prefix) = target.split_once(' ').unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let store = open(RedisOptions::new(url).unwrap().with_key_prefix(prefix)).await;
        let mut output = std::io::stdout();
        for number in 1.. {
            write(&store, number).await.unwrap();
            writeln!(output, "\nacknowledged {number}").unwrap();
            output.flush().unwrap();
        }
    });
}

#[tokio::test]
async fn a_killed_program_loses_nothing_that_was_acknowledged() {
    let server = server_or_return!(SharedServer::connect());
    let mut numbers = Numbers::new();
    for round in 0..rounds(20, 200) {
        let store = open(server.options()).await;
        let prefix = server.prefixes()[round].clone();
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([WRITER, "--exact", "--ignored", "--nocapture", "--test-threads=1"])
            .env(TARGET, format!("{} {prefix}", server.url()))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut acknowledged = 0;
        let mut read = |line: std::io::Result<String>| {
            if let Some(number) = line.unwrap().strip_prefix("acknowledged ") {
                acknowledged = number.parse::<u64>().unwrap();
            }
        };
        // Each write has two lines, and the program writes on while they are read.
        lines.by_ref().take(4 + numbers.below(120)).for_each(&mut read);
        child.kill().unwrap();
        child.wait().unwrap();
        lines.for_each(&mut read);
        assert!(acknowledged > 0 || round > 0, "the program has not written anything");
        check(&store, acknowledged).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_server_that_syncs_every_write_loses_nothing_that_was_acknowledged() {
    let arguments = ["--appendonly", "yes", "--appendfsync", "always"];
    let mut numbers = Numbers::new();
    let mut server = server_or_return!(PrivateServer::start(&arguments));
    let mut done = 0;
    for _ in 0..rounds(10, 100) {
        let store = open(server.options()).await;
        let (acknowledge, mut acknowledged) = tokio::sync::watch::channel(done);
        let writes = tokio::spawn(async move {
            let mut number = done + 1;
            while write(&store, number).await.is_ok() {
                acknowledge.send_replace(number);
                number += 1;
            }
        });
        let enough = done + numbers.below(60) as u64;
        acknowledged.wait_for(|number| *number >= enough).await.unwrap();
        server.kill();
        writes.await.unwrap();
        let last = *acknowledged.borrow();
        server.restart();
        let store = open(server.options()).await;
        let records = check(&store, last).await;
        // The next round continues after the last write that took place.
        done = last;
        let written = store.count(&MemoryFilter::new("local").with_prefix("0")).await.unwrap() / 3;
        if written > last {
            done = written;
        }
        if records < 2 * done {
            let record = |part: &str| Record::new("k", 1, Timestamp::default(), json!([done, part]));
            store
                .append("s", records, vec![record("a"), record("b")])
                .await
                .unwrap();
        }
    }
}

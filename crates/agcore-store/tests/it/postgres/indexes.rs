//! Indexes in tables of a server: the death of the process.

use std::{
    env,
    io::{BufRead, BufReader},
    process::{Command, Stdio},
    sync::Arc,
};

use agcore_chat::SystemClock;
use agcore_store::postgres::PostgresStore;

use super::server::{Names, need_server, options_of, url};
use crate::index_changes::{Followed, change_count, changes_before_kill};

/// The schema of the writer, and its seed.
const SCHEMA: &str = "AGCORE_TEST_INDEXES_SCHEMA";
const SEED: &str = "AGCORE_TEST_INDEXES_SEED";

/// Printed after each change.
const CHANGED: &str = "changed";

async fn followed(schema: &str) -> Followed {
    let options = options_of(&url(), schema);
    let store: PostgresStore = options.open(Arc::new(SystemClock::new())).await.unwrap();
    Followed {
        texts: Arc::new(store.text_index()),
        vectors: Arc::new(store.vector_index("model")),
        store: Arc::new(store),
    }
}

#[tokio::test]
#[ignore = "started by the test below, which kills it"]
async fn writer() {
    let (Ok(schema), Ok(seed)) = (env::var(SCHEMA), env::var(SEED)) else {
        return;
    };
    let followed = followed(&schema).await;
    followed
        .change_forever(seed.parse().unwrap(), |line| println!("{line}"))
        .await;
}

#[tokio::test]
async fn indexes_equal_a_rebuild_when_the_process_is_killed() {
    need_server!();
    let names = Names::default();
    let schema = names.name();
    let followed = followed(&schema).await;
    let (mut changes, mut round) = (0, 0);
    while changes < change_count() {
        changes += change_and_kill(&schema, round);
        round += 1;
        followed.assert_equals_a_rebuild().await;
    }
    println!("{changes} changes, {round} kills");
}

/// Starts a writer, and kills it after some changes. Returns their number.
fn change_and_kill(schema: &str, round: u64) -> usize {
    let mut writer = Command::new(env::current_exe().unwrap())
        .args(["--exact", "postgres::indexes::writer", "--ignored", "--nocapture"])
        .env(SCHEMA, schema)
        .env(SEED, round.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut changes = 0;
    // After the kill, the pipe still has what was printed before.
    for line in BufReader::new(writer.stdout.take().unwrap()).lines() {
        changes += usize::from(line.unwrap() == CHANGED);
        if changes == changes_before_kill(round) {
            writer.kill().unwrap();
        }
    }
    writer.wait().unwrap();
    assert!(changes >= changes_before_kill(round), "the writer ended by itself");
    changes
}

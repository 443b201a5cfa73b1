//! Events of many sessions, as a server writes them while models stream: the store against bare inserts into a table that has one
//! index.

use std::{path::Path, sync::Arc};

use agcore_chat::SystemClock;
use agcore_session::{Commit, EventData, NewEvent, NewSession, RunChange, RunStatus, SessionEvents, SessionWriter};
use agcore_store::sqlite::{SqliteOptions, SqliteStore};
use rusqlite::{Connection, params};
use serde_json::value::RawValue;
use tokio::runtime::Runtime;

use crate::{
    Fallible,
    measure::{Limit, Times, median},
};

const SESSIONS: usize = 1_000;
/// The events of a commit, each of another session.
const BATCH: usize = 100;
/// The events of each session in a round.
const ROUND: usize = 10;
const ROUNDS: usize = 15;
const DATA: &str = r#"{"type":"TEXT_MESSAGE_CONTENT","timestamp":1790000000000,"messageId":"0192f3a4-5b6c-7d8e-9f00-112233445566.0.0","delta":" and so on"}"#;

/// Measures the CPU time of an event. The rounds alternate.
pub(crate) fn run(directory: &Path, runtime: &Runtime) -> Fallible<Limit> {
    let store = runtime.block_on(open(&directory.join("events-store.db")))?;
    let bare = open_bare(&directory.join("events-bare.db"))?;
    let (mut ours, mut floor) = (Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        let (mut of_store, mut of_bare) = (Times::default(), Times::default());
        for number in 0..ROUND {
            for first in 0..SESSIONS / BATCH {
                let batch = sessions(first).map(|session| events(&session));
                let batch = batch.collect::<Result<Vec<_>, _>>()?;
                for result in of_store.measure(|| runtime.block_on(store.commit_events(batch))) {
                    result?;
                }
                let seq = round * ROUND + number;
                of_bare.measure(|| insert(&bare, sessions(first), seq))?;
            }
        }
        // The first round warms up.
        if round > 0 {
            ours.push(of_store.cpu() / BATCH as f64);
            floor.push(of_bare.cpu() / BATCH as f64);
        }
    }
    let (ours, floor) = (median(&mut ours), median(&mut floor));
    println!("\n| event of a stream | CPU, µs |\n|---|---|");
    println!("| bare insert | {floor:.2} |\n| store | {ours:.2} |");
    Ok(Limit::at_most(
        "event of a stream, CPU, × bare insert",
        ours / floor,
        1.3,
    ))
}

async fn open(path: &Path) -> Fallible<SqliteStore> {
    let store = SqliteOptions::new(path).open(Arc::new(SystemClock::new())).await?;
    for session in (0..SESSIONS / BATCH).flat_map(sessions) {
        store.create(NewSession::new(&*session)).await?;
        let commit = Commit::new().with_run(RunChange::new("run-1", RunStatus::Running));
        store.commit("local", &session, 0, commit).await?;
    }
    Ok(store)
}

/// Returns the names of the sessions of a batch: runs begin and stream in another order than that of their ids.
fn sessions(batch: usize) -> impl Iterator<Item = String> {
    (0..BATCH).map(move |place| {
        let number = (batch * BATCH + place) as u64;
        format!("thread-{:016x}", number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    })
}

fn events(session: &str) -> Fallible<SessionEvents> {
    let data: Box<RawValue> = serde_json::from_str(DATA)?;
    let event = NewEvent::new("run-1", "agui", EventData::serialize(&data)?);
    Ok(SessionEvents::new(("local", session), 0, vec![event]))
}

fn open_bare(path: &Path) -> Fallible<Connection> {
    let connection = Connection::open(path)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "cache_size", -16 * 1024)?;
    connection.pragma_update(None, "wal_autocheckpoint", 4_000)?;
    connection
        .execute_batch("CREATE TABLE events (session TEXT, seq INTEGER, data TEXT, UNIQUE (session, seq)) STRICT")?;
    Ok(connection)
}

fn insert(connection: &Connection, sessions: impl Iterator<Item = String>, seq: usize) -> Fallible {
    connection.execute_batch("BEGIN IMMEDIATE")?;
    let mut statement = connection.prepare_cached("INSERT INTO events VALUES (?1, ?2, ?3)")?;
    for session in sessions {
        statement.execute(params![session, seq as i64, DATA])?;
    }
    drop(statement);
    connection.execute_batch("COMMIT")?;
    Ok(())
}

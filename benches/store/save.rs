//! One writer that waits for each row: the store against a bare insert.

use std::{path::Path, sync::Arc};

use agcore_chat::SystemClock;
use agcore_memory::{MemoryItem, MemoryStore};
use agcore_store::sqlite::{Durability, SqliteOptions, SqliteStore};
use tokio::runtime::Runtime;

use crate::{
    Fallible,
    bare::{Bare, id},
    measure::{Limit, Times},
};

const ROUNDS: usize = 40;
const ROWS_PER_ROUND: usize = 25;
/// The rows before the first round: after them, both write-ahead logs have their full size and are written from the start
/// again. Until then, each sync also waits for the file system to make the file longer.
const ROWS_BEFORE: usize = 1_500;

/// Opens a store in which every commit is synced.
pub(crate) fn open(path: &Path, runtime: &Runtime) -> Fallible<SqliteStore> {
    let options = SqliteOptions::new(path).with_durability(Durability::PowerLoss);
    Ok(runtime.block_on(options.open(Arc::new(SystemClock::new())))?)
}

/// Opens a bare connection to a file that the store made.
pub(crate) fn open_bare(path: &Path, runtime: &Runtime) -> Fallible<Bare> {
    let store = open(path, runtime)?;
    runtime.block_on(store.close());
    Bare::open(path)
}

/// Measures rows of a common size. The rounds alternate.
pub(crate) fn run(directory: &Path, runtime: &Runtime) -> Fallible<Vec<Limit>> {
    let store = open(&directory.join("save-store.db"), runtime)?;
    let mut bare = open_bare(&directory.join("save-bare.db"), runtime)?;
    let content = "A fact about a user. ".repeat(10);
    let (mut ours, mut floor, mut saved) = (Times::default(), Times::default(), 0);
    for round in 0..=ROUNDS {
        let rows = if round == 0 { ROWS_BEFORE } else { ROWS_PER_ROUND };
        for _ in 0..rows {
            saved += 1;
            let item = MemoryItem::new(id(saved), content.as_str());
            ours.measure(|| runtime.block_on(store.save(item)))?;
        }
        for _ in 0..rows {
            floor.measure(|| bare.insert(&content))?;
        }
        if round == 0 {
            (ours, floor) = (Times::default(), Times::default());
        }
    }
    println!("| one row, synced | p50, µs | CPU, µs |\n|---|---|---|");
    for (name, times) in [("bare insert", &floor), ("store", &ours)] {
        println!("| {name} | {:.0} | {:.1} |", times.p50(), times.cpu());
    }
    Ok(vec![
        Limit::at_most("save of one row, p50, × bare insert", ours.p50() / floor.p50(), 1.3),
        Limit::at_most("save of one row, CPU, × bare insert", ours.cpu() / floor.cpu(), 1.3),
    ])
}

//! Opening a large file.

use std::{path::Path, time::Instant};

use agcore_memory::{MemoryFilter, MemoryItem, MemoryStore};
use tokio::runtime::Runtime;

use crate::{
    Fallible,
    bare::id,
    measure::{Limit, median},
    save::open,
};

const ROWS: u64 = 100_000;
const BATCH: u64 = 5_000;

/// Measures how long it takes until a file with 100 000 rows is open and has returned a row.
pub(crate) fn run(directory: &Path, runtime: &Runtime) -> Fallible<Limit> {
    let path = directory.join("large.db");
    let store = open(&path, runtime)?;
    let content = "A fact about a user. ".repeat(10);
    for batch in 0..ROWS / BATCH {
        let items = (0..BATCH).map(|row| MemoryItem::new(id(batch * BATCH + row), content.as_str()));
        runtime.block_on(store.save_many(items.collect()))?;
    }
    let count = runtime.block_on(store.count(&MemoryFilter::new("local")))?;
    if count != ROWS {
        return Err(format!("the file has {count} rows").into());
    }
    // Not closed: the log is as a process leaves it behind that is killed.
    let mut seconds = Vec::new();
    for _ in 0..5 {
        let begin = Instant::now();
        let opened = open(&path, runtime)?;
        let found = runtime.block_on(opened.get("local", &id(ROWS / 2)))?;
        seconds.push(begin.elapsed().as_secs_f64());
        if found.is_none() {
            return Err("a row is missing".into());
        }
    }
    println!("\n| 100 000 rows | ms |\n|---|---|");
    let seconds = median(&mut seconds);
    println!("| open and read one | {:.1} |", seconds * 1e3);
    Ok(Limit::at_most("open of 100 000 rows, s", seconds, 2.0))
}

//! Many writers at the same time: the store against one writer, which waits until each row is synced, and against bare batches of 100.

use std::{path::Path, time::Instant};

use agcore_memory::{MemoryItem, MemoryStore};
use agcore_store::sqlite::SqliteStore;
use futures_util::future::try_join_all;
use tokio::runtime::Runtime;

use crate::{
    Fallible,
    bare::{Bare, id},
    measure::{Limit, median},
    save::{open, open_bare},
};

const WRITERS: u64 = 64;
const ROUNDS: u64 = 15;
/// The rows that each writer saves in a round, one after the other.
const ROWS_PER_WRITER: u64 = 25;
const BATCH: u64 = 100;

/// Measures rows per second. The rounds alternate.
pub(crate) fn run(directory: &Path, runtime: &Runtime) -> Fallible<Vec<Limit>> {
    let store = open(&directory.join("group-store.db"), runtime)?;
    let alone = open(&directory.join("group-alone.db"), runtime)?;
    let mut single = open_bare(&directory.join("group-single.db"), runtime)?;
    let mut batches = open_bare(&directory.join("group-batches.db"), runtime)?;
    let content = "A fact about a user. ".repeat(10);
    let mut rates: [Vec<f64>; 4] = Default::default();
    for round in 0..=ROUNDS {
        let round_rates = [
            rate(200, || (0..200).try_for_each(|_| single.insert(&content)))?,
            rate(1_600, || insert_batches(&mut batches, &content))?,
            rate(WRITERS * ROWS_PER_WRITER, || {
                runtime.block_on(save_all(&store, round, &content))
            })?,
            rate(200, || runtime.block_on(save_alone(&alone, round, &content)))?,
        ];
        // The first round warms up.
        if round > 0 {
            for (all, rate) in rates.iter_mut().zip(round_rates) {
                all.push(rate);
            }
        }
    }
    let [single, batches, ours, alone] = rates.map(|mut rates| median(&mut rates));
    println!("\n| synced rows per second | |\n|---|---|");
    let names = [
        "one bare writer",
        "bare batches of 100",
        "store, 64 writers",
        "store, one writer",
    ];
    for (name, rate) in names.into_iter().zip([single, batches, ours, alone]) {
        println!("| {name} | {rate:.0} |");
    }
    Ok(vec![
        Limit::at_least("64 writers, rows per second, × one writer", ours / alone, 10.0),
        Limit::at_least(
            "64 writers, rows per second, × bare batches of 100",
            ours / batches,
            0.7,
        ),
    ])
}

fn insert_batches(bare: &mut Bare, content: &str) -> Fallible {
    (0..1_600 / BATCH).try_for_each(|_| bare.insert_many(BATCH, content))
}

async fn save_all(store: &SqliteStore, round: u64, content: &str) -> Fallible {
    let writers = (0..WRITERS).map(|writer| async move {
        for row in 0..ROWS_PER_WRITER {
            let number = (round * WRITERS + writer) * ROWS_PER_WRITER + row;
            store.save(MemoryItem::new(id(number), content)).await?;
        }
        Ok::<_, agcore_memory::MemoryError>(())
    });
    try_join_all(writers).await?;
    Ok(())
}

async fn save_alone(store: &SqliteStore, round: u64, content: &str) -> Fallible {
    for row in 0..200 {
        store.save(MemoryItem::new(id(round * 200 + row), content)).await?;
    }
    Ok(())
}

fn rate(rows: u64, work: impl FnOnce() -> Fallible) -> Fallible<f64> {
    let begin = Instant::now();
    work()?;
    Ok(rows as f64 / begin.elapsed().as_secs_f64())
}

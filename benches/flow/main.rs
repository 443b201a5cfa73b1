//! Measures the engine of flows: its cost for each node beside a hand-written loop, and the checkpoints of a run of 200 turns.
//!
//! `cargo bench -p agcore-benches-flow` runs everything. See `benches/README.md`.

#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]

mod checkpoints;
#[path = "../store/measure.rs"]
#[allow(dead_code, reason = "the bench `store` uses all of it")]
mod measure;
mod overhead;

use std::{error::Error, process};

type Fallible<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

fn main() {
    if let Err(error) = run() {
        println!("failed: {error}");
        process::exit(1);
    }
}

fn run() -> Fallible {
    // The files are in the target directory, which is on a disk: a temporary directory may be in memory.
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    println!("# Flows\n");
    let mut limits = overhead::run(&runtime)?;
    limits.extend(checkpoints::run(directory.path(), &runtime)?);
    println!("\n| limit | measured | required | |\n|---|---|---|---|");
    for limit in &limits {
        println!("{limit}");
    }
    Ok(())
}

//! Compares durable writes of the SQLite store with bare rusqlite, and measures how long a large file and a long session take to
//! open.
//!
//! `cargo bench -p agcore-benches-store` runs everything. Rounds of the store and of the baselines alternate, so that
//! other load on the machine affects both, and their medians are compared. See `benches/README.md`.

#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]

mod bare;
mod events;
mod group;
mod large;
mod measure;
mod resume;
mod save;

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
    println!("# Durable writes on SQLite\n");
    let mut limits = save::run(directory.path(), &runtime)?;
    limits.extend(group::run(directory.path(), &runtime)?);
    limits.push(events::run(directory.path(), &runtime)?);
    limits.push(large::run(directory.path(), &runtime)?);
    limits.extend(resume::run(directory.path(), &runtime)?);
    println!("\n| limit | measured | required | |\n|---|---|---|---|");
    for limit in &limits {
        println!("{limit}");
    }
    Ok(())
}

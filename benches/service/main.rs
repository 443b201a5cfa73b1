//! Compares the server with bare axum handlers: the CPU time of a delta in a thousand streams, of a frame in a live tail, and the
//! memory of open streams. Also measures how fast `agcore serve` starts, and what it needs while idle.
//!
//! `cargo xtask bench service` runs everything. Servers are processes of their own. Rounds of the server and of the floor alternate,
//! so that other load on the machine affects both. See `benches/README.md`.

#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]

mod plan;
mod model;
mod floor;
mod server;
mod child;
mod client;
mod round;
mod requirement;
mod program;

use std::{env, error::Error, path::Path, process};

use self::{requirement::Requirement, round::Job};

/// A result whose error only needs to be printed.
type Fallible<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

/// The rounds of each side.
const ROUNDS: usize = 5;

fn main() {
    // Cargo adds the argument `--bench`.
    let arguments: Vec<String> = env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if let Err(error) = dispatch(&arguments) {
        println!("failed: {error}");
        process::exit(1);
    }
}

/// Runs the benchmark, or a part of it.
fn dispatch(arguments: &[&str]) -> Fallible {
    // As in `agcore serve`.
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    match *arguments {
        ["serve", database] => runtime.block_on(server::serve(Path::new(database))),
        ["floor", runs] => runtime.block_on(floor::serve(runs.parse()?)),
        ["program", program] => {
            let requirements = runtime.block_on(program::measure(Path::new(program)))?;
            requirement::print(&requirements);
            Ok(())
        }
        ["load", address, streams, deltas] => {
            runtime.block_on(round::load(address.parse()?, streams.parse()?, deltas.parse()?))
        }
        [] => runtime.block_on(all(ROUNDS)),
        [rounds] => runtime.block_on(all(rounds.parse()?)),
        _ => Err("usage: [ROUNDS] [program AGCORE] [serve DATABASE] [floor RUNS] [load ADDRESS STREAMS DELTAS]".into()),
    }
}

async fn all(rounds: usize) -> Fallible {
    println!("# The server beside bare axum handlers\n");
    let mut requirements: Vec<Requirement> = Vec::new();
    for job in [Job::Deltas, Job::Tail] {
        requirements.extend(job.compare(rounds).await?);
    }
    match env::var_os("AGCORE_PROGRAM") {
        Some(program) => requirements.extend(program::measure(Path::new(&program)).await?),
        None => println!("The program was not measured: set AGCORE_PROGRAM to the path of `agcore`.\n"),
    }
    requirement::print(&requirements);
    Ok(())
}

//! Compares the cost of turns, tool loops, streams and long histories with hand-written clients.
//!
//! `cargo bench -p agcore-benches` runs all jobs, `cargo bench -p agcore-benches -- turn stream` runs only the named ones.
//! Each client runs in its own process, against a server in another process. The runs of the clients of a job alternate, and
//! their medians are compared. See `benches/README.md`.

#![expect(clippy::print_stdout, clippy::exit, reason = "a benchmark prints its results")]

mod alloc;
mod canned;
mod client;
mod clock;
mod core;
mod figures;
mod job;
mod limit;
mod memory;
mod report;
mod run;
mod server;

use std::{env, error::Error, process};

type Fallible<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

fn main() {
    // Cargo adds the argument `--bench`.
    let arguments: Vec<String> = env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match arguments[..] {
        ["serve", core] => server::serve(core.parse().ok()),
        ["client", job, client, url, core] => run::client(job, client, url, core.parse().ok()),
        ref jobs => run::jobs(jobs),
    };
    if let Err(error) = result {
        println!("failed: {error}");
        process::exit(1);
    }
}

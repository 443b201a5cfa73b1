//! What a turn, a loop of tools, a stream and a long history cost beside hand-written clients.
//!
//! `cargo bench -p agcore-benches` runs all jobs, `cargo bench -p agcore-benches -- turn stream` only these. Each client
//! runs in a process of its own, against a server in another; the runs of the clients of a job alternate, and medians are
//! compared. See the README beside this file's folder.

#![expect(clippy::print_stdout, clippy::exit, reason = "a bench prints what it measured")]

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
    // Cargo itself adds `--bench`.
    let arguments: Vec<String> = env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let ran = match arguments[..] {
        ["serve", core] => server::serve(core.parse().ok()),
        ["client", job, who, url, core] => run::client(job, who, url, core.parse().ok()),
        ref jobs => run::jobs(jobs),
    };
    if let Err(error) = ran {
        println!("failed: {error}");
        process::exit(1);
    }
}

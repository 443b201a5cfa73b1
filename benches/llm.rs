//! Compares the cost of turns, tool loops, streams and long histories with hand-written clients.
//!
//! `cargo bench -p agcore-benches` runs all jobs, `cargo bench -p agcore-benches -- turn stream` only the named ones. Each
//! client runs in its own process, against a server in another process. See `benches/README.md`.

use agcore_benches::{job::Suite, jobs, limit, program};

fn main() {
    program::main(&Suite {
        jobs: jobs::ALL,
        limits: limit::LIMITS,
    });
}

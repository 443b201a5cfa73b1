//! Measures what agcore costs: canned servers, hand-written clients to compare it with, and the jobs of the benchmarks.
//!
//! The bench `llm` runs these jobs. The package in `peers/` adds other clients to them and is built with the profiles of users.

#![expect(clippy::print_stdout, clippy::exit, reason = "a benchmark prints its results")]

mod fallible;
pub mod alloc;
pub mod clock;
pub mod core;
pub mod memory;
pub mod figures;
pub mod limit;
pub mod canned;
pub mod server;
pub mod client;
pub mod job;
pub mod jobs;
pub mod report;
pub mod run;
pub mod valgrind;
pub mod count;
pub mod program;

pub use fallible::Fallible;

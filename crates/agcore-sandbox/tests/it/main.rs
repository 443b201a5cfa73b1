//! Tests of the public API, one module per topic.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::undocumented_unsafe_blocks,
    missing_docs,
    reason = "tests fail by panicking, print what they skip, read variables of their parent, and make system calls that must fail"
)]

#[cfg(target_os = "linux")]
mod attempt;
#[cfg(target_os = "linux")]
mod files;
#[cfg(target_os = "linux")]
mod kernel;
#[cfg(target_os = "linux")]
mod network;
#[cfg(target_os = "linux")]
mod other_processes;
#[cfg(target_os = "linux")]
mod escapes;
#[cfg(target_os = "linux")]
mod limits;
#[cfg(target_os = "linux")]
mod everyday;

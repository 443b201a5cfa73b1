//! Integration tests for flows.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests assert by panicking"
)]

mod checkpoints;
mod crash;
mod engine;
mod files;
mod forks;
mod graph;
mod graph_files;
mod interrupts;
#[cfg(feature = "objects")]
mod objects;
mod pictures;
mod planner;
mod planner_flow;
mod planner_rules;
mod planner_setup;
mod router;
mod shape_crash;
mod shapes;
mod staged;
mod subflows;
mod support;
mod todos;

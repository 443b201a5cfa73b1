//! Integration tests for flows of agents.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests assert by panicking"
)]

mod crash;
mod files;
mod graph_files;
#[cfg(feature = "objects")]
mod objects;
mod planner;
mod planner_flow;
mod planner_rules;
mod planner_setup;
mod router;
mod shape_crash;
mod shapes;
mod staged;
mod support;
mod todos;

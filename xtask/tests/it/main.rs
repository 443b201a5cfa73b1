//! The commands on small workspaces: an intact one passes, and each check fails on one that is broken in that respect.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod commits;
mod examples;
mod fixture;
mod generate;
mod graph;
mod prose;
mod stages;
mod tidy;

//! The commands on small workspaces: a sound one passes, and each check is
//! shown to fail on one that is broken in that respect.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod fixture;
mod graph;
mod stages;
mod tidy;

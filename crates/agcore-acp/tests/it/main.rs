//! Tests of the door: an editor, written by hand so that it can also break the rules, and a host with a scripted model.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests fail by panicking"
)]

mod support;

mod calls;
mod files;
mod gone;
mod permissions;
mod prompts;
mod sessions;
mod translation;

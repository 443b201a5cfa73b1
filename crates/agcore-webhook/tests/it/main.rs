//! Tests webhooks, the signatures of messages and the states of messages after attempts.

#![allow(clippy::panic, clippy::unwrap_used, reason = "tests fail by panicking")]

mod bodies;
mod incoming;
mod kept;
mod payloads;
mod retries;
mod signatures;
mod webhooks;

use agcore_webhook::{SigningSecret, Timestamp};

/// Reads a time.
#[track_caller]
fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn secret(byte: u8) -> SigningSecret {
    SigningSecret::new([byte; 32]).unwrap()
}

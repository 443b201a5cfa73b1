//! The program as its users run it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test says what it expects by failing"
)]

mod support;

mod bad_server;
mod bad_settings;
mod demo;
mod help;
mod input;
mod inspect;
mod output;
mod precedence;
mod tools;

#[cfg(unix)]
mod interrupts;
#[cfg(unix)]
mod terminal;

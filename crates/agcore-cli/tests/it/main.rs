//! The program as its users run it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test says what it expects by failing"
)]

mod support;

#[cfg(unix)]
mod person;

mod bad_server;
mod bad_settings;
mod cassette;
mod config;
mod demo;
mod doctor;
mod help;
mod input;
mod log;
mod inspect;
mod models;
mod output;
mod permissions;
mod precedence;
mod stream;
mod tools;
mod tools_command;
mod wires;

#[cfg(feature = "otel")]
mod otel;

#[cfg(unix)]
mod asked;
#[cfg(unix)]
mod commands;
#[cfg(unix)]
mod compact;
#[cfg(unix)]
mod edited;
#[cfg(unix)]
mod history;
#[cfg(unix)]
mod interrupts;
#[cfg(unix)]
mod shown;
#[cfg(unix)]
mod terminal;

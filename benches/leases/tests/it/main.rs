//! Small simulations: with stores that are right, and with defects that must be found.

#![allow(
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "tests fail by panicking, and print what was found"
)]

mod defects;
mod defective;
mod safety;
mod small;

//! Stores and logs of processes that are killed in the middle of a run.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "the tests read variables, and report what they did"
)]

mod log;
mod store;

pub(crate) use self::{
    log::calls,
    store::{RUN, Stores, block_on, need_server},
};

pub(crate) fn is_soak() -> bool {
    std::env::var_os("AGCORE_SOAK").is_some()
}

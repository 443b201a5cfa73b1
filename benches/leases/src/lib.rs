//! A simulation of workers that share runs, with failures: workers that are killed or stopped, answers that are lost, clocks that
//! are wrong, and runs that kill their workers.
//!
//! Only the workers and the clock are simulated. What decides is the code of a store, which is used through
//! [`RunLeases`](agcore_session::RunLeases) and [`SessionWriter`](agcore_session::SessionWriter). Every answer is compared with
//! what it must be.

#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]

#[path = "../../store/measure.rs"]
#[allow(dead_code, reason = "the bench `store` uses all of it")]
mod measure;
mod random;
mod events;
mod run;
mod worker;
pub mod scenario;
pub mod figures;
mod call;
pub mod subject;
pub mod judge;
mod arrivals;
mod world;
mod report;
mod requirement;
mod cost;
pub mod program;

pub use self::{
    report::{Outcome, requirements},
    requirement::Requirement,
    world::simulate,
};

/// A result whose error only needs to be printed.
pub type Fallible<T = ()> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

//! Compaction: when a conversation is made shorter, what is taken out, and how a model is asked for a summary.
//!
//! Pure functions; the cycle does what they plan. What of it is asked for, and when, is in [`CompactionSettings`].

mod gauge;
mod plan;
mod report;
mod request;
mod settings;
mod transcript;

pub use report::CompactionReport;
pub use settings::CompactionSettings;

pub(crate) use gauge::Gauge;
pub(crate) use plan::{Plan, Pressure, Task};
pub(crate) use request::SummaryRequest;

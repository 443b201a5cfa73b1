//! Compaction: when a conversation is shortened, which parts are removed, and how a model is asked for a summary.
//!
//! Everything here is pure; the driver executes the plans.

pub(crate) mod report;
pub(crate) mod settings;

mod gauge;
mod plan;
mod request;
mod tool_tokens;
mod transcript;

pub(crate) use gauge::Gauge;
pub(crate) use plan::{Plan, Pressure, Task};
pub(crate) use report::CompactionReport;
pub(crate) use request::SummaryRequest;
pub(crate) use settings::CompactionSettings;
pub(crate) use tool_tokens::ToolTokens;

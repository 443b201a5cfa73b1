//! Spans and numbers of requests and runs, for operators.

mod metrics;
pub(crate) mod span;

pub(crate) use metrics::{Metrics, MetricsText};

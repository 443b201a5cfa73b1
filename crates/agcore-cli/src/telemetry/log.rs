//! The log: spans and events of agcore's own crates as lines on standard error.

use std::io;

use tracing_subscriber::{
    Layer, Registry,
    filter::{LevelFilter, Targets},
    fmt::{self, format::FmtSpan},
};

use crate::args::LogLevel;

/// What the names of our crates begin with. Others are left out: what they log may hold headers, and so keys.
pub(super) const OURS: &str = "agcore";

/// Writes a line for each event, and for each span when it ends.
pub(super) fn layer(level: LogLevel) -> Box<dyn Layer<Registry> + Send + Sync> {
    let lines = fmt::layer()
        .with_writer(io::stderr)
        .with_ansi(false)
        .with_span_events(FmtSpan::CLOSE);
    let ours = Targets::new().with_target(OURS, filter(level));
    Box::new(lines.with_filter(ours))
}

fn filter(level: LogLevel) -> LevelFilter {
    match level {
        LogLevel::Off => LevelFilter::OFF,
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Trace => LevelFilter::TRACE,
    }
}

//! The log: spans and events of agcore's crates, as lines on standard error.

use std::io;

use tracing_subscriber::{
    Layer, Registry,
    filter::{LevelFilter, Targets},
    fmt::{self, format::FmtSpan},
};

use crate::args::LogLevel;

/// The prefix of agcore's crate names. Other crates are not logged: their events may contain headers, and therefore keys.
pub(super) const TARGET_PREFIX: &str = "agcore";

/// Writes a line for each event and, when it ends, for each span.
pub(super) fn layer(level: LogLevel) -> Box<dyn Layer<Registry> + Send + Sync> {
    let lines = fmt::layer()
        .with_writer(io::stderr)
        .with_ansi(false)
        .with_span_events(FmtSpan::CLOSE);
    let ours = Targets::new().with_target(TARGET_PREFIX, filter(level));
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

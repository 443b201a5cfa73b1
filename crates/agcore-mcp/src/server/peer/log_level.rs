//! [`LogLevel`]: the lowest severity of log messages that a client wants.
#![expect(deprecated, reason = "logging is part of the revisions up to 2025-11-25")]

use std::sync::atomic::{AtomicU8, Ordering};

use rmcp::model::LoggingLevel;

/// The lowest severity of log messages that a client wants.
#[derive(Debug)]
pub(in crate::server) struct LogLevel(AtomicU8);

impl Default for LogLevel {
    fn default() -> Self {
        Self(rank(LoggingLevel::Info).into())
    }
}

impl LogLevel {
    /// Creates the level of a request without a session, which has to name one to get messages.
    pub(super) fn of_request(level: Option<LoggingLevel>) -> Self {
        Self(level.map_or(u8::MAX, rank).into())
    }

    pub(in crate::server) fn set(&self, level: LoggingLevel) {
        self.0.store(rank(level), Ordering::Relaxed);
    }

    /// Returns whether the client wants messages of a severity.
    pub(super) fn includes(&self, level: LoggingLevel) -> bool {
        rank(level) >= self.0.load(Ordering::Relaxed)
    }
}

/// Returns the place of a severity in the order of the protocol.
fn rank(level: LoggingLevel) -> u8 {
    match level {
        LoggingLevel::Debug => 0,
        LoggingLevel::Info => 1,
        LoggingLevel::Notice => 2,
        LoggingLevel::Warning => 3,
        LoggingLevel::Error => 4,
        LoggingLevel::Critical => 5,
        LoggingLevel::Alert => 6,
        LoggingLevel::Emergency => 7,
    }
}

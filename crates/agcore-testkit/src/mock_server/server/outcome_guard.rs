//! [`OutcomeGuard`]: records the outcome of a request exactly once.

use crate::mock_server::{
    request::Outcome,
    server::{request_log::RequestLog, shutdown::ShutdownSignal},
};

/// Records the outcome of a request exactly once. If it is dropped before an outcome was recorded, the client has
/// disconnected or the server has shut down.
#[derive(Debug)]
pub(crate) struct OutcomeGuard {
    number: usize,
    log: RequestLog,
    shutdown: ShutdownSignal,
    recorded: bool,
}

impl OutcomeGuard {
    pub(crate) fn new(number: usize, log: RequestLog, shutdown: ShutdownSignal) -> Self {
        Self {
            number,
            log,
            shutdown,
            recorded: false,
        }
    }

    /// Records the outcome, unless one has been recorded before.
    pub(crate) fn record(&mut self, outcome: Outcome) {
        if !self.recorded {
            self.recorded = true;
            self.log.set_outcome(self.number, outcome);
        }
    }
}

impl Drop for OutcomeGuard {
    fn drop(&mut self) {
        self.record(if self.shutdown.is_triggered() {
            Outcome::ServerClosed
        } else {
            Outcome::Disconnected
        });
    }
}

//! The duty to say what became of a request.

use super::closing::Closing;
use super::log::Log;
use super::request::Outcome;

/// Says once what became of a request: by the one who plays the reply, or, when that one is dropped before, that the
/// client left or the server closed.
#[derive(Debug)]
pub(crate) struct Ticket {
    number: usize,
    log: Log,
    closing: Closing,
    settled: bool,
}

impl Ticket {
    pub(crate) fn new(number: usize, log: Log, closing: Closing) -> Self {
        Self {
            number,
            log,
            closing,
            settled: false,
        }
    }

    pub(crate) fn settle(&mut self, outcome: Outcome) {
        if !self.settled {
            self.settled = true;
            self.log.settle(self.number, outcome);
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let closed = self.closing.is_told();
        self.settle(if closed {
            Outcome::ServerClosed
        } else {
            Outcome::Disconnected
        });
    }
}

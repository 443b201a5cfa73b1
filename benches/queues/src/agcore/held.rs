//! [`Held`]: a lease, with the time at which its worker has to stop.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use agcore_session::{Lease, Renewal};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

/// The part of a lease that is not used, as in agcore-server.
const MARGIN: u32 = 10;

/// A lease that a worker has.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) lease: Lease,
    until: Mutex<Instant>,
    lost: CancellationToken,
}

impl Held {
    /// Takes a lease that was asked for at a moment.
    pub(super) fn new(lease: Lease, asked: Instant) -> Self {
        let until = asked + usable(lease.remaining);
        Self {
            lease,
            until: Mutex::new(until),
            lost: CancellationToken::new(),
        }
    }

    /// Takes over the answer to a renewal that was asked for at a moment.
    pub(super) fn renewed(&self, renewal: Renewal, asked: Instant) {
        match renewal {
            Renewal::Held { remaining, .. } => {
                *self.until.lock().unwrap_or_else(PoisonError::into_inner) = asked + usable(remaining);
            }
            Renewal::Lost => self.lost.cancel(),
        }
    }

    /// Returns whether the lease has ended.
    pub(super) fn is_over(&self) -> bool {
        self.lost.is_cancelled() || self.end() <= Instant::now()
    }

    /// Waits for the end of the lease.
    pub(super) async fn over(&self) {
        while !self.is_over() {
            tokio::select! {
                () = self.lost.cancelled() => {}
                () = sleep_until(self.end()) => {}
            }
        }
    }

    fn end(&self) -> Instant {
        *self.until.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn usable(remaining: Duration) -> Duration {
    remaining - remaining / MARGIN
}

//! [`Pause`]: measures how long a call waits for people, which counts towards neither its timeout nor its duration.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use agcore_chat::Clock;
use tokio::sync::Notify;

/// The time that a call has spent waiting for people.
#[derive(Debug, Default)]
pub(crate) struct Pause {
    /// Whether the call has ever waited. Written under the lock, and read without it: most calls never do.
    has_waited: AtomicBool,
    state: Mutex<State>,
    ended: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// The number of waits in progress. They may nest and overlap.
    waits: usize,
    /// When the first of the waits in progress started.
    since: Duration,
    /// The total of the waits that have ended.
    total: Duration,
}

impl Pause {
    /// Starts a wait.
    pub(crate) fn begin(&self, now: Duration) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.waits == 0 {
            state.since = now;
            self.has_waited.store(true, Ordering::Release);
        }
        state.waits += 1;
    }

    /// Ends a wait.
    pub(crate) fn end(&self, now: Duration) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.waits = state.waits.saturating_sub(1);
        if state.waits == 0 {
            let waited = now.saturating_sub(state.since);
            state.total += waited;
            drop(state);
            self.ended.notify_waiters();
        }
    }

    /// Returns the total up to `now`, including a wait in progress.
    pub(crate) fn total(&self, now: Duration) -> Duration {
        if !self.has_waited.load(Ordering::Acquire) {
            return Duration::ZERO;
        }
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.waits == 0 {
            state.total
        } else {
            state.total + now.saturating_sub(state.since)
        }
    }

    /// Waits until no wait is in progress.
    pub(crate) async fn ended(&self) {
        loop {
            let ended = self.ended.notified();
            tokio::pin!(ended);
            // Registers before the check, so that a wait that ends in between is not missed.
            ended.as_mut().enable();
            if self.state.lock().unwrap_or_else(PoisonError::into_inner).waits == 0 {
                return;
            }
            ended.await;
        }
    }
}

/// Ends a pause on drop.
pub(super) struct PauseGuard<'a> {
    pause: &'a Pause,
    clock: &'a Arc<dyn Clock>,
}

impl<'a> PauseGuard<'a> {
    /// Creates a guard of a pause that has started.
    pub(super) fn new(pause: &'a Pause, clock: &'a Arc<dyn Clock>) -> Self {
        Self { pause, clock }
    }
}

impl Drop for PauseGuard<'_> {
    fn drop(&mut self) {
        self.pause.end(self.clock.monotonic());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn counts_overlapping_waits_once() {
        let pause = Pause::default();
        pause.begin(ms(10));
        pause.begin(ms(20));
        assert_eq!(pause.total(ms(25)), ms(15));
        pause.end(ms(30));
        pause.end(ms(40));
        assert_eq!(pause.total(ms(100)), ms(30));
        pause.begin(ms(100));
        pause.end(ms(105));
        assert_eq!(pause.total(ms(200)), ms(35));
    }
}

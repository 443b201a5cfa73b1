//! [`Pause`]: the time of a call during which a person is waited for; it counts in no timeout and no duration.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::sync::Notify;

/// How long a call has waited for people.
#[derive(Debug, Default)]
pub(crate) struct Pause {
    state: Mutex<State>,
    ended: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// Waits that are going on; they may nest and overlap.
    waits: usize,
    /// When the first of them began.
    since: Duration,
    /// All that have ended.
    total: Duration,
}

impl Pause {
    /// A wait begins.
    pub(crate) fn begin(&self, now: Duration) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.waits == 0 {
            state.since = now;
        }
        state.waits += 1;
    }

    /// A wait ends.
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

    /// How long was waited up to now.
    pub(crate) fn total(&self, now: Duration) -> Duration {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.waits == 0 {
            state.total
        } else {
            state.total + now.saturating_sub(state.since)
        }
    }

    /// Comes back when nobody is waited for.
    pub(crate) async fn over(&self) {
        loop {
            let ended = self.ended.notified();
            tokio::pin!(ended);
            // From here on no end is missed.
            ended.as_mut().enable();
            if self.state.lock().unwrap_or_else(PoisonError::into_inner).waits == 0 {
                return;
            }
            ended.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn overlapping_waits_count_once() {
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

//! [`Draining`]: a process that claims no more runs because an administrator has asked it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

/// Whether this process claims no more runs because an administrator has asked it, and the runs that it leaves to others then.
pub(crate) struct Draining {
    /// Cancelled when all runs are left to the next process.
    parking: CancellationToken,
    state: Mutex<State>,
}

struct State {
    /// Cancelled when the runs that are executed now are left to other processes.
    runs: CancellationToken,
    /// While this process drains: cancelled when that is taken back.
    undrained: Option<CancellationToken>,
}

impl Draining {
    pub(super) fn new(parking: CancellationToken) -> Self {
        let state = State {
            runs: parking.child_token(),
            undrained: None,
        };
        Self {
            parking,
            state: Mutex::new(state),
        }
    }

    /// Returns the token that is cancelled when a run that begins now is left to another process.
    pub(in crate::service) fn token(&self) -> CancellationToken {
        self.state().runs.clone()
    }

    /// Returns whether this process claims no more runs.
    pub(in crate::service) fn is_draining(&self) -> bool {
        self.state().undrained.is_some()
    }

    /// Begins to drain. Returns a token that is cancelled when that is taken back; `None` if this process drains already.
    pub(in crate::service) fn begin(&self) -> Option<CancellationToken> {
        let mut state = self.state();
        if state.undrained.is_some() {
            return None;
        }
        let undrained = self.parking.child_token();
        state.undrained = Some(undrained.clone());
        Some(undrained)
    }

    /// Ends draining. Returns whether this process did.
    pub(in crate::service) fn end(&self) -> bool {
        let undrained = self.state().undrained.take();
        undrained.map(|undrained| undrained.cancel()).is_some()
    }

    /// Leaves the runs that are executed now to other processes.
    pub(in crate::service) fn park(&self) {
        let next = self.parking.child_token();
        let runs = std::mem::replace(&mut self.state().runs, next);
        runs.cancel();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_runs_of_the_moment_are_left_to_others() {
        let parking = CancellationToken::new();
        let draining = Draining::new(parking.clone());
        let before = draining.token();
        let undrained = draining.begin().unwrap();
        assert!(draining.begin().is_none() && draining.is_draining());
        draining.park();
        assert!(before.is_cancelled() && !undrained.is_cancelled());
        assert!(draining.end() && undrained.is_cancelled() && !draining.end());
        let after = draining.token();
        assert!(!after.is_cancelled() && !draining.is_draining());
        parking.cancel();
        assert!(after.is_cancelled());
    }
}

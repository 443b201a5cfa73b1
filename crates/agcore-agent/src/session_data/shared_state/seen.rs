//! [`SeenState`]: a shared state, and the version of it that the model knows.

use std::sync::{Arc, Mutex, PoisonError};

use super::contract::{SharedState, SharedStateError, StateChange, StateVersion};

/// A shared state, and the newest version of it that the model has seen or made.
pub(super) struct SeenState {
    state: Arc<dyn SharedState>,
    /// `None` until this process has shown one.
    seen: Mutex<Option<u64>>,
}

impl SeenState {
    pub(super) fn new(state: Arc<dyn SharedState>) -> Self {
        Self {
            state,
            seen: Mutex::default(),
        }
    }

    pub(super) async fn read(&self) -> Result<StateVersion, SharedStateError> {
        self.state.read().await
    }

    pub(super) async fn write(&self, base: u64, change: StateChange) -> Result<u64, SharedStateError> {
        let version = self.state.write(base, change).await?;
        self.see(version);
        Ok(version)
    }

    /// Returns whether the model may know a version.
    pub(super) fn is_seen(&self, version: u64) -> bool {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.is_none_or(|seen| seen == version)
    }

    /// Notes that the model knows a version.
    pub(super) fn see(&self, version: u64) {
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = Some(version);
    }
}

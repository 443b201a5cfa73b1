//! The right to drive the session of a run, while the run is executed.

use std::sync::{Arc, PoisonError};

use agcore_memory::{Hold, session::stream_of};

use super::RunLog;

impl RunLog {
    /// Sets the right to drive the session, or gives it back.
    pub(crate) fn set_hold(&self, hold: Option<Arc<Hold>>) {
        *self.hold.lock().unwrap_or_else(PoisonError::into_inner) = hold;
    }

    /// Returns the right to drive the session with this name, if it is the one of the run and is held.
    pub(in crate::log) fn hold_of(&self, name: &str) -> Option<Hold> {
        let (tenant, thread) = self.job.session();
        if name != stream_of(tenant, thread) {
            return None;
        }
        let hold = self.hold.lock().unwrap_or_else(PoisonError::into_inner).clone();
        hold.map(Hold::new)
    }
}

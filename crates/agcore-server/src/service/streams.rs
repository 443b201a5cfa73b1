//! [`StreamPermit`]: the limit of open streams.

use std::sync::Arc;

use agcore_chat::Actor;

use super::state::Service;
use crate::problem::{Problem, ProblemCode};

/// The permission for one stream, which ends when it is dropped.
pub(crate) struct StreamPermit {
    service: Arc<Service>,
    actor: Actor,
}

impl Service {
    /// Permits another stream.
    ///
    /// # Errors
    /// `too_many_streams` if the actor has as many as allowed.
    pub(crate) fn open_stream(self: &Arc<Self>, actor: &Actor) -> Result<StreamPermit, Problem> {
        let mut state = self.active.state();
        let open = state.streams.entry(actor.clone()).or_default();
        if *open >= self.limits.max_streams_per_user {
            let detail = format!("{open} streams are open, which is the limit; close one of them");
            return Err(Problem::new(ProblemCode::TooManyStreams, detail));
        }
        *open += 1;
        drop(state);
        self.metrics.streams.inc();
        Ok(StreamPermit {
            service: Arc::clone(self),
            actor: actor.clone(),
        })
    }
}

impl Drop for StreamPermit {
    fn drop(&mut self) {
        self.service.metrics.streams.dec();
        let mut state = self.service.active.state();
        if let Some(open) = state.streams.get_mut(&self.actor) {
            *open -= 1;
            if *open == 0 {
                state.streams.remove(&self.actor);
            }
        }
    }
}

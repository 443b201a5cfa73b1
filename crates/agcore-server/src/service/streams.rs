//! [`StreamPermit`]: the limit of open streams.

use std::sync::Arc;

use agcore_chat::Actor;

use super::state::Service;
use crate::problem::Problem;

/// The permission for one stream, which ends when it is dropped.
pub(crate) struct StreamPermit {
    service: Arc<Service>,
    actor: Actor,
}

impl Service {
    /// Permits another stream.
    ///
    /// # Errors
    /// `too_many_streams` if the actor or the tenant has as many as allowed.
    pub(crate) fn open_stream(self: &Arc<Self>, actor: &Actor) -> Result<StreamPermit, Problem> {
        self.active.open_stream(actor, &self.limits)?;
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
        self.service.active.close_stream(&self.actor);
    }
}

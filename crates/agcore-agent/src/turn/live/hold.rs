//! The right to drive a session, which a turn has for as long as it runs.

use std::sync::Arc;

use agcore_session::Hold;

use super::LiveSession;
use crate::error::AgentError;

impl LiveSession {
    /// Takes the right to drive the session, for as long as the result is kept. Without a store, there is only this handle.
    ///
    /// # Errors
    /// [`Held`](crate::AgentErrorKind::Held) if another handle drives it.
    pub(crate) async fn hold(&self) -> Result<Option<Arc<Hold>>, AgentError> {
        let Some(recorder) = &self.recorder else {
            return Ok(None);
        };
        let held = recorder.hold().await;
        held.map_err(|error| AgentError::held(&self.id, error))
    }

    /// Takes the right to drive the session for a turn. A turn that `resumes` may run a call again before anything is written, so
    /// that it is checked here that no other handle has continued the session.
    ///
    /// # Errors
    /// [`Held`](crate::AgentErrorKind::Held) if another handle drives it, [`Storage`](crate::AgentErrorKind::Storage) if it was
    /// continued elsewhere.
    pub(crate) async fn hold_for(&self, resumes: bool) -> Result<Option<Arc<Hold>>, AgentError> {
        let hold = self.hold().await?;
        if let (true, Some(recorder)) = (resumes, &self.recorder) {
            recorder.check_is_newest().await?;
        }
        Ok(hold)
    }
}

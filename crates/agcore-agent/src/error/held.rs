//! The error of a session that somebody else drives.

use agcore_session::{Holder, SessionError};

use super::{AgentError, AgentErrorKind, Source};

impl AgentError {
    /// Returns the error of a session that somebody else may drive.
    pub(crate) fn held(session: &str, error: SessionError) -> Self {
        let Some(holder) = error.holder() else {
            return error.into();
        };
        let message = format!(
            "the session `{session}` is in use by {holder}; wait until that turn has ended, or continue in a branch of the session"
        );
        Self::new(AgentErrorKind::Held, message).with_source(Source::Session(error))
    }

    /// Returns who drives the session, if it is [`Held`](AgentErrorKind::Held).
    pub fn holder(&self) -> Option<&Holder> {
        match &self.0.source {
            Some(Source::Session(error)) => error.holder(),
            _ => None,
        }
    }
}

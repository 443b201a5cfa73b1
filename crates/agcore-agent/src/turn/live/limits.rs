//! The limits of a session: its age, the number of its turns, and the size of an input.

use std::time::Duration;

use agcore_chat::Message;
use agcore_cycle::{LlmCycle, TurnInput};

use super::{LiveSession, input::InputLimits};
use crate::error::AgentError;

impl LiveSession {
    /// Checks the message that starts a turn, before anything else happens.
    pub(crate) fn check_input(&self, newest: Option<&Message>) -> Result<(), AgentError> {
        let parts = self.bundle.parts();
        let window = parts.config.compaction.window.context_window;
        let limits = InputLimits {
            max_bytes: parts.config.max_input_bytes,
            max_media_bytes: parts.config.max_media_bytes,
            window: window.or(parts.provider.info().capabilities.context_window),
            estimator: &*parts.settings.base().estimator,
        };
        limits.check(newest)
    }

    /// Checks that the session may have another turn.
    pub(crate) fn check_limits(&self, input: &TurnInput, cycle: &LlmCycle) -> Result<(), AgentError> {
        let config = self.bundle.config();
        if let Some(ttl) = config.session_ttl.filter(|ttl| self.age() >= *ttl) {
            let message = format!(
                "the session is older than session_ttl ({} s); start a new one",
                ttl.as_secs()
            );
            return Err(AgentError::limit(message));
        }
        let starts = matches!(input, TurnInput::Begin(_));
        if let Some(most) = config
            .max_turns
            .filter(|most| starts && cycle.machine().turns() >= *most)
        {
            let message =
                format!("the session has used all {most} turns of max_turns; start a new session, or raise the limit");
            return Err(AgentError::limit(message));
        }
        Ok(())
    }

    /// Returns whether the session is older than it may be.
    pub(crate) fn is_expired(&self) -> bool {
        let ttl = self.bundle.config().session_ttl;
        ttl.is_some_and(|ttl| self.age() >= ttl)
    }

    /// Returns how long ago the session was created.
    fn age(&self) -> Duration {
        let now = self.bundle.parts().clock.now();
        now.duration_since(self.created).unwrap_or_default()
    }
}

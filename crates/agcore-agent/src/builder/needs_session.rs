//! [`NeedsSession`]: explains to users of a builder or a bundle that turns are run by sessions.

use super::AgentBuilder;
use crate::{bundle::RuntimeBundle, turn::AgentTurn};

/// Implemented by nothing, so that the compiler prints the message.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "an agent has no turns before it has a session",
    label = "call `session` before `turn`",
    note = "a conversation is a session: `agcore::agent(model).session()?.turn(\"Hello\")`; a `RuntimeBundle` has \
            `new_session()` and `session(id, agent)`"
)]
pub trait NeedsSession {
    fn into_turn(self) -> AgentTurn;
}

impl AgentBuilder {
    #[doc(hidden)]
    pub fn turn<I: NeedsSession>(self, input: I) -> AgentTurn {
        input.into_turn()
    }
}

impl RuntimeBundle {
    #[doc(hidden)]
    pub fn turn<I: NeedsSession>(&self, input: I) -> AgentTurn {
        input.into_turn()
    }
}

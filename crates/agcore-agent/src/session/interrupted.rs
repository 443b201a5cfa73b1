//! Interrupted turns, and the state that stored sessions write beside their turns.

use agcore_chat::ToolCall;
use agcore_cycle::machine::Step;
use agcore_memory::session::Commit;

use super::AgentSession;
use crate::{error::AgentError, shared::Conversation};

impl AgentSession {
    /// Returns whether a turn is open that neither runs nor waits for a person: its process died, its future was dropped, or its
    /// store failed. [`resume`](Self::resume) without answers continues it, and a new [`turn`](Self::turn) abandons it. Waits for
    /// the running turn.
    pub async fn is_interrupted(&self) -> bool {
        let read = |conversation: &Conversation| {
            let machine = conversation.cycle.machine();
            machine.is_open() && !matches!(machine.next(), Step::Wait(_))
        };
        self.0.conversation.read(read).await
    }

    /// Returns the tool calls that were running when the turn was interrupted: their outcome is unknown. When the turn is
    /// [resumed](Self::resume), those of idempotent and read-only tools run again, with the same id; about each of the others, a
    /// person is asked. Waits for the running turn.
    pub async fn uncertain_calls(&self) -> Vec<ToolCall> {
        let read = |conversation: &Conversation| conversation.cycle.machine().uncertain().cloned().collect();
        self.0.conversation.read(read).await
    }

    /// Writes the state of a stored session, with a commit that belongs to it.
    pub(crate) async fn write_state(&self, commit: Commit) -> Result<(), AgentError> {
        let Some(recorder) = &self.0.recorder else {
            return Ok(());
        };
        let machine = self
            .0
            .conversation
            .read(|conversation| conversation.cycle.machine().clone());
        Ok(recorder.write_state(machine.await, commit).await?)
    }
}

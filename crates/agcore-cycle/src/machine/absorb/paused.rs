//! Replies that the server paused in the middle of a long turn of its own tools.
//!
//! Such a reply is sent back as it is, and the model continues. It waits among the pending messages of the turn, and
//! becomes one message with the reply that continues it.

use std::sync::Arc;

use agcore_chat::{AssistantMessage, FinishReason, Message, TurnEvent};

use crate::machine::{
    changes::Changes,
    end::{End, LimitKind},
    result::{self, Refusal},
    state::Machine,
    step::Purpose,
};

/// Returns whether the server paused a reply, and continues it when it gets the conversation back.
pub(in crate::machine) fn is_paused(finish: Option<&FinishReason>) -> bool {
    finish.is_some_and(FinishReason::is_paused)
}

/// Joins a paused reply and the one that continues it.
pub(in crate::machine) fn joined(
    paused: Option<AssistantMessage>,
    message: Arc<AssistantMessage>,
) -> Arc<AssistantMessage> {
    let Some(mut paused) = paused else { return message };
    let message = Arc::unwrap_or_clone(message);
    paused.blocks.extend(message.blocks);
    Arc::new(AssistantMessage {
        blocks: paused.blocks,
        ..message
    })
}

impl Machine {
    /// Takes the reply that the server paused.
    pub(in crate::machine) fn take_paused(&mut self) -> Option<AssistantMessage> {
        let turn = self.turn.as_mut()?;
        // Input of the caller never ends in a reply.
        turn.pending.last()?.as_assistant()?;
        match Arc::unwrap_or_clone(turn.pending.pop()?) {
            Message::Assistant(reply) => Some(reply),
            _ => None,
        }
    }

    /// Sends a paused reply back, which counts as a round, unless no rounds are left.
    pub(in crate::machine) fn pause(&mut self, reply: Arc<AssistantMessage>, purpose: Purpose, changes: &mut Changes) {
        let Some(turn) = &mut self.turn else { return };
        let refusal = result::refusal(None, turn.wrap_up_limit(purpose), turn.round, &self.limits);
        let limit: Option<LimitKind> = match refusal {
            Some(Refusal::Limit(limit)) => Some(limit),
            _ => None,
        };
        turn.pending
            .push(Arc::new(Message::Assistant(Arc::unwrap_or_clone(reply))));
        if let Some(limit) = limit {
            changes.emit(|| TurnEvent::BudgetReached {
                limit: limit.as_str().into(),
            });
            self.end(End::Limit(limit), changes);
        } else {
            turn.round = turn.round.saturating_add(1);
            turn.call_model(&self.limits);
        }
    }
}

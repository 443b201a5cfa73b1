//! [`CallIds`]: the ids of the calls of a reply while it arrives.

use std::sync::Arc;

use agcore_chat::{Block, ChatResponse, Text, TextEvent};
use agcore_llm::{Fold, ReplyDelta};

use crate::machine::Machine;

/// The final ids of the calls of a reply, decided when each call is first seen: servers repeat ids, change them or
/// leave them out, but all events about a call must contain the same id.
#[derive(Default)]
pub(super) struct CallIds(Vec<Text>);

impl CallIds {
    /// Returns the id of the call at this position.
    fn id(&mut self, at: usize, fold: &Fold, machine: &Machine) -> Option<Text> {
        while self.0.len() <= at {
            let (id, _) = fold.call(0, self.0.len())?;
            let id = match machine.final_call_id(id, &self.0) {
                Some(id) => id.into(),
                None => Text::from(id),
            };
            self.0.push(id);
        }
        self.0.get(at).cloned()
    }

    /// Converts a delta into an event. `call` is the index of the tool call that it belongs to.
    pub(super) fn event(
        &mut self,
        delta: ReplyDelta,
        call: Option<usize>,
        fold: &Fold,
        machine: &Machine,
    ) -> Option<TextEvent> {
        match delta {
            ReplyDelta::Text { choice: 0, text } => Some(TextEvent::Text(text)),
            ReplyDelta::Reasoning { choice: 0, text } => Some(TextEvent::Reasoning(text)),
            ReplyDelta::Refusal { choice: 0, text } => Some(TextEvent::Refusal(text)),
            ReplyDelta::Call { choice: 0, fragment } => {
                let call = call?;
                let (_, name) = fold.call(0, call)?;
                Some(TextEvent::ToolArguments {
                    index: u32::try_from(call).unwrap_or(u32::MAX),
                    call_id: self.id(call, fold, machine)?,
                    name: Text::from(name),
                    arguments: fragment.input.unwrap_or_default(),
                })
            }
            ReplyDelta::Restart => {
                self.clear();
                None
            }
            _ => None,
        }
    }

    /// Decides the id of the call that a delta belongs to, like [`event`](Self::event).
    pub(super) fn decide(&mut self, delta: &ReplyDelta, call: Option<usize>, fold: &Fold, machine: &Machine) {
        match delta {
            ReplyDelta::Call { choice: 0, .. } => drop(call.and_then(|call| self.id(call, fold, machine))),
            ReplyDelta::Restart => self.clear(),
            _ => {}
        }
    }

    /// Another attempt starts.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Gives the calls of the complete reply their ids.
    pub(super) fn apply(&self, response: &mut ChatResponse) {
        let Some(choice) = response.choices.first_mut() else {
            return;
        };
        let calls = choice.message.blocks.iter_mut().filter_map(|block| match block {
            Block::Call(call) => Some(call),
            _ => None,
        });
        for (call, id) in calls.zip(&self.0).filter(|(call, id)| **id != *call.id) {
            Arc::make_mut(call).id = id.as_str().to_owned();
        }
    }
}

//! The answer of a typed turn: finding, accepting and rejecting it.

use std::sync::Arc;

use agcore_chat::{AssistantMessage, Fault, SchemaViolation, ToolResult};

use super::{Phase, Turn};
use crate::machine::{
    changes::Changes,
    end::End,
    outcome::{expectation::Draft, limits::Limits},
    result,
    slot::SlotState,
};

impl Turn {
    /// Returns the answer to check.
    pub(in crate::machine) fn draft(&self) -> Option<Draft<'_>> {
        match &self.phase {
            Phase::Checking { reply, is_cut } => Some(Draft {
                reply,
                call: None,
                is_cut: *is_cut,
            }),
            Phase::Acting { reply, slots } => slots.iter().find_map(|slot| match slot.state {
                SlotState::Checking { is_cut } => Some(Draft {
                    reply,
                    call: Some(&slot.call),
                    is_cut,
                }),
                _ => None,
            }),
            _ => None,
        }
    }

    /// Returns a reply without calls that has to be checked. It is not yet part of the history.
    pub(in crate::machine) fn unchecked(&self) -> Option<Arc<AssistantMessage>> {
        match &self.phase {
            Phase::Checking { reply, .. } => Some(Arc::clone(reply)),
            _ => None,
        }
    }

    /// Settles the call whose arguments are the answer.
    fn settle_draft(&mut self, result: ToolResult, changes: &mut Changes) {
        let mut slots = self.slots_mut().iter_mut();
        if let Some(slot) = slots.find(|slot| matches!(slot.state, SlotState::Checking { .. })) {
            slot.settle(result, changes);
        }
    }

    /// Accepts the answer in a call.
    pub(in crate::machine) fn accept_call(&mut self, changes: &mut Changes) {
        self.settle_draft(ToolResult::new("The answer was accepted."), changes);
        // The other calls of the reply are not needed any more.
        for slot in self.slots_mut() {
            slot.give_up_for(result::ANSWERED, changes);
        }
        self.close_with(End::Answered);
    }

    /// Rejects the answer. The model is asked again, or the turn ends if it has used up its repairs.
    pub(in crate::machine) fn reject(
        &mut self,
        violations: &[SchemaViolation],
        limits: &Limits,
        changes: &mut Changes,
    ) -> Option<Fault> {
        let hint = result::repair_hint(violations, self.answering_tool());
        let typed = self.typed.as_mut()?;
        let fault = if typed.repairs < typed.expectation.max_repairs {
            typed.repairs += 1;
            None
        } else {
            Some(result::rejected_answer(typed.repairs, violations))
        };
        if self.unchecked().is_none() {
            self.settle_draft(ToolResult::error(hint), changes);
        } else if fault.is_none() {
            self.call_model(limits);
            self.pending.push(Arc::new(result::hint(hint)));
        }
        fault
    }
}

//! Absorbing verdicts on typed output.

use std::sync::Arc;

use agcore_chat::{AssistantMessage, Fault, FaultKind, FinishReason, Message, SchemaViolation, ToolCall, ToolResult};

use super::{
    changes::{Changes, MachineError},
    end::End,
    expectation::{Draft, Expectation, Verdict},
    result::{self, ANSWERED, Refusal},
    state::Machine,
    step::Purpose,
    turn::{Phase, Slot, SlotState, Typed},
};
use crate::typed::OutputMode;

impl Machine {
    /// Returns what the open turn expects of its answer, if it is a typed one.
    pub fn expectation(&self) -> Option<&Expectation> {
        self.typed().map(|typed| &typed.expectation)
    }

    /// Returns how many times the answer of the newest turn was sent back for correction.
    pub fn repairs(&self) -> u32 {
        let typed = self.turn.as_ref().and_then(|turn| turn.typed.as_ref());
        typed.map_or(0, |typed| typed.repairs)
    }

    /// Returns how the model was asked for the answer of the newest turn, if it is a typed one.
    pub fn output_mode(&self) -> Option<OutputMode> {
        Some(self.turn.as_ref()?.typed.as_ref()?.expectation.mode)
    }

    fn typed(&self) -> Option<&Typed> {
        self.open_turn()?.typed.as_ref()
    }

    /// Returns the answer to check.
    pub(super) fn draft(&self) -> Option<Draft<'_>> {
        match &self.turn.as_ref()?.phase {
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

    /// Creates the slots for the calls of a reply. The first call of the answering tool is the answer.
    pub(super) fn slots_of(
        &self,
        message: &AssistantMessage,
        finish: Option<&FinishReason>,
        refusal: Option<&Refusal>,
        changes: &mut Changes,
    ) -> Vec<Slot> {
        let tool = self.expectation().and_then(Expectation::answering_tool);
        let filtered = finish == Some(&FinishReason::ContentFilter);
        let mut is_answered = false;
        let slot = |call: &Arc<ToolCall>| {
            if Some(call.name.as_str()) != tool || filtered {
                Slot::new(Arc::clone(call), refusal, changes)
            } else if std::mem::replace(&mut is_answered, true) {
                Slot::refused(Arc::clone(call), result::ONE_ANSWER, changes)
            } else {
                Slot::checking(Arc::clone(call), finish == Some(&FinishReason::Length))
            }
        };
        message.shared_calls().map(slot).collect()
    }

    /// Returns the fault if the answer of a typed turn is in a call that a content filter cut off.
    pub(super) fn filtered_answer(&self, message: &AssistantMessage, finish: Option<&FinishReason>) -> Option<Fault> {
        let tool = self.expectation().and_then(Expectation::answering_tool)?;
        let is_filtered = finish == Some(&FinishReason::ContentFilter);
        let answers = || message.tool_calls().any(|call| call.name == tool);
        (is_filtered && answers()).then(|| declined(message, finish)).flatten()
    }

    /// Handles a reply without calls, which is the answer: at once, or after it was checked.
    pub(super) fn answered(
        &mut self,
        message: Arc<AssistantMessage>,
        finish: Option<&FinishReason>,
        changes: &mut Changes,
    ) {
        let is_typed = self.typed().is_some();
        let declined = declined(&message, finish).filter(|_| is_typed);
        match &mut self.turn {
            Some(turn) if is_typed && declined.is_none() => {
                turn.phase = Phase::Checking {
                    reply: message,
                    is_cut: finish == Some(&FinishReason::Length),
                };
            }
            _ => {
                self.append_shared(message, changes);
                self.end(declined.map_or(End::Answered, End::Failed), changes);
            }
        }
    }

    pub(super) fn verdict(&mut self, verdict: Verdict, changes: &mut Changes) -> Result<(), MachineError> {
        if self.draft().is_none() || self.summing.is_some() {
            return Err(MachineError::NotWaitingFor("a verdict on typed output"));
        }
        match verdict {
            Verdict::Accepted => self.accept(changes),
            Verdict::Rejected(faults) => self.reject(&faults, changes),
        }
        Ok(())
    }

    fn accept(&mut self, changes: &mut Changes) {
        if let Some(reply) = self.unchecked() {
            self.append_shared(reply, changes);
            self.end(End::Answered, changes);
            return;
        }
        self.settle_draft(ToolResult::new("The answer was accepted."), changes);
        // Nobody waits for the other calls of the reply.
        for slot in self.slots_mut() {
            slot.give_up_for(ANSWERED, changes);
        }
        self.close_with(End::Answered);
        self.close_round(changes);
    }

    fn reject(&mut self, faults: &[SchemaViolation], changes: &mut Changes) {
        let Some(typed) = self.turn.as_mut().and_then(|turn| turn.typed.as_mut()) else {
            return;
        };
        let failed = (typed.repairs >= typed.expectation.max_repairs).then(|| rejected_answer(typed.repairs, faults));
        if failed.is_none() {
            typed.repairs += 1;
        }
        let by_tool = typed.expectation.answering_tool().map(str::to_owned);
        let hint = result::repair_hint(faults, by_tool.as_deref());
        if let Some(reply) = self.unchecked() {
            self.append_shared(reply, changes);
            match failed {
                Some(fault) => self.end(End::Failed(fault), changes),
                None => self.ask_again(result::hint(hint)),
            }
            return;
        }
        self.settle_draft(ToolResult::error(hint), changes);
        if let Some(fault) = failed {
            self.give_up(|_| true, changes);
            self.close_with(End::Failed(fault));
        }
        self.close_round(changes);
    }

    fn ask_again(&mut self, hint: Message) {
        let over = self.rounds_are_over(self.round());
        let Some(turn) = &mut self.turn else { return };
        let is_last = over || turn.wraps_up.is_some();
        turn.phase = Phase::Calling(if is_last { Purpose::WrapUp } else { Purpose::Reply });
        turn.pending.push(Arc::new(hint));
    }

    fn settle_draft(&mut self, result: ToolResult, changes: &mut Changes) {
        let mut slots = self.slots_mut().iter_mut();
        if let Some(slot) = slots.find(|slot| matches!(slot.state, SlotState::Checking { .. })) {
            slot.settle(result, 0, changes);
        }
    }

    /// Returns a reply without calls that has to be checked. It is not yet part of the history.
    pub(super) fn unchecked(&self) -> Option<Arc<AssistantMessage>> {
        match &self.turn.as_ref()?.phase {
            Phase::Checking { reply, .. } => Some(Arc::clone(reply)),
            _ => None,
        }
    }

    /// Changes the way the model is asked, because the provider refused the current one.
    pub(super) fn recast(&mut self, mode: OutputMode) -> Result<(), MachineError> {
        if self.calling().is_none() {
            return Err(MachineError::NotWaitingFor("another way to ask for the answer"));
        }
        match self.turn.as_mut().and_then(|turn| turn.typed.as_mut()) {
            Some(typed) => {
                typed.expectation.mode = mode;
                Ok(())
            }
            None => Err(MachineError::NotWaitingFor("another way to ask: the turn is not typed")),
        }
    }
}

/// Returns the fault if a reply can never be an answer.
fn declined(message: &AssistantMessage, finish: Option<&FinishReason>) -> Option<Fault> {
    let words = if finish == Some(&FinishReason::ContentFilter) {
        "the model's answer was cut off by a content filter, so there is no value; rephrase the request"
    } else if message.refusal_text().is_some() {
        "the model refused to answer, so there is no value; its explanation is the last message of the history"
    } else {
        return None;
    };
    Some(Fault::new(FaultKind::ContentFilter, words))
}

/// Returns the fault for a last answer that does not fit. It contains only paths, because messages may quote the model.
fn rejected_answer(repairs: u32, faults: &[SchemaViolation]) -> Fault {
    let paths: Vec<&str> = faults.iter().map(|fault| fault.path.as_str()).collect();
    let message = format!(
        "the model's answer does not fit its schema (at {}), and {repairs} repairs did not help; allow more repairs, simplify \
         the type, or use another model",
        paths.join(", ")
    );
    Fault::new(FaultKind::Malformed, message)
}

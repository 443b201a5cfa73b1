//! Absorbs verdicts on typed output.

use std::sync::Arc;

use agcore_chat::{AssistantMessage, FinishReason, SchemaViolation};

use super::{
    changes::{Changes, MachineError},
    end::End,
    outcome::expectation::{Draft, Expectation, Verdict},
    result,
    state::Machine,
    turn::{Phase, Turn, Typed},
};
use crate::typed::OutputMode;

impl Machine {
    /// Returns what the open turn expects of its answer, if it is a typed one.
    pub fn expectation(&self) -> Option<&Expectation> {
        self.open_turn()?.typed.as_ref().map(|typed| &typed.expectation)
    }

    /// Returns how many times the answer of the newest turn was sent back for correction.
    pub fn repairs(&self) -> u32 {
        self.typed().map_or(0, |typed| typed.repairs)
    }

    /// Returns how the model was asked for the answer of the newest turn, if it is a typed one.
    pub fn output_mode(&self) -> Option<OutputMode> {
        self.typed().map(|typed| typed.expectation.mode)
    }

    fn typed(&self) -> Option<&Typed> {
        self.turn.as_ref()?.typed.as_deref()
    }

    pub(super) fn draft(&self) -> Option<Draft<'_>> {
        self.turn.as_deref().and_then(Turn::draft)
    }

    /// Handles a reply without calls, which is the answer: at once, or after it was checked.
    pub(super) fn answered(
        &mut self,
        message: Arc<AssistantMessage>,
        finish: Option<&FinishReason>,
        changes: &mut Changes,
    ) {
        let is_typed = self.expectation().is_some();
        let declined = result::declined(&message, finish).filter(|_| is_typed);
        match &mut self.turn {
            Some(turn) if is_typed && declined.is_none() => {
                turn.phase = Phase::Checking {
                    reply: message,
                    is_cut: finish == Some(&FinishReason::Length),
                };
            }
            _ => {
                self.append_reply(message, changes);
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
            Verdict::Rejected(violations) => self.reject(&violations, changes),
        }
        Ok(())
    }

    fn accept(&mut self, changes: &mut Changes) {
        let Some(turn) = &mut self.turn else { return };
        if let Some(reply) = turn.unchecked() {
            self.append_reply(reply, changes);
            self.end(End::Answered, changes);
        } else {
            turn.accept_call(changes);
            self.close_round(changes);
        }
    }

    fn reject(&mut self, violations: &[SchemaViolation], changes: &mut Changes) {
        let Some(turn) = &mut self.turn else { return };
        let unchecked = turn.unchecked();
        let fault = turn.reject(violations, &self.limits, changes);
        if let Some(reply) = unchecked {
            self.append_reply(reply, changes);
            if let Some(fault) = fault {
                self.end(End::Failed(fault), changes);
            }
        } else {
            if let Some(fault) = fault {
                turn.give_up(|_| true, changes);
                turn.close_with(End::Failed(fault));
            }
            self.close_round(changes);
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

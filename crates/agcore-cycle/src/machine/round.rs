//! Absorbs the outcomes of a round: starts, results, questions, answers.

use agcore_chat::{Answer, QuestionId, Text, ToolOutcome};

use super::{
    changes::{Changes, MachineError},
    slot::Slot,
    state::Machine,
    turn::{SettledCall, Turn},
};

impl Machine {
    pub(super) fn started(&mut self, calls: &[Text], changes: &mut Changes) -> Result<(), MachineError> {
        if self.draft().is_some() {
            return Err(MachineError::NotWaitingFor(
                "the start of calls: typed output must be checked first",
            ));
        }
        let slots = self.turn.as_deref_mut().map(Turn::slots_mut).unwrap_or_default();
        let is_started = |slot: &Slot| calls.iter().any(|id| *id == *slot.call.id);
        let is_ready = |id: &Text| slots.iter().any(|slot| *id == *slot.call.id && slot.is_ready());
        if !calls.iter().all(is_ready) {
            return Err(MachineError::NotWaitingFor("the start of these calls"));
        }
        for slot in slots.iter_mut().filter(|slot| is_started(slot)) {
            slot.start(changes);
        }
        Ok(())
    }

    pub(super) fn tool(
        &mut self,
        call: Text,
        outcome: ToolOutcome,
        duration_us: u64,
        input: Option<Text>,
        changes: &mut Changes,
    ) -> Result<(), MachineError> {
        let is_asked = match &outcome {
            ToolOutcome::Ask(question) if question.call_id != call => {
                return Err(MachineError::InvalidQuestion(question.id.clone()));
            }
            outcome => matches!(outcome, ToolOutcome::Ask(_)),
        };
        if self.draft().is_some() {
            return Err(MachineError::NotWaitingFor(
                "the result of a call: typed output must be checked first",
            ));
        }
        let question_number = self.asked.saturating_add(1);
        let settled = SettledCall {
            call,
            outcome,
            duration_us,
            input,
            limit: self.limits.max_tool_result_bytes,
            question_number,
        };
        match &mut self.turn {
            Some(turn) => turn.settle_call(settled, changes)?,
            None => return Err(MachineError::NotWaitingFor("the result of this call")),
        }
        if is_asked {
            self.asked = question_number;
        }
        self.close_round(changes);
        Ok(())
    }

    pub(super) fn answer(
        &mut self,
        question: &QuestionId,
        answer: Answer,
        changes: &mut Changes,
    ) -> Result<(), MachineError> {
        if self.answer_of(question).is_some() {
            return Err(MachineError::AlreadyAnswered(question.clone()));
        }
        let limit = self.limits.max_tool_result_bytes;
        match &mut self.turn {
            Some(turn) => turn.answer(question, answer, limit, changes)?,
            None => return Err(MachineError::UnknownQuestion(question.clone())),
        }
        self.close_round(changes);
        Ok(())
    }

    pub(super) fn redo(&mut self, call: &str, changes: &mut Changes) -> Result<(), MachineError> {
        match &mut self.turn {
            Some(turn) => turn.redo(call, changes),
            None => Err(MachineError::NotWaitingFor("a repetition of this call")),
        }
    }

    /// Moves the round into the history once all its calls are settled. The turn continues or ends.
    pub(super) fn close_round(&mut self, changes: &mut Changes) {
        let Some(mut round) = self.turn.as_mut().and_then(|turn| turn.take_round(&self.limits)) else {
            return;
        };
        let closing = round.closing.take();
        for message in round.into_messages() {
            self.append(message, changes);
        }
        if let Some(end) = closing {
            self.end(end, changes);
        }
    }
}

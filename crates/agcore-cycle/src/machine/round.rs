//! Absorbs the outcomes of a round: starts, results, questions, answers.

use agcore_chat::{Answer, Question, QuestionId, Text, ToolOutcome};

use super::{
    changes::{Changes, MachineError},
    slot::Slot,
    state::Machine,
    turn::Turn,
};

impl Machine {
    pub(super) fn started(&mut self, calls: &[Text], changes: &mut Changes) -> Result<(), MachineError> {
        if self.draft().is_some() {
            return Err(MachineError::NotWaitingFor(
                "the start of calls: typed output must be checked first",
            ));
        }
        let slots = self.turn.as_mut().map(Turn::slots_mut).unwrap_or_default();
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
        call: &str,
        outcome: ToolOutcome,
        duration_us: u64,
        changes: &mut Changes,
    ) -> Result<(), MachineError> {
        if let ToolOutcome::Ask(question) = &outcome {
            self.check_question(call, question)?;
        }
        let limit = self.limits.max_tool_result_bytes;
        match &mut self.turn {
            Some(turn) => turn.settle_call(call, outcome, duration_us, limit, changes)?,
            None => return Err(MachineError::NotWaitingFor("the result of this call")),
        }
        self.close_round(changes);
        Ok(())
    }

    /// Checks that a question belongs to the call that asks it and has a new id: an answer must find exactly one question.
    fn check_question(&self, call: &str, question: &Question) -> Result<(), MachineError> {
        let used = self.answer_of(&question.id).is_some() || self.questions().any(|asked| asked.id == question.id);
        if *question.call_id == *call && !used {
            Ok(())
        } else {
            Err(MachineError::InvalidQuestion(question.id.clone()))
        }
    }

    pub(super) fn answer(
        &mut self,
        question: &QuestionId,
        answer: Answer,
        changes: &mut Changes,
    ) -> Result<(), MachineError> {
        let limit = self.limits.max_tool_result_bytes;
        match &mut self.turn {
            Some(turn) => turn.answer(question, answer, limit, changes)?,
            None => return Err(MachineError::UnknownQuestion(question.clone())),
        }
        self.close_round(changes);
        Ok(())
    }

    pub(super) fn redo(&mut self, call: &str) -> Result<(), MachineError> {
        match &mut self.turn {
            Some(turn) => turn.redo(call),
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

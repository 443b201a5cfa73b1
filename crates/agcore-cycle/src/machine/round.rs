//! Absorbing the outcomes of a round: starts, results, questions, answers.

use std::sync::Arc;

use agcore_chat::{Answer, Message, PersonEvent, Question, QuestionId, Text, ToolOutcome, ToolResult};

use super::{
    changes::{Changes, MachineError},
    end::{End, LimitKind},
    result,
    state::Machine,
    step::Purpose,
    turn::{Phase, Slot, SlotState},
};
use crate::budget::{BudgetLimit, Resource};

impl Machine {
    pub(super) fn started(&mut self, calls: &[Text], changes: &mut Changes) -> Result<(), MachineError> {
        if self.draft().is_some() {
            return Err(MachineError::NotWaitingFor(
                "the start of calls: typed output must be checked first",
            ));
        }
        let slots = self.slots_mut();
        let ready = |id: &Text| slots.iter().any(|slot| *id == *slot.call.id && slot.is_ready());
        if !calls.iter().all(ready) {
            return Err(MachineError::NotWaitingFor("the start of these calls"));
        }
        for slot in slots
            .iter_mut()
            .filter(|slot| calls.iter().any(|id| *id == *slot.call.id))
        {
            slot.start(changes);
        }
        Ok(())
    }

    pub(super) fn tool(
        &mut self,
        call: &str,
        outcome: ToolOutcome,
        us: u64,
        changes: &mut Changes,
    ) -> Result<(), MachineError> {
        if let ToolOutcome::Ask(question) = &outcome {
            self.check_question(call, question)?;
        }
        let limit = self.limits.max_tool_result_bytes;
        let closing = self.turn.as_ref().is_some_and(|turn| turn.closing.is_some());
        let slot = self
            .slots_mut()
            .iter_mut()
            .find(|slot| slot.call.id == call && matches!(slot.state, SlotState::Running))
            .ok_or(MachineError::NotWaitingFor("the result of this call"))?;
        match outcome {
            ToolOutcome::Ask(question) => {
                slot.ask(question.clone());
                if closing {
                    slot.give_up(changes);
                } else {
                    changes.emit(PersonEvent::Asked(Box::new(question)));
                }
            }
            ToolOutcome::Done(done) => slot.settle(result::cut(done, limit), us, changes),
            ToolOutcome::Divert { content, data } => {
                slot.settle(result::cut(ToolResult::new(content), limit), us, changes);
                self.give_up(|slot| !matches!(slot.state, SlotState::Running), changes);
                self.close_with(End::Diverted {
                    call: call.into(),
                    data,
                });
            }
            ToolOutcome::Fatal(fault) => {
                slot.settle(
                    result::cut(ToolResult::error(fault.message.as_str()), limit),
                    us,
                    changes,
                );
                self.give_up(|_| true, changes);
                self.close_with(End::Failed(fault));
            }
            _ => return Err(MachineError::NotWaitingFor("an outcome of this kind")),
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
        if self.answer_of(question).is_some() {
            return Err(MachineError::AlreadyAnswered(question.clone()));
        }
        let limit = self.limits.max_tool_result_bytes;
        let unknown = || MachineError::UnknownQuestion(question.clone());
        let slot = self
            .slots_mut()
            .iter_mut()
            .find(|slot| matches!(&slot.state, SlotState::Asking(asked) if asked.id == *question))
            .ok_or_else(unknown)?;
        changes.emit(PersonEvent::Answered {
            question: question.clone(),
            answer: answer.clone(),
        });
        if let Some(done) = slot.answered(answer.clone()) {
            slot.settle(result::cut(done, limit), 0, changes);
        }
        if let Some(turn) = &mut self.turn {
            turn.answered.push((question.clone(), answer));
        }
        self.close_round(changes);
        Ok(())
    }

    pub(super) fn redo(&mut self, call: &str) -> Result<(), MachineError> {
        let slot = self.slots_mut().iter_mut().find(|slot| slot.call.id == call);
        match slot {
            Some(slot) if matches!(slot.state, SlotState::Running) => {
                slot.redo();
                Ok(())
            }
            _ => Err(MachineError::NotWaitingFor("a repetition of this call")),
        }
    }

    /// Settles those calls without a result with an error that says so.
    pub(super) fn give_up(&mut self, which: impl Fn(&Slot) -> bool, changes: &mut Changes) {
        self.slots_mut()
            .iter_mut()
            .filter(|slot| which(slot))
            .for_each(|slot| slot.give_up(changes));
    }

    /// There is no budget for the calls that wait to start; if time has run out, for no call at all. If the model does not wrap
    /// up, open questions are settled, too.
    pub(super) fn limit_tools(&mut self, limit: BudgetLimit, wraps_up: bool, changes: &mut Changes) {
        let is_time = limit.resource == Resource::Time;
        let ends = |slot: &Slot| match slot.state {
            SlotState::Running => is_time,
            SlotState::Asking(_) => is_time || !wraps_up,
            SlotState::Ready | SlotState::Checking { .. } | SlotState::Settled(_) => true,
        };
        for slot in self.slots_mut().iter_mut().filter(|slot| ends(slot)) {
            slot.give_up_for(result::NO_BUDGET, changes);
        }
        match &mut self.turn {
            Some(turn) if wraps_up => turn.wraps_up = Some(limit),
            _ => self.close_with(End::Limit(LimitKind::Budget(limit))),
        }
        self.close_round(changes);
    }

    /// Makes the turn end like this once its calls are settled. The first handoff wins, but a stop or a fault replaces it: a
    /// caller who cancels does not want the next agent.
    pub(super) fn close_with(&mut self, end: End) {
        let Some(turn) = &mut self.turn else { return };
        if turn.closing.is_none() || !matches!(end, End::Diverted { .. }) {
            turn.closing = Some(end);
        }
    }

    /// Moves the round into the history once all its calls are settled. The turn continues or ends.
    pub(super) fn close_round(&mut self, changes: &mut Changes) {
        let wraps_up = self.turn.as_ref().is_some_and(|turn| turn.wraps_up.is_some());
        let is_last = wraps_up || self.rounds_are_over(self.round().saturating_add(1));
        let Some(turn) = &mut self.turn else { return };
        let Phase::Acting { reply, slots } = &mut turn.phase else {
            return;
        };
        if !slots.iter().all(|slot| matches!(slot.state, SlotState::Settled(_))) {
            return;
        }
        let (reply, slots) = (Arc::clone(reply), std::mem::take(slots));
        turn.round = turn.round.saturating_add(1);
        let closing = turn.closing.take();
        turn.phase = Phase::Calling(if is_last { Purpose::WrapUp } else { Purpose::Reply });
        // Usually this is the only reference, so the reply is moved.
        let reply = Message::Assistant(Arc::unwrap_or_clone(reply));
        turn.pending = if is_last {
            vec![Arc::new(turn.wrap_up_note())]
        } else {
            Vec::new()
        };
        self.append(reply, changes);
        for result in slots.into_iter().filter_map(Slot::into_message) {
            self.append(result, changes);
        }
        if let Some(end) = closing {
            self.end(end, changes);
        }
    }
}

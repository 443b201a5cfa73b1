//! Taking in what happens to the calls of a round: starts, results, questions, answers.

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
                "the start of calls: typed output is to be checked first",
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
                    changes.tell(PersonEvent::Asked(Box::new(question)));
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

    /// A question is of the call that asks it, and its id is new: an answer must find one question.
    fn check_question(&self, call: &str, question: &Question) -> Result<(), MachineError> {
        let used = self.answer_of(&question.id).is_some() || self.questions().any(|asked| asked.id == question.id);
        if *question.call_id == *call && !used {
            Ok(())
        } else {
            Err(MachineError::BadQuestion(question.id.clone()))
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
        changes.tell(PersonEvent::Answered {
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
            _ => Err(MachineError::NotWaitingFor("this call to run again")),
        }
    }

    /// Gives those calls that have no result one that says so.
    pub(super) fn give_up(&mut self, which: impl Fn(&Slot) -> bool, changes: &mut Changes) {
        self.slots_mut()
            .iter_mut()
            .filter(|slot| which(slot))
            .for_each(|slot| slot.give_up(changes));
    }

    /// There is no budget for the calls that wait to begin; when it is time that is over, for none. Where the model does not
    /// wrap up, nobody is asked any more.
    pub(super) fn limit_tools(&mut self, limit: BudgetLimit, wraps_up: bool, changes: &mut Changes) {
        let all = limit.resource == Resource::Time;
        let ends = |slot: &Slot| match slot.state {
            SlotState::Running => all,
            SlotState::Asking(_) => all || !wraps_up,
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

    /// The turn ends like this as soon as its calls are settled. The first handoff counts, but gives way to a stop and to
    /// a fault: who cancels does not want the next agent.
    pub(super) fn close_with(&mut self, end: End) {
        let Some(turn) = &mut self.turn else { return };
        if turn.closing.is_none() || !matches!(end, End::Diverted { .. }) {
            turn.closing = Some(end);
        }
    }

    /// When all calls are settled, the round enters the history and the turn goes on or ends.
    pub(super) fn close_round(&mut self, changes: &mut Changes) {
        let spent = self.turn.as_ref().is_some_and(|turn| turn.wraps_up.is_some());
        let over = spent || self.rounds_are_over(self.round().saturating_add(1));
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
        turn.phase = Phase::Calling(if over { Purpose::WrapUp } else { Purpose::Reply });
        // Mostly nobody else has the reply any more, and it moves.
        let reply = Message::Assistant(Arc::unwrap_or_clone(reply));
        turn.pending = if over {
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

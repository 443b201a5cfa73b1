//! The rounds of a turn: starting, settling and closing its calls.

use std::{mem, sync::Arc};

use agcore_chat::{
    Answer, AssistantMessage, FinishReason, Message, PersonEvent, QuestionId, Text, ToolOutcome, ToolResult,
};

use super::{Phase, Turn};
use crate::{
    budget::{BudgetLimit, Resource},
    machine::{
        changes::{Changes, MachineError},
        end::{End, LimitKind},
        outcome::limits::Limits,
        question_id,
        result::{self, Refusal},
        slot::{Slot, SlotState},
        step::Purpose,
    },
};

/// The outcome of a call.
pub(in crate::machine) struct SettledCall {
    pub(in crate::machine) call: Text,
    pub(in crate::machine) outcome: ToolOutcome,
    pub(in crate::machine) duration_us: u64,
    /// The input with which it ran, if that is not the one of the model.
    pub(in crate::machine) input: Option<Text>,
    /// The longest result, in bytes.
    pub(in crate::machine) limit: usize,
    /// The number of the question that it asks.
    pub(in crate::machine) question_number: u64,
}

/// A round whose calls are all settled.
pub(in crate::machine) struct Round {
    reply: Arc<AssistantMessage>,
    slots: Vec<Slot>,
    /// How the turn ends with this round, if it does.
    pub(in crate::machine) closing: Option<End>,
}

impl Round {
    /// Returns the messages of the round: the reply, then the results of its calls.
    pub(in crate::machine) fn into_messages(self) -> impl Iterator<Item = Arc<Message>> {
        // Usually this is the only reference, so the reply is moved.
        let reply = Arc::new(Message::Assistant(Arc::unwrap_or_clone(self.reply)));
        std::iter::once(reply).chain(self.slots.into_iter().filter_map(Slot::into_message))
    }
}

impl Turn {
    pub(in crate::machine) fn slots(&self) -> &[Slot] {
        match &self.phase {
            Phase::Acting { slots, .. } => slots,
            _ => &[],
        }
    }

    pub(in crate::machine) fn slots_mut(&mut self) -> &mut [Slot] {
        match &mut self.phase {
            Phase::Acting { slots, .. } => slots,
            _ => &mut [],
        }
    }

    /// Starts a round with the calls of a reply. Calls that cannot run are settled at once; the first call of the answering
    /// tool is the answer.
    pub(in crate::machine) fn start_round(
        &mut self,
        reply: Arc<AssistantMessage>,
        finish: Option<&FinishReason>,
        refusal: Option<&Refusal>,
        changes: &mut Changes,
    ) {
        let tool = self.answering_tool();
        let is_filtered = finish == Some(&FinishReason::ContentFilter);
        let (mut is_answered, mut has_filtered_answer) = (false, false);
        let slots = reply.shared_calls().map(|call| {
            let call = Arc::clone(call);
            if Some(call.name.as_str()) != tool {
                Slot::new(call, refusal, changes)
            } else if is_filtered {
                has_filtered_answer = true;
                Slot::new(call, refusal, changes)
            } else if mem::replace(&mut is_answered, true) {
                Slot::refused(call, result::ONE_ANSWER, changes)
            } else {
                Slot::checking(call, finish == Some(&FinishReason::Length))
            }
        });
        let slots = slots.collect();
        if has_filtered_answer && let Some(fault) = result::declined(&reply, finish) {
            self.close_with(End::Failed(fault));
        }
        self.phase = Phase::Acting { reply, slots };
    }

    /// Applies the outcome of a call that runs, or that did not get to run.
    pub(in crate::machine) fn settle_call(
        &mut self,
        settled: SettledCall,
        changes: &mut Changes,
    ) -> Result<(), MachineError> {
        let SettledCall {
            call,
            outcome,
            duration_us,
            input,
            limit,
            question_number,
        } = settled;
        let (call, input) = (&*call, input.as_deref());
        let is_closing = self.closing.is_some();
        let mut slots = self.slots_mut().iter_mut();
        let slot = slots
            .find(|slot| slot.call.id == call && slot.is_pending())
            .ok_or(MachineError::NotWaitingFor("the result of this call"))?;
        let mut settle = |slot: &mut Slot, result| {
            slot.settle_after(result::truncate(result, limit), duration_us, input, changes);
        };
        match outcome {
            ToolOutcome::Ask(mut question) => {
                let id = question_id::unique(&slot.call, &question, question_number);
                let asked_as = mem::replace(&mut question.id, id);
                slot.ask(question.clone(), asked_as);
                if is_closing {
                    slot.give_up(changes);
                } else {
                    changes.emit(|| PersonEvent::Asked(question));
                }
            }
            ToolOutcome::Done(done) => settle(slot, done),
            ToolOutcome::Divert { content, data } => {
                settle(slot, ToolResult::new(content));
                self.give_up(|slot| !slot.is_running(), changes);
                let call = Text::from(call);
                self.close_with(End::Diverted { call, data });
            }
            ToolOutcome::Fatal(fault) => {
                settle(slot, ToolResult::error(fault.message.as_str()));
                self.give_up(|_| true, changes);
                self.close_with(End::Failed(fault));
            }
            _ => return Err(MachineError::NotWaitingFor("an outcome of this kind")),
        }
        Ok(())
    }

    /// Runs an interrupted call again.
    pub(in crate::machine) fn redo(&mut self, call: &str, changes: &mut Changes) -> Result<(), MachineError> {
        match self.slots_mut().iter_mut().find(|slot| slot.call.id == call) {
            Some(slot) if slot.is_running() => {
                slot.redo(changes);
                Ok(())
            }
            _ => Err(MachineError::NotWaitingFor("a repetition of this call")),
        }
    }

    /// Returns the answer to a question of this turn.
    pub(in crate::machine) fn answer_of(&self, question: &QuestionId) -> Option<&Answer> {
        let mut answered = self.answered.iter();
        answered.find(|(id, _)| id == question).map(|(_, answer)| answer)
    }

    /// Applies the answer to a question. `limit` is the longest result, in bytes.
    pub(in crate::machine) fn answer(
        &mut self,
        question: &QuestionId,
        answer: Answer,
        limit: usize,
        changes: &mut Changes,
    ) -> Result<(), MachineError> {
        let mut slots = self.slots_mut().iter_mut();
        let slot = slots
            .find(|slot| slot.question().is_some_and(|open| open.id == *question))
            .ok_or_else(|| MachineError::UnknownQuestion(question.clone()))?;
        changes.emit(|| PersonEvent::Answered {
            question: question.clone(),
            answer: Box::new(answer.clone()),
        });
        if let Some(done) = slot.answered(answer.clone()) {
            slot.settle(result::truncate(done, limit), changes);
        }
        self.answered.push((question.clone(), answer));
        Ok(())
    }

    /// Settles those calls without a result with an error that says so.
    pub(in crate::machine) fn give_up(&mut self, which: impl Fn(&Slot) -> bool, changes: &mut Changes) {
        let slots = self.slots_mut().iter_mut();
        slots.filter(|slot| which(slot)).for_each(|slot| slot.give_up(changes));
    }

    /// Returns whether a limit can apply to the calls of the current round: some wait to start, or time has run out.
    pub(in crate::machine) fn can_limit_tools(&self, limit: BudgetLimit) -> bool {
        let Phase::Acting { slots, .. } = &self.phase else {
            return false;
        };
        self.draft().is_none() && (limit.resource == Resource::Time || slots.iter().any(Slot::is_ready))
    }

    /// There is no budget for the calls that wait to start; if time has run out, for no call at all. If the model does not wrap
    /// up, open questions are settled, too.
    pub(in crate::machine) fn limit_tools(&mut self, limit: BudgetLimit, wraps_up: bool, changes: &mut Changes) {
        let is_time = limit.resource == Resource::Time;
        let ends = |slot: &Slot| match slot.state {
            SlotState::Running => is_time,
            SlotState::Asking(_) => is_time || !wraps_up,
            SlotState::Ready | SlotState::Checking { .. } | SlotState::Settled(_) => true,
        };
        for slot in self.slots_mut().iter_mut().filter(|slot| ends(slot)) {
            slot.give_up_for(result::NO_BUDGET, changes);
        }
        if wraps_up {
            self.wraps_up = Some(limit);
        } else {
            self.close_with(End::Limit(LimitKind::Budget(limit)));
        }
    }

    /// Takes the round once all its calls are settled. A call of the model becomes the next step.
    pub(in crate::machine) fn take_round(&mut self, limits: &Limits) -> Option<Round> {
        let Phase::Acting { reply, slots } = &mut self.phase else {
            return None;
        };
        if !slots.iter().all(Slot::is_settled) {
            return None;
        }
        let (reply, slots) = (Arc::clone(reply), mem::take(slots));
        self.round = self.round.saturating_add(1);
        // Drops the other reference to the reply.
        self.call_model(limits);
        self.pending.clear();
        if self.phase == Phase::Calling(Purpose::WrapUp) {
            self.add_wrap_up_note();
        }
        Some(Round {
            reply,
            slots,
            closing: self.closing.take().map(|end| *end),
        })
    }
}

//! Absorbs the outcomes of a turn: start, replies, failures, limits, end.

pub(super) mod media;
pub(super) mod paused;
pub(super) mod compaction;

use std::sync::Arc;

use agcore_chat::{
    AssistantMessage, FaultKind, FinishReason, Message, ModelEvent, TextEvent, TurnEvent, Usage, UsageTracker,
    validate_appended,
};

use super::{
    call_ids::{forget, make_ids_unique},
    changes::{Changes, MachineError},
    end::{End, LimitKind},
    outcome::{
        Begin, Cause, Outcome,
        compact::{Compact, CompactReason},
        limits::RoundLimit,
        lost::Lost,
        reply::{Failure, Reply},
    },
    result::{self, Refusal},
    state::{Machine, REMEMBERED_ANSWERS},
    step::Purpose,
    turn::{Overflow, Phase, Turn},
};
use crate::budget::{BudgetLimit, Spent};

impl Machine {
    /// Changes the state according to an outcome.
    ///
    /// # Errors
    /// [`MachineError`] for an outcome that does not fit the state; the state stays as it was.
    pub fn absorb(&mut self, outcome: Outcome) -> Result<Changes, MachineError> {
        let mut changes = Changes::default();
        self.absorb_into(outcome, &mut changes)?;
        Ok(changes)
    }

    /// Like [`absorb`](Self::absorb), for a driver that reuses the buffer of events. Returns turn and round of the events:
    /// those of a round belong to the round in which they happened, not to the next one.
    pub(crate) fn absorb_at(&mut self, outcome: Outcome, changes: &mut Changes) -> Result<(u32, u32), MachineError> {
        let (turn, round) = (self.turn_index(), self.round());
        let starts_turn = matches!(outcome, Outcome::TurnStarted(_));
        changes.clear();
        self.absorb_into(outcome, changes)?;
        Ok(if starts_turn {
            (self.turn_index(), 0)
        } else {
            (turn, round)
        })
    }

    pub(super) fn absorb_into(&mut self, outcome: Outcome, changes: &mut Changes) -> Result<(), MachineError> {
        match outcome {
            Outcome::TurnStarted(begin) => self.begin(begin, changes),
            Outcome::Reply(reply) => self.reply(reply, changes),
            Outcome::Failed(failure) => self.failed(failure, changes),
            Outcome::Started(calls) => self.started(&calls, changes),
            Outcome::Tool {
                call,
                outcome,
                duration_us,
                input,
            } => self.tool(call, outcome, duration_us, input, changes),
            Outcome::Answer(question, answer) => self.answer(&question, answer, changes),
            Outcome::Redo(call) => self.redo(&call, changes),
            Outcome::Stop(cause) => self.stop(cause, changes),
            Outcome::Compact(compact) => self.compact(compact, changes),
            Outcome::MediaRefused(refusal) => self.refuse_media(&refusal, changes),
            Outcome::Summary(summary) => self.summary(summary, changes),
            Outcome::Verdict(verdict) => self.verdict(verdict, changes),
            Outcome::Recast(mode) => self.recast(mode),
            Outcome::Limit { limit, lost, reason } => self.limit(limit, &lost, reason, changes),
            Outcome::Lost(lost) => {
                self.count(&lost);
                Ok(())
            }
            Outcome::Spent(spent) => {
                self.spend(&spent);
                Ok(())
            }
            Outcome::Called(_) => Ok(()),
            Outcome::EventsSent(count) => self.record_events(count),
            Outcome::Limits(limits) => {
                self.limits = limits;
                Ok(())
            }
        }
    }

    fn begin(&mut self, begin: Begin, changes: &mut Changes) -> Result<(), MachineError> {
        if self.is_open() {
            return Err(MachineError::TurnOpen);
        }
        self.history.make_whole();
        // The history is always valid, so only what is new has to be checked.
        let history = if begin.replaces { &[] } else { self.history.as_slice() };
        validate_appended(history, &begin.messages).map_err(MachineError::InvalidMessages)?;
        if begin.messages.last().is_none_or(|last| last.as_assistant().is_some()) {
            return Err(MachineError::NothingToAnswer);
        }
        changes.emit(|| TurnEvent::Started(begin.messages.clone()));
        self.turns = self.turns.saturating_add(1);
        self.remember_answers();
        let mut turn = Turn::new(begin, &self.limits);
        turn.breaker_was_open = self.breaker.is_open();
        self.turn = Some(Box::new(turn));
        // Discard a requested summary that is no longer needed.
        self.summing = None;
        Ok(())
    }

    fn reply(&mut self, reply: Reply, changes: &mut Changes) -> Result<(), MachineError> {
        let purpose = self
            .calling()
            .ok_or(MachineError::NotWaitingFor("a reply of the model"))?;
        let Reply {
            mut message,
            finish,
            usage,
            lost,
        } = reply;
        self.count_lost(&lost);
        self.count_call(usage.as_ref());
        let paused = self.take_paused();
        self.commit_pending(changes);
        make_ids_unique(&mut message, &mut self.history, &self.forgotten);
        changes.emit(|| TextEvent::MessageComplete(Arc::clone(&message)));
        if let Some(reason @ (FinishReason::Length | FinishReason::ContentFilter)) = &finish {
            changes.emit(|| ModelEvent::CutOff(reason.clone()));
        }
        if let Some(usage) = usage {
            changes.emit(|| ModelEvent::Usage(Box::new(usage)));
        }
        let message = paused::joined(paused, message);
        if message.has_tool_calls() {
            self.start_round(message, finish.as_ref(), purpose, changes);
        } else if paused::is_paused(finish.as_ref()) {
            self.pause(message, purpose, changes);
        } else {
            self.answered(message, finish.as_ref(), changes);
        }
        Ok(())
    }

    /// Returns the purpose of the call in flight, if the machine waits for a reply.
    pub(super) fn calling(&self) -> Option<Purpose> {
        match self.open_turn()? {
            Turn {
                phase: Phase::Calling(purpose),
                overflow: Overflow::None | Overflow::Retried,
                ..
            } if self.summing.is_none() => Some(*purpose),
            _ => None,
        }
    }

    /// Starts a round with the calls of a reply. If none of them may run, the turn may end at once.
    fn start_round(
        &mut self,
        reply: Arc<AssistantMessage>,
        finish: Option<&FinishReason>,
        purpose: Purpose,
        changes: &mut Changes,
    ) {
        let Some(turn) = &mut self.turn else { return };
        let refusal = result::refusal(finish, turn.wrap_up_limit(purpose), turn.round, &self.limits);
        turn.start_round(reply, finish, refusal.as_ref(), changes);
        self.close_round(changes);
        let continues = self.is_open() && self.draft().is_none();
        if let Some(Refusal::Limit(limit)) = refusal.filter(|_| continues) {
            changes.emit(|| TurnEvent::BudgetReached {
                limit: limit.as_str().into(),
            });
            self.end(End::Limit(limit), changes);
        }
    }

    fn failed(&mut self, failure: Failure, changes: &mut Changes) -> Result<(), MachineError> {
        if self.summing.is_some() {
            self.count_lost(&failure.lost);
            if failure.fault.kind == FaultKind::Cancelled {
                // The caller no longer waits for the summary: the conversation stays as it is.
                self.summing = None;
            } else {
                self.fall_back(failure.fault, changes);
            }
            return Ok(());
        }
        if self.calling().is_none() {
            return Err(MachineError::NotWaitingFor("a reply of the model"));
        }
        self.count_lost(&failure.lost);
        match &mut self.turn {
            Some(turn) if failure.fault.kind == FaultKind::ContextLength && turn.overflow == Overflow::None => {
                turn.overflow = Overflow::Due(Box::new(failure.fault));
            }
            _ => self.end(End::Failed(failure.fault), changes),
        }
        Ok(())
    }

    fn stop(&mut self, cause: Cause, changes: &mut Changes) -> Result<(), MachineError> {
        // A requested compaction is not part of a turn.
        let is_requested = |compact: Box<Compact>| compact.reason == CompactReason::Asked;
        if self.summing.take().is_some_and(is_requested) {
            return Ok(());
        }
        let Some(turn) = self.turn.as_mut().filter(|turn| turn.is_open()) else {
            return Err(MachineError::NoTurn);
        };
        let end = End::Stopped(cause);
        if let Some(reply) = turn.unchecked() {
            self.append_reply(reply, changes);
            self.end(end, changes);
        } else if matches!(turn.phase, Phase::Acting { .. }) {
            turn.give_up(|_| true, changes);
            turn.close_with(end);
            self.close_round(changes);
        } else {
            // The turn was waiting for a reply, so its input never entered the history.
            self.end(end, changes);
        }
        Ok(())
    }

    /// A budget has too little left. The model wraps up if the limits say so and it has not done so yet; otherwise the turn
    /// ends.
    fn limit(
        &mut self,
        limit: BudgetLimit,
        lost: &Lost,
        reason: Option<String>,
        changes: &mut Changes,
    ) -> Result<(), MachineError> {
        let wraps_up = self.limits.at_round_limit == RoundLimit::WrapUp;
        let event = || TurnEvent::BudgetReached {
            limit: limit.as_str().into(),
        };
        if let Some(purpose) = self.calling() {
            self.count_lost(lost);
            changes.emit(event);
            match &mut self.turn {
                Some(turn) if wraps_up && purpose == Purpose::Reply => turn.wrap_up(limit),
                _ => self.end(
                    match reason {
                        Some(reason) => End::Stopped(Cause::new(FaultKind::Limit, reason)),
                        None => End::Limit(LimitKind::Budget(limit)),
                    },
                    changes,
                ),
            }
            return Ok(());
        }
        match &mut self.turn {
            Some(turn) if self.summing.is_none() && turn.can_limit_tools(limit) => {
                changes.emit(event);
                turn.limit_tools(limit, wraps_up, changes);
                self.close_round(changes);
                Ok(())
            }
            _ => Err(MachineError::NotWaitingFor("the limit of a budget")),
        }
    }

    fn spend(&mut self, spent: &Spent) {
        self.cost.add(spent);
        if let Some(turn) = &mut self.turn {
            turn.cost.add(spent);
        }
    }

    /// Keeps the answers of the turn that is about to be replaced, and drops the oldest ones.
    fn remember_answers(&mut self) {
        let Some(turn) = &mut self.turn else { return };
        self.remembered.append(&mut turn.answered);
        let surplus = self.remembered.len().saturating_sub(REMEMBERED_ANSWERS);
        self.remembered.drain(..surplus);
    }

    fn record_events(&mut self, count: u64) -> Result<(), MachineError> {
        match &mut self.turn {
            Some(turn) if turn.is_open() => {
                turn.events_sent = count;
                Ok(())
            }
            _ => Err(MachineError::NoTurn),
        }
    }

    pub(super) fn end(&mut self, end: End, changes: &mut Changes) {
        // The input of the turn is in the history already, and needs a reply there.
        if let Some(paused) = self.take_paused() {
            self.append(Arc::new(Message::Assistant(paused)), changes);
        }
        let Some(turn) = &mut self.turn else { return };
        turn.end(end, changes);
        // Compactions were paused for a whole turn.
        if turn.breaker_was_open {
            self.breaker.close();
        }
    }

    /// Moves what the turn has added so far into the history, because the model accepted it.
    fn commit_pending(&mut self, changes: &mut Changes) {
        let Some(turn) = &mut self.turn else { return };
        changes.appended += turn.pending.len();
        if std::mem::take(&mut turn.replaces) {
            forget(&self.history, &turn.pending, &mut self.forgotten);
            self.history.replace(std::mem::take(&mut turn.pending));
            changes.replaced = true;
        } else {
            self.history.append(&mut turn.pending);
        }
        turn.overflow = Overflow::None;
    }

    pub(super) fn append(&mut self, message: Arc<Message>, changes: &mut Changes) {
        changes.appended += 1;
        self.history.push(message);
    }

    /// Appends a reply, which is copied only if an event has it as well.
    pub(super) fn append_reply(&mut self, message: Arc<AssistantMessage>, changes: &mut Changes) {
        self.append(Arc::new(Message::Assistant(Arc::unwrap_or_clone(message))), changes);
    }

    /// Counts a call that ended with this usage.
    pub(super) fn count_call(&mut self, usage: Option<&Usage>) {
        self.usage.record(usage);
        if let Some(turn) = &mut self.turn {
            turn.spent.record(usage);
        }
    }

    /// Counts attempts that were lost.
    pub(super) fn count_lost(&mut self, lost: &Lost) {
        if let Some(lost) = lost.get() {
            self.count(lost);
        }
    }

    pub(super) fn count(&mut self, spent: &UsageTracker) {
        self.usage.merge(spent);
        if let Some(turn) = &mut self.turn {
            turn.spent.merge(spent);
        }
    }
}

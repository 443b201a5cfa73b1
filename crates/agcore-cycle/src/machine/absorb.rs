//! Absorbing the outcomes of a turn: start, replies, failures, limits, end.

use std::sync::Arc;

use agcore_chat::{
    AssistantMessage, FaultKind, Message, ModelEvent, Text, TextEvent, TurnEvent, UsageTracker, validate_messages,
};

use super::{
    changes::{Changes, MachineError},
    compact::{Compact, CompactReason},
    end::{End, LimitKind},
    limits::RoundLimit,
    outcome::{Begin, Cause, Outcome},
    reply::{Failure, Reply},
    result,
    state::Machine,
    step::Purpose,
    turn::{self, Overflow, Phase, Slot, Turn, Typed},
};
use crate::budget::{BudgetLimit, Resource, Spent};

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

    /// Like [`absorb`](Self::absorb), for a driver that reuses the buffer of events.
    pub(crate) fn absorb_into(&mut self, outcome: Outcome, changes: &mut Changes) -> Result<(), MachineError> {
        match outcome {
            Outcome::TurnStarted(begin) => self.begin(begin, changes),
            Outcome::Reply(reply) => self.reply(reply, changes),
            Outcome::Failed(failure) => self.failed(failure, changes),
            Outcome::Started(calls) => self.started(&calls, changes),
            Outcome::Tool {
                call,
                outcome,
                duration_us,
            } => self.tool(&call, outcome, duration_us, changes),
            Outcome::Answer(question, answer) => self.answer(&question, answer, changes),
            Outcome::Redo(call) => self.redo(&call),
            Outcome::Stop(cause) => self.stop(cause, changes),
            Outcome::Compact(compact) => self.compact(compact, changes),
            Outcome::Summary(summary) => self.summary(summary, changes),
            Outcome::Verdict(verdict) => self.verdict(verdict, changes),
            Outcome::Recast(mode) => self.recast(mode),
            Outcome::Limit { limit, lost } => self.limit(limit, &lost, changes),
            Outcome::Spent(spent) => {
                self.spend(&spent);
                Ok(())
            }
            Outcome::EventsSent(count) => self.record_events(count),
        }
    }

    fn begin(&mut self, begin: Begin, changes: &mut Changes) -> Result<(), MachineError> {
        if self.is_open() {
            return Err(MachineError::TurnOpen);
        }
        let Begin {
            messages,
            replaces,
            expectation,
        } = begin;
        let view: Vec<&Message> = if replaces { &[] } else { self.history.as_slice() }
            .iter()
            .chain(&messages)
            .map(|message| &**message)
            .collect();
        validate_messages(&view).map_err(MachineError::InvalidMessages)?;
        if messages.is_empty() || view.last().is_some_and(|last| last.as_assistant().is_some()) {
            return Err(MachineError::NothingToAnswer);
        }
        changes.emit(TurnEvent::Started(messages.clone()));
        self.turns = self.turns.saturating_add(1);
        // Without any rounds, offering tools would be pointless.
        let purpose = if self.rounds_are_over(0) {
            Purpose::WrapUp
        } else {
            Purpose::Reply
        };
        let mut turn = Turn::new(messages, replaces, purpose);
        turn.breaker_was_open = self.breaker.is_open();
        turn.typed = expectation.map(Typed::new);
        self.turn = Some(turn);
        // Discard a requested summary that nobody waits for any more.
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
        self.count(&lost);
        let mut spent = UsageTracker::default();
        spent.record(usage.as_ref());
        self.count(&spent);
        self.commit_pending(changes);
        if let Some(turn) = &mut self.turn {
            turn.overflow = Overflow::None;
        }
        turn::make_ids_unique(&mut message, &self.history, &self.forgotten);
        changes.emit(TextEvent::MessageComplete(Arc::clone(&message)));
        changes
            .events
            .extend(usage.map(|usage| ModelEvent::Usage(Box::new(usage)).into()));
        if !message.has_tool_calls() {
            self.answered(message, finish.as_ref(), changes);
            return Ok(());
        }
        let refusal = result::refusal(finish.as_ref(), self.wraps_up(purpose), self.round(), &self.limits);
        let slots = self.slots_of(&message, finish.as_ref(), refusal.as_ref(), changes);
        if let Some(fault) = self.filtered_answer(&message, finish.as_ref()) {
            self.close_with(End::Failed(fault));
        }
        self.act(message, slots, changes);
        let continues = self.is_open() && self.draft().is_none();
        if let Some(result::Refusal::Limit(limit)) = refusal.filter(|_| continues) {
            changes.emit(TurnEvent::BudgetReached {
                limit: Text::from(limit.as_str()),
            });
            self.end(End::Limit(limit), changes);
        }
        Ok(())
    }

    /// Returns the limit because of which the model was asked to wrap up.
    fn wraps_up(&self, purpose: Purpose) -> Option<LimitKind> {
        let budget = self.turn.as_ref().and_then(|turn| turn.wraps_up);
        (purpose == Purpose::WrapUp).then(|| budget.map_or(LimitKind::ToolTurns, LimitKind::Budget))
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

    /// Starts a round with the calls of a reply. Calls that cannot run already have their results.
    fn act(&mut self, reply: Arc<AssistantMessage>, slots: Vec<Slot>, changes: &mut Changes) {
        if let Some(turn) = &mut self.turn {
            turn.phase = Phase::Acting { reply, slots };
        }
        self.close_round(changes);
    }

    fn failed(&mut self, failure: Failure, changes: &mut Changes) -> Result<(), MachineError> {
        if self.summing.is_some() {
            self.count(&failure.lost);
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
        self.count(&failure.lost);
        match &mut self.turn {
            Some(turn) if failure.fault.kind == FaultKind::ContextLength && turn.overflow == Overflow::None => {
                turn.overflow = Overflow::Due(failure.fault);
            }
            _ => self.end(End::Failed(failure.fault), changes),
        }
        Ok(())
    }

    fn stop(&mut self, cause: Cause, changes: &mut Changes) -> Result<(), MachineError> {
        // A requested compaction is not part of a turn.
        let is_requested = |compact: Compact| compact.reason == CompactReason::Asked;
        if self.summing.take().is_some_and(is_requested) {
            return Ok(());
        }
        if !self.is_open() {
            return Err(MachineError::NoTurn);
        }
        if let Some(reply) = self.unchecked() {
            self.append_shared(reply, changes);
            self.end(End::Stopped(cause), changes);
            return Ok(());
        }
        self.give_up(|_| true, changes);
        self.close_with(End::Stopped(cause));
        // A turn that was waiting for a reply has nothing to commit: its input never entered the history.
        self.close_round(changes);
        if self.is_open() {
            let end = self.turn.as_mut().and_then(|turn| turn.closing.take());
            self.end(end.unwrap_or(End::Stopped(Cause::abandoned())), changes);
        }
        Ok(())
    }

    /// A budget has too little left. The model wraps up if the limits say so and it has not done so yet; otherwise the turn
    /// ends.
    fn limit(&mut self, limit: BudgetLimit, lost: &UsageTracker, changes: &mut Changes) -> Result<(), MachineError> {
        let wraps_up = self.limits.at_round_limit == RoundLimit::WrapUp;
        let has_ready_calls = self.slots().iter().any(Slot::is_ready) || limit.resource == Resource::Time;
        let event = TurnEvent::BudgetReached {
            limit: limit.as_str().into(),
        };
        match self.open_turn().map(|turn| &turn.phase) {
            Some(Phase::Calling(_)) => {
                let purpose = self
                    .calling()
                    .ok_or(MachineError::NotWaitingFor("the limit of a budget"))?;
                self.count(lost);
                changes.emit(event);
                if wraps_up && purpose == Purpose::Reply {
                    self.wrap_up(limit);
                } else {
                    self.end(End::Limit(LimitKind::Budget(limit)), changes);
                }
            }
            Some(Phase::Acting { .. }) if has_ready_calls && self.summing.is_none() && self.draft().is_none() => {
                changes.emit(event);
                self.limit_tools(limit, wraps_up, changes);
            }
            _ => return Err(MachineError::NotWaitingFor("the limit of a budget")),
        }
        Ok(())
    }

    /// Makes the next reply the last one.
    fn wrap_up(&mut self, limit: BudgetLimit) {
        let Some(turn) = &mut self.turn else { return };
        turn.wraps_up = Some(limit);
        turn.phase = Phase::Calling(Purpose::WrapUp);
        // After the input of the turn, or a hint, the note would be a second consecutive user message.
        if turn.pending.is_empty() {
            turn.pending.push(Arc::new(turn.wrap_up_note()));
        }
    }

    fn spend(&mut self, spent: &Spent) {
        self.cost.add(spent);
        if let Some(turn) = &mut self.turn {
            turn.cost.add(spent);
        }
    }

    fn record_events(&mut self, count: u64) -> Result<(), MachineError> {
        match &mut self.turn {
            Some(turn) if !matches!(turn.phase, Phase::Ended(_)) => {
                turn.events_sent = count;
                Ok(())
            }
            _ => Err(MachineError::NoTurn),
        }
    }

    /// Returns whether this number of rounds reaches the limit, and the model must wrap up.
    pub(super) fn rounds_are_over(&self, rounds: u32) -> bool {
        rounds >= self.limits.max_tool_turns && self.limits.at_round_limit == RoundLimit::WrapUp
    }

    pub(super) fn end(&mut self, end: End, changes: &mut Changes) {
        let Some(turn) = &mut self.turn else { return };
        changes
            .events
            .extend(end.fault().map(|fault| TurnEvent::Error(fault).into()));
        turn.pending.clear();
        turn.phase = Phase::Ended(end);
        turn.overflow = Overflow::None;
        // Compactions were paused for a whole turn.
        if turn.breaker_was_open {
            self.breaker.close();
        }
        changes.emit(TurnEvent::Complete {
            usage: Box::new(turn.spent.clone()),
        });
    }

    /// Moves what the turn has added so far into the history.
    fn commit_pending(&mut self, changes: &mut Changes) {
        let Some(turn) = &mut self.turn else { return };
        if std::mem::take(&mut turn.replaces) {
            self.history.clear();
            self.forgotten.clear();
            changes.replaced = true;
        }
        changes.appended += turn.pending.len();
        self.history.append(&mut turn.pending);
    }

    pub(super) fn append(&mut self, message: Message, changes: &mut Changes) {
        changes.appended += 1;
        self.history.push(Arc::new(message));
    }

    pub(super) fn append_shared(&mut self, message: Arc<AssistantMessage>, changes: &mut Changes) {
        self.append(Message::Assistant((*message).clone()), changes);
    }

    pub(super) fn count(&mut self, spent: &UsageTracker) {
        self.usage.merge(spent);
        if let Some(turn) = &mut self.turn {
            turn.spent.merge(spent);
        }
    }
}

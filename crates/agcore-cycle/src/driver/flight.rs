//! [`Flight`]: what is known about the call in flight, so that it is counted however it ends.

use std::time::Duration;

use agcore_chat::{ChatResponse, ModelCall, Usage};
use agcore_llm::{Fold, LlmError, LlmErrorKind, TimeoutStage};

use super::{call_log::CallLog, hold::Hold, spending::Spending};
use crate::{budget::Spent, machine::Lost};

/// The call in flight: its reply so far, and what it may cost.
#[derive(Default)]
pub(super) struct Flight {
    /// The part of the reply that has arrived.
    pub(super) fold: Fold,
    /// The reservation for the call, if there are budgets.
    pub(super) hold: Option<Box<Hold>>,
    /// The attempts that failed or were given up after something had been sent, if there are any.
    pub(super) lost: Lost,
    /// Whether the last reply is the answer, and the machine has not counted it yet.
    is_answered: bool,
    /// The cost of these attempts, if there are budgets.
    lost_cost: Spent,
    /// The attempts, if a recorder wants them.
    log: Option<Box<CallLog>>,
    stage: Stage,
}

/// The progress of an attempt.
#[derive(Default, Clone, Copy)]
enum Stage {
    /// Nothing is in flight.
    #[default]
    Idle,
    /// The next poll sends it.
    Ready,
    /// A layer holds it back until this moment.
    HeldBack(Duration),
    /// It may have reached a server.
    Sent,
    /// It has ended and its cost is settled, but the machine does not know its usage yet.
    Settled,
}

impl Flight {
    pub(super) fn new(hold: Option<Box<Hold>>, log: Option<Box<CallLog>>) -> Self {
        Self {
            hold,
            log,
            stage: Stage::Ready,
            ..Self::default()
        }
    }

    /// Records that the reply is about to be polled.
    pub(super) fn poll(&mut self) {
        if matches!(self.stage, Stage::Ready) {
            self.stage = Stage::Sent;
        }
    }

    /// Records that a part of the reply arrived.
    pub(super) fn receive(&mut self) {
        self.stage = Stage::Sent;
    }

    /// Records that nothing is sent before the next poll.
    pub(super) fn rest(&mut self) {
        self.stage = Stage::Ready;
    }

    /// Records that nothing is sent before a moment.
    pub(super) fn hold_back(&mut self, until: Duration) {
        self.stage = Stage::HeldBack(until);
        if let Some(log) = &mut self.log {
            log.start(until);
        }
    }

    /// Takes the attempts that have ended since the last call, if a recorder wants them.
    pub(super) fn take_calls(&mut self) -> Vec<ModelCall> {
        self.log.as_mut().map(|log| log.take()).unwrap_or_default()
    }

    /// Records the end of the attempt in flight, if a recorder wants it.
    fn log(&mut self, spending: &Spending<'_>, answer: Option<&ChatResponse>, usage: Option<&Usage>) {
        if let Some(log) = &mut self.log {
            log.end(spending.now(), answer, usage);
        }
    }

    /// Returns whether the attempt may have reached a server.
    fn may_be_sent(&self, now: Duration) -> bool {
        match self.stage {
            Stage::Sent => true,
            Stage::HeldBack(until) => now >= until,
            Stage::Idle | Stage::Ready | Stage::Settled => false,
        }
    }

    /// Counts the current attempt as lost: another one follows. `usage` is that which is known otherwise.
    pub(super) fn lose_attempt(&mut self, spending: &Spending<'_>, usage: Option<Usage>) {
        let mut partial = self.fold.take();
        partial.usage = usage.or(partial.usage);
        self.lost.record(partial.usage.as_ref());
        self.log(spending, Some(&partial), partial.usage.as_ref());
        if let Some(hold) = &self.hold {
            self.lost_cost.add(&spending.cost_of(hold, Some(&partial), false));
        }
        if let Some(who) = partial.answered_by {
            self.fold.set_answered_by(who);
        }
    }

    /// Counts a call that ended with an answer. Returns its cost and time, if there are budgets.
    pub(super) fn answered(&mut self, spending: &mut Spending<'_>, answer: &ChatResponse) -> Option<Spent> {
        // The machine counts the answer with its reply, unless the turn is dropped before.
        self.is_answered = true;
        self.log(spending, Some(answer), answer.usage.as_ref());
        self.settle(spending, Some(answer), true)
    }

    /// Counts a call that failed.
    pub(super) fn failed(&mut self, spending: &mut Spending<'_>, error: &LlmError) -> Option<Spent> {
        let partial = error.partial();
        let is_paid = partial.is_some() || self.may_be_sent(spending.now()) && is_paid(error);
        if is_paid {
            let usage = partial.and_then(|partial| partial.usage.as_ref());
            self.lost.record(usage);
            self.log(spending, partial, usage);
            return self.settle(spending, partial, false);
        }
        self.settle_lost(spending)
    }

    /// Counts a call that is given up in the middle: because it was dropped, or a budget ran out.
    pub(super) fn given_up(&mut self, spending: &mut Spending<'_>) -> Option<Spent> {
        if !self.may_be_sent(spending.now()) {
            return self.settle_lost(spending);
        }
        let partial = self.fold.take();
        self.lost.record(partial.usage.as_ref());
        self.log(spending, Some(&partial), partial.usage.as_ref());
        self.settle(spending, Some(&partial), false)
    }

    /// Takes the usage that the machine does not know yet, of a call that was dropped. `last` is the last reply.
    pub(super) fn take_dropped(
        &mut self,
        spending: &mut Spending<'_>,
        last: Option<&ChatResponse>,
    ) -> (Option<Spent>, Lost, Vec<ModelCall>) {
        let spent = match self.stage {
            Stage::Idle | Stage::Settled => None,
            Stage::Ready | Stage::HeldBack(_) | Stage::Sent => self.given_up(spending),
        };
        if let Some(answer) = last.filter(|_| self.is_answered) {
            self.lost.record(answer.usage.as_ref());
        }
        let calls = self.take_calls();
        (spent, std::mem::take(self).lost, calls)
    }

    /// Settles the cost of the last attempt and of those before it.
    fn settle(&mut self, spending: &mut Spending<'_>, answer: Option<&ChatResponse>, is_whole: bool) -> Option<Spent> {
        if let Some(hold) = &self.hold {
            self.lost_cost.add(&spending.cost_of(hold, answer, is_whole));
        }
        self.settle_lost(spending)
    }

    fn settle_lost(&mut self, spending: &mut Spending<'_>) -> Option<Spent> {
        self.stage = Stage::Settled;
        let cost = std::mem::take(&mut self.lost_cost);
        Some(spending.settle(*self.hold.take()?, cost))
    }
}

/// Returns whether a call that failed without any part of an answer may have been paid for. Servers do not charge for
/// requests that they refuse; but once a request has been sent, giving it up does not take it back.
fn is_paid(error: &LlmError) -> bool {
    match error.kind() {
        LlmErrorKind::Timeout(stage) => *stage != TimeoutStage::Connect,
        LlmErrorKind::Cancelled | LlmErrorKind::Truncated | LlmErrorKind::Malformed => true,
        _ => false,
    }
}

//! [`Flight`]: the usage and the reply of the call in flight, so that it is counted however it ends.

use std::time::Duration;

use agcore_chat::{ChatResponse, Usage};
use agcore_llm::{Fold, LlmError, LlmErrorKind, TimeoutStage};

use crate::machine::Lost;

/// The call in flight: its reply so far, and the attempts that were lost.
#[derive(Default)]
pub(super) struct Flight {
    /// The part of the reply that has arrived.
    pub(super) fold: Fold,
    /// The attempts that failed or were given up after the request had been sent, if there are any.
    pub(super) lost: Lost,
    /// Whether the last reply is the answer, and the machine has not counted it yet.
    is_answered: bool,
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
    /// Creates a flight that the next poll sends.
    pub(super) fn ready() -> Self {
        Self {
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
    }

    /// Records that the call ended with an answer. The machine counts the answer with its reply, unless the turn is dropped
    /// before.
    pub(super) fn answer(&mut self) {
        self.is_answered = true;
    }

    /// Records that the cost of the call is settled.
    pub(super) fn settle(&mut self) {
        self.stage = Stage::Settled;
    }

    /// Returns whether nothing is in flight and nothing was lost.
    pub(super) fn is_idle(&self) -> bool {
        matches!(self.stage, Stage::Idle) && !self.is_answered && self.lost.get().is_none()
    }

    /// Returns whether the call is over, or nothing is in flight.
    pub(super) fn is_over(&self) -> bool {
        matches!(self.stage, Stage::Idle | Stage::Settled)
    }

    /// Returns whether the last reply is an answer that the machine has not counted.
    pub(super) fn is_answered(&self) -> bool {
        self.is_answered
    }

    /// Returns whether the attempt may have reached a server.
    pub(super) fn may_be_sent(&self, now: Duration) -> bool {
        match self.stage {
            Stage::Sent => true,
            Stage::HeldBack(until) => now >= until,
            Stage::Idle | Stage::Ready | Stage::Settled => false,
        }
    }

    /// Counts the current attempt as lost. Returns what has arrived of it. `usage` is that which is known otherwise.
    pub(super) fn lose(&mut self, usage: Option<Usage>) -> ChatResponse {
        let mut partial = self.fold.take();
        partial.usage = usage.or(partial.usage);
        self.lost.record(partial.usage.as_ref());
        partial
    }

    /// Returns whether an attempt that failed may have been paid for.
    pub(super) fn is_paid(&self, error: &LlmError, now: Duration) -> bool {
        error.partial().is_some() || self.may_be_sent(now) && is_paid(error)
    }
}

/// Returns whether a call that failed without any part of an answer may have been paid for. Servers do not charge for
/// requests that they refuse; but once a request has been sent, giving it up does not take it back.
fn is_paid(error: &LlmError) -> bool {
    match error.kind() {
        LlmErrorKind::Timeout(stage) => stage != TimeoutStage::Connect,
        LlmErrorKind::Cancelled | LlmErrorKind::Truncated | LlmErrorKind::Malformed => true,
        _ => false,
    }
}

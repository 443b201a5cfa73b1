//! [`Turn`]: the state of one turn.

mod round;
mod typed;

use std::{mem, ops::Not, sync::Arc};

use agcore_chat::{Answer, AssistantMessage, Fault, Message, QuestionId, TurnEvent, UsageTracker};
use serde::{Deserialize, Serialize};

pub(super) use round::SettledCall;

use super::{
    changes::Changes,
    end::{End, LimitKind},
    outcome::{Begin, expectation::Expectation, limits::Limits},
    result,
    slot::Slot,
    step::Purpose,
};
use crate::budget::{BudgetLimit, Spent};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Turn {
    /// Input or a note. It enters the history with the next accepted reply.
    pub(super) pending: Vec<Arc<Message>>,
    /// Whether `pending` replaces the history.
    pub(super) replaces: bool,
    pub(super) phase: Phase,
    /// The number of rounds that entered the history.
    pub(super) round: u32,
    pub(super) spent: UsageTracker,
    /// How the turn ends once its calls are settled.
    pub(super) closing: Option<Box<End>>,
    pub(super) answered: Vec<(QuestionId, Answer)>,
    #[serde(default, skip_serializing_if = "Overflow::is_none")]
    pub(super) overflow: Overflow,
    /// The budget limit that makes the model wrap up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) wraps_up: Option<BudgetLimit>,
    /// Whether the breaker of compactions was open when the turn started.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub(super) breaker_was_open: bool,
    #[serde(default, skip_serializing_if = "Spent::is_zero")]
    pub(super) cost: Spent,
    /// The number of events that were sent.
    #[serde(rename = "told", default, skip_serializing_if = "is_zero")]
    pub(super) events_sent: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) typed: Option<Box<Typed>>,
}

/// The requirements of a typed turn for its answer, and how many times the answer was sent back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Typed {
    pub(super) expectation: Expectation,
    pub(super) repairs: u32,
}

impl Typed {
    pub(super) fn new(expectation: Expectation) -> Self {
        Self {
            expectation,
            repairs: 0,
        }
    }
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Whether the model rejected the call in flight because the conversation is too long.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Overflow {
    #[default]
    None,
    /// It did: the conversation must be compacted.
    Due(Box<Fault>),
    /// It did, and the call is made once more. If that fails, the turn fails.
    Retried,
}

impl Overflow {
    fn is_none(&self) -> bool {
        *self == Self::None
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Phase {
    Calling(Purpose),
    /// A reply without calls, to be checked before it counts as the answer.
    Checking {
        reply: Arc<AssistantMessage>,
        is_cut: bool,
    },
    Acting {
        reply: Arc<AssistantMessage>,
        slots: Vec<Slot>,
    },
    Ended(End),
}

impl Turn {
    pub(super) fn new(begin: Begin, limits: &Limits) -> Self {
        let mut turn = Self {
            pending: begin.messages,
            replaces: begin.replaces,
            phase: Phase::Calling(Purpose::Reply),
            round: 0,
            spent: UsageTracker::default(),
            closing: None,
            answered: Vec::new(),
            overflow: Overflow::None,
            wraps_up: None,
            breaker_was_open: false,
            cost: Spent::default(),
            events_sent: 0,
            typed: begin.expectation.map(|expectation| Box::new(Typed::new(expectation))),
        };
        // Without any rounds, offering tools would be pointless.
        turn.call_model(limits);
        turn
    }

    pub(super) fn is_open(&self) -> bool {
        !matches!(self.phase, Phase::Ended(_))
    }

    /// Makes a call of the model the next step, without tools if the model must wrap up.
    pub(super) fn call_model(&mut self, limits: &Limits) {
        let is_last = self.wraps_up.is_some() || limits.must_wrap_up(self.round);
        self.phase = Phase::Calling(if is_last { Purpose::WrapUp } else { Purpose::Reply });
    }

    /// Returns the limit that made the model wrap up.
    pub(super) fn wrap_up_limit(&self, purpose: Purpose) -> Option<LimitKind> {
        (purpose == Purpose::WrapUp).then(|| self.wraps_up.map_or(LimitKind::ToolTurns, LimitKind::Budget))
    }

    /// Makes the next reply the last one, because of a budget.
    pub(super) fn wrap_up(&mut self, limit: BudgetLimit) {
        self.wraps_up = Some(limit);
        self.phase = Phase::Calling(Purpose::WrapUp);
        // After the input of the turn, or a hint, the note would be a second consecutive user message.
        if self.pending.is_empty() {
            self.add_wrap_up_note();
        }
    }

    fn add_wrap_up_note(&mut self) {
        let note = result::wrap_up_note(self.answering_tool());
        self.pending.push(Arc::new(note));
    }

    /// Returns the name of the tool whose arguments are the answer, if the model is asked through a tool.
    fn answering_tool(&self) -> Option<&str> {
        self.typed.as_ref()?.expectation.answering_tool()
    }

    /// Takes the fault that the current compaction must resolve.
    pub(super) fn take_overflow(&mut self) -> Option<Fault> {
        match mem::replace(&mut self.overflow, Overflow::Retried) {
            Overflow::Due(fault) => Some(*fault),
            other => {
                self.overflow = other;
                None
            }
        }
    }

    /// Makes the turn end like this once its calls are settled. The first handoff wins, but a stop or a fault replaces it: a
    /// caller who cancels does not want the next agent.
    pub(super) fn close_with(&mut self, end: End) {
        if self.closing.is_none() || !matches!(end, End::Diverted { .. }) {
            self.closing = Some(Box::new(end));
        }
    }

    /// Ends the turn. Its pending messages never enter the history.
    pub(super) fn end(&mut self, end: End, changes: &mut Changes) {
        if let Some(fault) = end.fault() {
            changes.emit(|| TurnEvent::Error(fault));
        }
        self.pending.clear();
        self.phase = Phase::Ended(end);
        self.overflow = Overflow::None;
        changes.emit(|| TurnEvent::Complete {
            usage: Box::new(self.spent.clone()),
        });
    }
}

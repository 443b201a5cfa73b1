//! [`Machine`]: the state, what it says of itself, and what is to be done next.

use std::{mem, sync::Arc};

use agcore_chat::{
    Answer, CompactionBreaker, Message, Question, QuestionId, ToolCall, UsageTracker, validate_messages,
};
use serde::{Deserialize, Deserializer, Serialize, de::Error};

use super::{
    changes::MachineError,
    compact::Compact,
    limits::Limits,
    step::{CallPlan, Purpose, Step, View},
    turn::{Overflow, Phase, Slot, SlotState, Turn},
};
use crate::budget::Spent;

/// The version of the state's JSON form that this code writes.
const VERSION: u16 = 1;

/// The state of one conversation's engine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Stands first, so that another version is told before its other members are looked at.
    #[serde(deserialize_with = "known_version")]
    version: u16,
    pub(super) history: Vec<Arc<Message>>,
    pub(super) turn: Option<Turn>,
    /// Turns begun so far.
    pub(super) turns: u32,
    pub(super) usage: UsageTracker,
    pub(super) limits: Limits,
    /// The compaction that waits for a summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) summing: Option<Compact>,
    #[serde(default)]
    pub(super) breaker: CompactionBreaker,
    /// Ids of calls that compactions took out; an id names one call for good.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) forgotten: Vec<String>,
    #[serde(default, skip_serializing_if = "Spent::is_nothing")]
    pub(super) cost: Spent,
}

fn known_version<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u16, D::Error> {
    match u16::deserialize(deserializer)? {
        VERSION => Ok(VERSION),
        other => Err(D::Error::custom(format_args!(
            "this state has version {other}, but this program reads version {VERSION}: use the program that wrote it"
        ))),
    }
}

impl Machine {
    /// An engine without a history.
    pub fn new(limits: Limits) -> Self {
        Self {
            version: VERSION,
            history: Vec::new(),
            turn: None,
            turns: 0,
            usage: UsageTracker::default(),
            limits,
            summing: None,
            breaker: CompactionBreaker::default(),
            forgotten: Vec::new(),
            cost: Spent::default(),
        }
    }

    /// The conversation so far; always valid.
    pub fn history(&self) -> &[Arc<Message>] {
        &self.history
    }

    /// Tokens and calls of all turns.
    pub fn usage(&self) -> &UsageTracker {
        &self.usage
    }

    /// Tokens and calls of the newest turn.
    pub fn turn_usage(&self) -> Option<&UsageTracker> {
        self.turn.as_ref().map(|turn| &turn.spent)
    }

    /// Counts from zero again: usage, and what was spent of the budgets.
    pub fn reset_usage(&mut self) {
        self.usage = UsageTracker::default();
        self.cost = Spent::default();
    }

    /// What all turns spent of the budgets, as far as it was told.
    pub fn spent(&self) -> &Spent {
        &self.cost
    }

    /// What the newest turn spent of the budgets.
    pub fn turn_spent(&self) -> Option<&Spent> {
        self.turn.as_ref().map(|turn| &turn.cost)
    }

    /// How many events of the newest turn were told before it was suspended.
    pub fn told(&self) -> u64 {
        self.turn.as_ref().map_or(0, |turn| turn.told)
    }

    /// Whether compactions at the threshold rest, because the last ones did not help.
    pub fn compaction_rests(&self) -> bool {
        self.breaker.is_open()
    }

    /// The compaction that waits for a summary.
    pub fn summing(&self) -> Option<&Compact> {
        self.summing.as_ref()
    }

    /// The conversation as a compaction sees it: what the next request shows.
    pub fn view(&self) -> View<'_> {
        match self.open_turn() {
            Some(turn) if turn.replaces => View {
                older: &turn.pending,
                added: &[],
            },
            Some(turn) => View {
                older: &self.history,
                added: &turn.pending,
            },
            None => View {
                older: &self.history,
                added: &[],
            },
        }
    }

    /// The limits of its turns.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Sets the limits; those of an open turn change with it.
    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// How many turns have begun.
    pub fn turns(&self) -> u32 {
        self.turns
    }

    /// The newest turn's place, from 0.
    pub fn turn_index(&self) -> u32 {
        self.turns.saturating_sub(1)
    }

    /// The newest turn's round, from 0.
    pub fn round(&self) -> u32 {
        self.turn.as_ref().map_or(0, |turn| turn.round)
    }

    /// Whether a turn has begun and not ended.
    pub fn is_open(&self) -> bool {
        self.open_turn().is_some()
    }

    /// Replaces the history, between turns only.
    ///
    /// # Errors
    /// [`MachineError::TurnOpen`] while a turn is open, [`MachineError::InvalidMessages`] for a history that may not be sent; an empty
    /// one is fine. The state stays as it was.
    pub fn set_history(&mut self, history: Vec<Arc<Message>>) -> Result<(), MachineError> {
        if self.is_open() {
            return Err(MachineError::TurnOpen);
        }
        if !history.is_empty() {
            validate_messages(&history).map_err(MachineError::InvalidMessages)?;
        }
        self.history = history;
        self.summing = None;
        self.forgotten.clear();
        self.breaker.close();
        Ok(())
    }

    /// What is to be done now.
    pub fn next(&self) -> Step<'_> {
        if let Some(cut) = self.summing.as_ref().and_then(|compact| compact.cut) {
            return Step::Call(CallPlan {
                purpose: Purpose::Summary,
                history: self.view().older.get(..cut).unwrap_or_default(),
                pending: &[],
            });
        }
        let Some(turn) = &self.turn else { return Step::Idle };
        match &turn.phase {
            Phase::Calling(_) if matches!(turn.overflow, Overflow::Due(_)) => Step::Shorten(self.view()),
            Phase::Calling(purpose) => Step::Call(CallPlan {
                purpose: *purpose,
                history: if turn.replaces { &[] } else { &self.history },
                pending: &turn.pending,
            }),
            Phase::Checking { .. } => self.draft().map_or(Step::Idle, Step::Check),
            Phase::Acting { slots, .. } => self.draft().map_or_else(|| acting(slots), Step::Check),
            Phase::Ended(end) => Step::End(end),
        }
    }

    /// Calls that were running when the state was saved: whether they took effect is not known. Each is settled by
    /// [`Outcome::Redo`](super::Outcome::Redo) or by an [`Outcome::Tool`](super::Outcome::Tool) before the turn goes on.
    pub fn uncertain(&self) -> impl Iterator<Item = &ToolCall> {
        self.slots()
            .iter()
            .filter(|slot| matches!(slot.state, SlotState::Running))
            .map(|slot| &*slot.call)
    }

    /// The questions that wait for an answer.
    pub fn questions(&self) -> impl Iterator<Item = &Question> {
        self.slots().iter().filter_map(|slot| match &slot.state {
            SlotState::Asking(question) => Some(&**question),
            _ => None,
        })
    }

    /// The answer that a question of this turn was given.
    pub fn answer_of(&self, question: &QuestionId) -> Option<&Answer> {
        let answered = &self.turn.as_ref()?.answered;
        answered.iter().find(|(id, _)| id == question).map(|(_, answer)| answer)
    }

    pub(super) fn open_turn(&self) -> Option<&Turn> {
        self.turn.as_ref().filter(|turn| !matches!(turn.phase, Phase::Ended(_)))
    }

    pub(super) fn slots(&self) -> &[Slot] {
        match self.turn.as_ref().map(|turn| &turn.phase) {
            Some(Phase::Acting { slots, .. }) => slots,
            _ => &[],
        }
    }

    pub(super) fn slots_mut(&mut self) -> &mut [Slot] {
        match self.turn.as_mut().map(|turn| &mut turn.phase) {
            Some(Phase::Acting { slots, .. }) => slots,
            _ => &mut [],
        }
    }

    /// Replaces what [`view`](Self::view) calls older; gives back whether that was history.
    pub(super) fn set_older(&mut self, older: Vec<Arc<Message>>) -> bool {
        let replaces = self.open_turn().is_some_and(|turn| turn.replaces);
        match &mut self.turn {
            Some(turn) if replaces => turn.pending = older,
            _ => self.history = older,
        }
        !replaces
    }

    /// The fault that the compaction under way shall help against.
    pub(super) fn take_overflow(&mut self) -> Option<agcore_chat::Fault> {
        let overflow = &mut self.turn.as_mut()?.overflow;
        match mem::replace(overflow, Overflow::Retried) {
            Overflow::Due(fault) => Some(fault),
            other => {
                *overflow = other;
                None
            }
        }
    }
}

/// What is to be done while calls run: start what is ready, else wait for what runs, else for a person.
fn acting(slots: &[Slot]) -> Step<'_> {
    let ready: Vec<_> = slots.iter().filter_map(Slot::work).collect();
    if !ready.is_empty() || slots.iter().any(|slot| matches!(slot.state, SlotState::Running)) {
        return Step::Run(ready);
    }
    let asked = |slot| match slot {
        &Slot {
            state: SlotState::Asking(ref question),
            ..
        } => Some(&**question),
        _ => None,
    };
    Step::Wait(slots.iter().filter_map(asked).collect())
}

//! [`Machine`]: the state, its accessors, and the next step.

use std::sync::Arc;

use agcore_chat::{
    Answer, CompactionBreaker, Message, Question, QuestionId, Text, ToolCall, ToolWork, UsageTracker, validate_messages,
};
use serde::{Deserialize, Serialize};

use super::{
    call_ids::{ForgottenIds, forget, unique_id},
    changes::MachineError,
    history::{History, ids},
    outcome::{compact::Compact, limits::Limits},
    slot::Slot,
    step::{CallPlan, Purpose, Step, View},
    turn::{Overflow, Phase, Turn},
    version,
};
use crate::budget::Spent;

/// The number of answers of earlier turns that the machine remembers, to distinguish a repetition from a mistake.
pub(super) const REMEMBERED_ANSWERS: usize = 32;

/// The state of one conversation.
///
/// # Saving
///
/// The state is plain JSON of any serde format. It contains its version: states of older versions are migrated when they are
/// read, and those of newer ones are an error. Reading also checks that the parts fit together: that the history can be sent,
/// that calls and questions belong to the reply, that ids are unique.
///
/// That check finds damage, not forgery. Code that can write to the store can also approve calls and rewrite the
/// conversation: the state is as trustworthy as its store. Do not let a browser or another untrusted party keep it,
/// unless it is signed.
///
/// ```
/// use agcore_chat::{AssistantMessage, Message};
/// use agcore_cycle::machine::{Begin, Limits, Machine, Outcome, Reply, Step};
///
/// let mut machine = Machine::new(Limits::new());
/// assert_eq!(machine.next(), Step::Idle);
///
/// // A turn starts: the model must be called.
/// machine.absorb(Outcome::TurnStarted(Begin::new([Message::user("Hello")])))?;
/// assert!(matches!(machine.next(), Step::Call(_)));
///
/// // The model replies without tool calls: the turn ends.
/// machine.absorb(Outcome::Reply(Reply::new(AssistantMessage::new("Good day."))))?;
/// assert!(matches!(machine.next(), Step::End(_)));
/// assert_eq!(machine.history().len(), 2);
/// # Ok::<(), agcore_cycle::machine::MachineError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
// Generates functions, not implementations of the traits: a state that was read is migrated and checked.
#[serde(remote = "Self")]
pub struct Machine {
    /// First, so that an unknown version is reported before other members are read.
    #[serde(deserialize_with = "version::known_version")]
    pub(super) version: u16,
    pub(super) history: History,
    pub(super) turn: Option<Box<Turn>>,
    /// The number of turns started so far.
    pub(super) turns: u32,
    pub(super) usage: UsageTracker,
    pub(super) limits: Limits,
    /// The compaction that waits for a summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) summing: Option<Box<Compact>>,
    #[serde(default)]
    pub(super) breaker: CompactionBreaker,
    /// The ids of calls that are no longer in the history. They are kept because ids are never reused.
    #[serde(default, skip_serializing_if = "ForgottenIds::is_empty")]
    pub(super) forgotten: ForgottenIds,
    #[serde(default, skip_serializing_if = "Spent::is_zero")]
    pub(super) cost: Spent,
    /// The number of questions that were asked so far. Never reset, so that no question gets the id of another one.
    #[serde(default)]
    pub(super) asked: u64,
    /// The newest answers of earlier turns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) remembered: Vec<(QuestionId, Answer)>,
}

/// The amounts that a conversation has spent of its budgets so far.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Account<'m> {
    /// By the open turn, if there is one.
    pub(crate) turn: Option<&'m Spent>,
    /// By all turns.
    pub(crate) all: &'m Spent,
}

impl Machine {
    /// Creates a machine with an empty history.
    pub fn new(limits: Limits) -> Self {
        Self {
            version: version::VERSION,
            history: History::default(),
            turn: None,
            turns: 0,
            usage: UsageTracker::default(),
            limits,
            summing: None,
            breaker: CompactionBreaker::default(),
            forgotten: ForgottenIds::default(),
            cost: Spent::default(),
            asked: 0,
            remembered: Vec::new(),
        }
    }

    /// Returns the conversation so far, which is always valid.
    pub fn history(&self) -> &[Arc<Message>] {
        self.history.as_slice()
    }

    /// Returns the tokens and calls of all turns.
    pub fn usage(&self) -> &UsageTracker {
        &self.usage
    }

    /// Returns the tokens and calls of the newest turn.
    pub fn turn_usage(&self) -> Option<&UsageTracker> {
        self.turn.as_ref().map(|turn| &turn.spent)
    }

    /// Resets usage and spending to zero.
    pub fn reset_usage(&mut self) {
        self.usage = UsageTracker::default();
        self.cost = Spent::default();
    }

    /// Returns what all turns spent of the budgets.
    pub fn spent(&self) -> &Spent {
        &self.cost
    }

    /// Returns what the newest turn spent of the budgets.
    pub fn turn_spent(&self) -> Option<&Spent> {
        self.turn.as_ref().map(|turn| &turn.cost)
    }

    /// Returns what was spent so far.
    pub(crate) fn account(&self) -> Account<'_> {
        Account {
            turn: self.turn_spent().filter(|_| self.is_open()),
            all: self.spent(),
        }
    }

    /// Returns the number of events of the newest turn that were sent before it was suspended.
    pub fn events_sent(&self) -> u64 {
        self.turn.as_ref().map_or(0, |turn| turn.events_sent)
    }

    /// Returns whether compactions at the threshold are paused because the last ones did not help.
    pub fn is_compaction_paused(&self) -> bool {
        self.breaker.is_open()
    }

    /// Returns the compaction that waits for a summary.
    pub fn pending_summary(&self) -> Option<&Compact> {
        self.summing.as_deref()
    }

    /// Returns the conversation as a compaction sees it: what the next request contains.
    pub fn view(&self) -> View<'_> {
        match self.open_turn() {
            Some(turn) if turn.replaces => View {
                older: &turn.pending,
                added: &[],
            },
            Some(turn) => View {
                older: self.history.as_slice(),
                added: &turn.pending,
            },
            None => View {
                older: self.history.as_slice(),
                added: &[],
            },
        }
    }

    /// Returns the limits of every turn.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Sets the limits, including those of an open turn.
    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// Returns the number of turns started so far.
    pub fn turns(&self) -> u32 {
        self.turns
    }

    /// Returns the index of the newest turn, from 0.
    pub fn turn_index(&self) -> u32 {
        self.turns.saturating_sub(1)
    }

    /// Returns the round of the newest turn, from 0.
    pub fn round(&self) -> u32 {
        self.turn.as_ref().map_or(0, |turn| turn.round)
    }

    /// Returns whether no rounds of tools are left after the newest reply, so that the next one must be the answer.
    pub fn is_last_round(&self) -> bool {
        self.is_open() && self.round() >= self.limits.max_tool_turns
    }

    /// Returns whether a turn has started and not ended.
    pub fn is_open(&self) -> bool {
        self.open_turn().is_some()
    }

    /// Replaces the history between turns. New calls and questions still get ids that were never used.
    ///
    /// # Errors
    /// [`MachineError::TurnOpen`] while a turn is open, [`MachineError::InvalidMessages`] for a history that cannot be sent (an
    /// empty one is fine). The state stays as it was.
    pub fn set_history(&mut self, history: Vec<Arc<Message>>) -> Result<(), MachineError> {
        if self.is_open() {
            return Err(MachineError::TurnOpen);
        }
        if !history.is_empty() {
            validate_messages(&history).map_err(MachineError::InvalidMessages)?;
        }
        forget(&self.history, &history, &mut self.forgotten);
        self.history.replace(history);
        self.summing = None;
        self.breaker.close();
        Ok(())
    }

    /// Returns the next step.
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
                history: if turn.replaces { &[] } else { self.history.as_slice() },
                pending: &turn.pending,
            }),
            Phase::Checking { .. } => self.draft().map_or(Step::Idle, Step::Check),
            Phase::Acting { slots, .. } => self.draft().map_or_else(|| next_of_round(slots), Step::Check),
            Phase::Ended(end) => Step::End(end),
        }
    }

    /// Returns the calls that were running when the state was saved. Whether they took effect is unknown. Settle each with an
    /// [`Outcome::Redo`](super::Outcome::Redo) or an [`Outcome::Tool`](super::Outcome::Tool) before the turn continues.
    pub fn uncertain(&self) -> impl Iterator<Item = &ToolCall> {
        self.slots()
            .iter()
            .filter(|slot| slot.is_running())
            .map(|slot| &*slot.call)
    }

    /// Returns the questions that wait for an answer.
    pub fn questions(&self) -> impl Iterator<Item = &Question> {
        self.slots().iter().filter_map(Slot::question)
    }

    /// Returns the answer to a question of the newest turn, or to one of the last 32 that were answered in earlier turns.
    pub fn answer_of(&self, question: &QuestionId) -> Option<&Answer> {
        let of_turn = self.turn.as_ref().and_then(|turn| turn.answer_of(question));
        of_turn.or_else(|| {
            let mut remembered = self.remembered.iter();
            remembered.find(|(id, _)| id == question).map(|(_, answer)| answer)
        })
    }

    /// Returns whether a question was answered in the turn that is open.
    pub(crate) fn is_answered_in_open_turn(&self, question: &QuestionId) -> bool {
        self.open_turn().is_some_and(|turn| turn.answer_of(question).is_some())
    }

    /// Returns a call that waits to start, or runs.
    pub(crate) fn pending_call(&self, id: &(impl PartialEq<str> + ?Sized)) -> Option<&Arc<ToolCall>> {
        let mut slots = self.slots().iter();
        slots
            .find(|slot| *id == *slot.call.id && slot.is_pending())
            .map(|slot| &slot.call)
    }

    /// Returns whether a call waits to start.
    pub(crate) fn is_ready(&self, id: &(impl PartialEq<str> + ?Sized)) -> bool {
        self.slots().iter().any(|slot| *id == *slot.call.id && slot.is_ready())
    }

    /// Returns whether a call runs.
    pub(crate) fn is_running(&self, id: &(impl PartialEq<str> + ?Sized)) -> bool {
        self.slots()
            .iter()
            .any(|slot| *id == *slot.call.id && slot.is_running())
    }

    /// Returns whether a call continues after a question that it asked while it ran.
    pub(crate) fn continues(&self, id: &(impl PartialEq<str> + ?Sized)) -> bool {
        let mut slots = self.slots().iter();
        slots.any(|slot| *id == *slot.call.id && slot.continues())
    }

    /// Returns the id that a call of the next reply will have, if that is not the one of the server. `own` are the ids of the
    /// calls before it in the same reply.
    pub(crate) fn final_call_id(&self, id: &str, own: &[Text]) -> Option<String> {
        let pending = self.open_turn().map_or(&[][..], |turn| &turn.pending);
        unique_id(id, &self.forgotten, &self.history, || {
            ids(pending).chain(own.iter().map(|id| &**id))
        })
    }

    /// Returns the calls that can start now, if that is the next step. Does not read the history.
    pub(super) fn ready(&self) -> Vec<ToolWork> {
        let is_summing = self.summing.as_ref().is_some_and(|compact| compact.cut.is_some());
        if is_summing || self.draft().is_some() {
            return Vec::new();
        }
        ready(self.slots())
    }

    pub(super) fn open_turn(&self) -> Option<&Turn> {
        self.turn.as_deref().filter(|turn| turn.is_open())
    }

    fn slots(&self) -> &[Slot] {
        self.turn.as_deref().map(Turn::slots).unwrap_or_default()
    }

    /// Replaces what [`view`](Self::view) calls `older`. Returns whether that was the history.
    pub(super) fn set_older(&mut self, older: Vec<Arc<Message>>) -> bool {
        let replaces = self.open_turn().is_some_and(|turn| turn.replaces);
        match &mut self.turn {
            Some(turn) if replaces => turn.pending = older,
            _ => self.history.replace(older),
        }
        !replaces
    }
}

fn ready(slots: &[Slot]) -> Vec<ToolWork> {
    slots.iter().filter_map(Slot::work).collect()
}

/// Returns the next step of a round: start calls that are ready, else wait for running ones, else for a person.
fn next_of_round(slots: &[Slot]) -> Step<'_> {
    let ready = ready(slots);
    if !ready.is_empty() || slots.iter().any(Slot::is_running) {
        return Step::Run(ready);
    }
    Step::Wait(slots.iter().filter_map(Slot::question).collect())
}

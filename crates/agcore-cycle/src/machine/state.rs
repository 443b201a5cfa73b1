//! [`Machine`]: the state, its accessors, and the next step.

use std::sync::Arc;

use agcore_chat::{
    Answer, CompactionBreaker, Message, Question, QuestionId, ToolCall, UsageTracker, validate_messages,
};
use serde::{Deserialize, Deserializer, Serialize, de::Error};

use super::{
    changes::MachineError,
    compact::Compact,
    limits::Limits,
    slot::Slot,
    step::{CallPlan, Purpose, Step, View},
    turn::{Overflow, Phase, Turn},
};
use crate::budget::Spent;

/// The version of the JSON form that this code writes and reads.
const VERSION: u16 = 1;

/// The state of one conversation.
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
pub struct Machine {
    /// First, so that an unknown version is reported before other members are read.
    #[serde(deserialize_with = "known_version")]
    version: u16,
    pub(super) history: Vec<Arc<Message>>,
    pub(super) turn: Option<Turn>,
    /// The number of turns started so far.
    pub(super) turns: u32,
    pub(super) usage: UsageTracker,
    pub(super) limits: Limits,
    /// The compaction that waits for a summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) summing: Option<Compact>,
    #[serde(default)]
    pub(super) breaker: CompactionBreaker,
    /// The ids of calls that compactions removed: an id names one call forever.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) forgotten: Vec<String>,
    #[serde(default, skip_serializing_if = "Spent::is_zero")]
    pub(super) cost: Spent,
}

fn known_version<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u16, D::Error> {
    match u16::deserialize(deserializer)? {
        VERSION => Ok(VERSION),
        other => Err(D::Error::custom(format_args!(
            "this state has version {other}, but this program reads version {VERSION}; use the version of the program that wrote it"
        ))),
    }
}

impl Machine {
    /// Creates a machine with an empty history.
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

    /// Returns the conversation so far, which is always valid.
    pub fn history(&self) -> &[Arc<Message>] {
        &self.history
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
        self.summing.as_ref()
    }

    /// Returns the conversation as a compaction sees it: what the next request contains.
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

    /// Replaces the history between turns.
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
        self.history = history;
        self.summing = None;
        self.forgotten.clear();
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
                history: if turn.replaces { &[] } else { &self.history },
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

    /// Returns the answer to a question of this turn.
    pub fn answer_of(&self, question: &QuestionId) -> Option<&Answer> {
        self.turn.as_ref()?.answer_of(question)
    }

    pub(super) fn open_turn(&self) -> Option<&Turn> {
        self.turn.as_ref().filter(|turn| turn.is_open())
    }

    fn slots(&self) -> &[Slot] {
        self.turn.as_ref().map(Turn::slots).unwrap_or_default()
    }

    /// Replaces what [`view`](Self::view) calls `older`. Returns whether that was the history.
    pub(super) fn set_older(&mut self, older: Vec<Arc<Message>>) -> bool {
        let replaces = self.open_turn().is_some_and(|turn| turn.replaces);
        match &mut self.turn {
            Some(turn) if replaces => turn.pending = older,
            _ => self.history = older,
        }
        !replaces
    }
}

/// Returns the next step of a round: start calls that are ready, else wait for running ones, else for a person.
fn next_of_round(slots: &[Slot]) -> Step<'_> {
    let ready: Vec<_> = slots.iter().filter_map(Slot::work).collect();
    if !ready.is_empty() || slots.iter().any(Slot::is_running) {
        return Step::Run(ready);
    }
    Step::Wait(slots.iter().filter_map(Slot::question).collect())
}

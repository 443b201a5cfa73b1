//! [`Changes`] made by an outcome, and [`MachineError`] for an outcome that does not fit.

use agcore_chat::{EventKind, QuestionId, SequenceError};

/// The number of events for which space is reserved at first: what starts a turn and what ends it. The turns that wait for a
/// model all keep it.
const FIRST_EVENTS: usize = 2;

/// The number of events for which space is reserved next: those of a reply with a few calls. Space for more would be a large
/// allocation, which costs several times as much.
const USUAL_EVENTS: usize = 7;

/// The changes made by an outcome.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Changes {
    /// Whether the history was cleared before messages were appended.
    pub replaced: bool,
    /// Whether a compaction or a refusal of media changed or removed messages of the history, so that it must be read again.
    pub rewritten: bool,
    /// The number of messages that were appended to the history, after all other changes.
    pub appended: usize,
    /// The events for observers, in order.
    pub events: Vec<EventKind>,
    /// Whether the events have no receiver. Then only those that the loop itself reads are added.
    is_silent: bool,
}

impl Changes {
    /// Creates changes without the events for observers, if `is_silent`.
    pub(crate) fn new(is_silent: bool) -> Self {
        Self {
            is_silent,
            ..Self::default()
        }
    }

    /// Resets everything, but keeps the buffer of events.
    pub(crate) fn clear(&mut self) {
        let mut events = std::mem::take(&mut self.events);
        events.clear();
        *self = Self {
            events,
            ..Self::new(self.is_silent)
        };
    }

    /// Adds an event for observers. It is not created without a receiver.
    pub(super) fn emit<E: Into<EventKind>>(&mut self, event: impl FnOnce() -> E) {
        if !self.is_silent {
            self.push(event());
        }
    }

    /// Adds an event that the loop itself reads, too.
    pub(super) fn push(&mut self, event: impl Into<EventKind>) {
        let (len, capacity) = (self.events.len(), self.events.capacity());
        if capacity == 0 {
            self.events.reserve_exact(FIRST_EVENTS);
        } else if len == capacity && len < USUAL_EVENTS {
            self.events.reserve_exact(USUAL_EVENTS - len);
        }
        self.events.push(event.into());
    }
}

/// An outcome does not fit the state. The state stays as it was.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MachineError {
    /// A turn is open.
    #[error("a turn is open; finish or stop it first")]
    TurnOpen,
    /// No turn is open.
    #[error("no turn is open; start one first")]
    NoTurn,
    /// The messages cannot be sent.
    #[error("the messages cannot be sent: {0}")]
    InvalidMessages(#[source] SequenceError),
    /// There is nothing for the model to answer.
    #[error("there is nothing to answer: the last message must be from the user, a tool or the application")]
    NothingToAnswer,
    /// The machine does not wait for this outcome.
    #[error("the machine does not wait for {0}")]
    NotWaitingFor(&'static str),
    /// No open question has this id.
    #[error("no open question has the id `{0}`")]
    UnknownQuestion(QuestionId),
    /// The question has already been answered.
    #[error("the question `{0}` has already been answered")]
    AlreadyAnswered(QuestionId),
    /// A question of another call.
    #[error("the question `{0}` belongs to another call")]
    InvalidQuestion(QuestionId),
    /// A compaction that does not fit the conversation.
    #[error("this compaction does not fit the conversation: {0}")]
    InvalidCompaction(&'static str),
    /// A refusal of media that does not fit the conversation.
    #[error("the refused media do not fit the conversation: a message has none")]
    InvalidMedia,
}

#[cfg(test)]
mod tests {
    use agcore_chat::{ContextEvent, Fault, FaultKind, Message};

    use super::*;
    use crate::machine::{Begin, Limits, Machine, Outcome};

    #[test]
    fn silent_changes_contain_only_the_events_that_the_loop_reads() {
        for is_silent in [false, true] {
            let (mut machine, mut changes) = (Machine::new(Limits::default()), Changes::new(is_silent));
            let begin = Outcome::TurnStarted(Begin::new([Message::user("Hello")]));
            machine.absorb_into(begin, &mut changes).unwrap();
            assert_eq!(changes.events.is_empty(), is_silent);

            changes.clear();
            changes.push(ContextEvent::CompactionFailed {
                fault: Fault::new(FaultKind::Unknown, "none"),
            });
            assert_eq!(changes.events.len(), 1);
            changes.clear();
            assert_eq!(changes, Changes::new(is_silent));
        }
    }
}

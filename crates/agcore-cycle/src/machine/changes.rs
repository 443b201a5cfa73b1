//! [`Changes`] that an outcome made, and [`MachineError`] for one that does not fit.

use agcore_chat::{EventKind, QuestionId, SequenceError};

/// What an outcome changed.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Changes {
    /// Whether the history was emptied before messages were appended.
    pub replaced: bool,
    /// Whether a compaction changed messages of the history or took some out: read it anew.
    pub rewritten: bool,
    /// How many messages were appended to the history, after all else.
    pub appended: usize,
    /// What to tell observers, in order.
    pub events: Vec<EventKind>,
}

impl Changes {
    /// Forgets everything but the room for events.
    pub(crate) fn clear(&mut self) {
        let mut events = std::mem::take(&mut self.events);
        events.clear();
        *self = Self {
            events,
            ..Self::default()
        };
    }

    pub(super) fn tell(&mut self, event: impl Into<EventKind>) {
        self.events.push(event.into());
    }
}

/// An outcome that nothing waits for. The state stays as it was.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MachineError {
    /// A turn is open.
    #[error("a turn is open; end or stop it first")]
    TurnOpen,
    /// No turn is open.
    #[error("no turn is open; begin one first")]
    NoTurn,
    /// The messages may not be sent.
    #[error("the messages may not be sent: {0}")]
    InvalidMessages(#[source] SequenceError),
    /// There is nothing for the model to answer.
    #[error("there is nothing to answer: the last message must be of the user, a tool or the application")]
    NothingToAnswer,
    /// Something else is waited for.
    #[error("nothing waits for {0}")]
    NotWaitingFor(&'static str),
    /// No open question has this id.
    #[error("no open question has the id `{0}`")]
    UnknownQuestion(QuestionId),
    /// The question was answered before.
    #[error("the question `{0}` is answered already")]
    AlreadyAnswered(QuestionId),
    /// A question of another call, or one whose id was used before.
    #[error("the question `{0}` is not a new one of this call")]
    BadQuestion(QuestionId),
    /// A compaction that does not fit the conversation.
    #[error("this compaction does not fit the conversation: {0}")]
    BadCompaction(&'static str),
}

//! [`ConversationSettings`]: how much of a conversation is kept.

use serde::{Deserialize, Serialize};

/// Which messages a conversation keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ConversationStrategy {
    /// The newest turns, and the instructions at the beginning.
    #[default]
    SlidingWindow,
    /// All messages.
    Full,
}

/// Settings of a [`ConversationMemory`](crate::ConversationMemory).
///
/// ```
/// use agcore_session::{ConversationSettings, ConversationStrategy};
///
/// let settings = ConversationSettings::new();
/// assert_eq!((settings.strategy, settings.window_turns), (ConversationStrategy::SlidingWindow, 50));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ConversationSettings {
    /// Which messages are kept.
    pub strategy: ConversationStrategy,
    /// The number of turns that a sliding window keeps, at least 1. A turn begins with a message of the user. Default: 50.
    pub window_turns: usize,
    /// The least number of records after which a snapshot is written, and the records before it are removed from the
    /// journal: with a sliding window, this deletes the messages that were cut off. Snapshots of long conversations are
    /// rarer, at least as many records apart as they have messages. `None` keeps all records. Default: 64.
    pub snapshot_every: Option<usize>,
}

impl Default for ConversationSettings {
    fn default() -> Self {
        Self {
            strategy: ConversationStrategy::default(),
            window_turns: 50,
            snapshot_every: Some(64),
        }
    }
}

impl ConversationSettings {
    /// Creates the default settings: a sliding window of 50 turns.
    pub fn new() -> Self {
        Self::default()
    }

    /// Keeps all messages.
    #[must_use]
    pub fn with_all_messages(mut self) -> Self {
        self.strategy = ConversationStrategy::Full;
        self
    }

    /// Keeps this number of turns, at least 1.
    #[must_use]
    pub fn with_window_turns(mut self, turns: usize) -> Self {
        self.strategy = ConversationStrategy::SlidingWindow;
        self.window_turns = turns;
        self
    }

    /// Sets the least number of records after which a snapshot is written, or keeps all records.
    #[must_use]
    pub fn with_snapshot_every(mut self, records: Option<usize>) -> Self {
        self.snapshot_every = records;
        self
    }

    /// Returns the number of turns to keep, or `None` for all.
    pub(super) fn turns(&self) -> Option<usize> {
        match self.strategy {
            ConversationStrategy::SlidingWindow => Some(self.window_turns.max(1)),
            ConversationStrategy::Full => None,
        }
    }

    /// Returns whether a snapshot is due after this number of records, if the last one has this number of messages.
    ///
    /// A snapshot contains all messages. Waiting for as many records keeps the cost of each message constant.
    pub(super) fn is_snapshot_due(&self, records: usize, snapshot_len: usize) -> bool {
        self.snapshot_every
            .is_some_and(|every| records >= every.max(snapshot_len).max(1))
    }
}

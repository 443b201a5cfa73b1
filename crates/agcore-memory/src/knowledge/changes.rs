//! [`Changes`]: what an index needs to follow a store.

use serde::{Deserialize, Serialize};

use super::page::KnowledgePage;

/// A place in the sequence of changes of a tenant, up to which an index has followed the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Position {
    /// Identifies the sequence. It changes when the store forgets which pages were deleted, for example when a user is erased.
    pub generation: u64,
    /// The number of the last change.
    pub change: u64,
}

impl Position {
    /// Creates a position.
    pub fn new(generation: u64, change: u64) -> Self {
        Self { generation, change }
    }
}

/// Changes of the pages of a tenant, in their order. Of a page that has changed several times, only the last state is included.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Changes {
    /// Whether these changes lead from an empty index to the current state, because the store does not know the position that
    /// was asked for. An index must forget all pages before it applies them.
    pub is_reset: bool,
    /// The pages that were saved.
    pub saved: Vec<KnowledgePage>,
    /// The ids of the pages that were deleted.
    pub deleted: Vec<String>,
    /// The position after these changes. `None` if the tenant has never had a page.
    pub position: Option<Position>,
    /// Whether there are more changes after this position.
    pub has_more: bool,
}

impl Changes {
    /// Creates changes that lead to a position.
    pub fn new(position: Option<Position>) -> Self {
        Self {
            is_reset: false,
            saved: Vec::new(),
            deleted: Vec::new(),
            position,
            has_more: false,
        }
    }

    /// Collects the changes after a position in a sequence of the given generation, which has reached `last`.
    ///
    /// For implementations of [`KnowledgeStore`](super::KnowledgeStore): `since` is where the index is, and the result has no
    /// pages yet. Returns the number after which changes have to be added, too.
    pub fn starting(since: Option<Position>, generation: u64, last: u64) -> (Self, u64) {
        let known = since.filter(|since| since.generation == generation && since.change <= last);
        let after = known.map_or(0, |known| known.change);
        let mut changes = Self::new(Some(Position::new(generation, after)));
        changes.is_reset = known.is_none();
        (changes, after)
    }

    /// Returns whether an index that applies this stays the same, position included.
    pub fn is_empty(&self) -> bool {
        !self.is_reset && self.saved.is_empty() && self.deleted.is_empty()
    }
}

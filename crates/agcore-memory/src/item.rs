//! [`MemoryItem`]: what a store keeps.

use agcore_chat::{Actor, Text, Timestamp, id};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::MemoryError;

/// A piece of memory: a fact, a note, a document.
///
/// An item is identified by the tenant of its owner and its id: two tenants may use the same id.
///
/// ```
/// use agcore_memory::{Actor, MemoryItem};
///
/// let item = MemoryItem::new("notes/tea", "Ann likes green tea.")
///     .with_owner(Actor::user("ann"))
///     .with_metadata("topic", "food");
/// assert_eq!(item.metadata["topic"], "food");
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MemoryItem {
    /// The id, unique within the tenant of the owner. See [`id::check`] for the rules.
    pub id: String,
    /// The text.
    pub content: String,
    /// Data of the application, by which [`MemoryFilter`](crate::MemoryFilter) can select items.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
    /// The tenant and user to whom the item belongs.
    #[serde(default)]
    pub owner: Actor,
    /// The origin of the item, such as the id of the message in which the fact was stated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The time at which the id was first saved, set by the store. In an item that was never saved, the start of 1970; any
    /// other time is kept by the first save, so that items can be copied from one store to another.
    #[serde(default)]
    pub created_at: Timestamp,
    /// The time at which the item was last saved, set by the store.
    #[serde(default)]
    pub updated_at: Timestamp,
    /// The time from which on the fact is true, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_from: Option<Timestamp>,
    /// The time from which on the fact is no longer true, for example because a newer one supersedes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_until: Option<Timestamp>,
}

impl MemoryItem {
    /// Creates an item of the actor [`local`](Actor::local).
    pub fn new(id: impl Into<String>, content: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            content: content.into(),
            metadata: Map::new(),
            owner: Actor::local(),
            source: None,
            created_at: Timestamp::default(),
            updated_at: Timestamp::default(),
            valid_from: None,
            valid_until: None,
        }
    }

    /// Sets the owner.
    #[must_use]
    pub fn with_owner(mut self, owner: Actor) -> Self {
        self.owner = owner;
        self
    }

    /// Sets an entry of the metadata.
    #[must_use]
    pub fn with_metadata(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.metadata.insert(name.into(), value.into());
        self
    }

    /// Sets the origin.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<String>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Sets the interval in which the fact is true: from the first moment on, until before the second.
    #[must_use]
    pub fn with_validity(mut self, from: Option<Timestamp>, until: Option<Timestamp>) -> Self {
        self.valid_from = from;
        self.valid_until = until;
        self
    }

    /// Returns whether the fact is true at a moment, according to its validity.
    pub fn is_valid_at(&self, time: Timestamp) -> bool {
        self.valid_from.is_none_or(|from| from <= time) && self.valid_until.is_none_or(|until| time < until)
    }

    /// Returns the item as it is after another one superseded it: valid until the other one is.
    ///
    /// # Errors
    /// - [`InvalidInput`](crate::MemoryErrorKind::InvalidInput) if the other item has the same id, another tenant or no time
    ///   from which on it is valid.
    /// - [`InvalidState`](crate::MemoryErrorKind::InvalidState) if this item is not valid at that time.
    pub fn superseded_by(self, newer: &Self) -> Result<Self, MemoryError> {
        if self.id == newer.id || self.tenant() != newer.tenant() {
            return Err(MemoryError::invalid(format!(
                "the item `{}` cannot supersede `{}`: it needs another id in the same tenant",
                newer.id, self.id
            )));
        }
        let Some(from) = newer.valid_from else {
            return Err(MemoryError::invalid(format!(
                "the item `{}` has no time from which on it is valid, so `{}` cannot be valid until then",
                newer.id, self.id
            )));
        };
        if !self.is_valid_at(from) {
            return Err(MemoryError::invalid_state(format!(
                "the item `{}` is not valid at {from}, so it cannot be superseded then",
                self.id
            )));
        }
        Ok(Self {
            valid_until: Some(from),
            ..self
        })
    }

    /// Returns the tenant, which together with the id identifies the item.
    pub fn tenant(&self) -> &Text {
        &self.owner.tenant
    }

    /// Checks that every store can keep the item. Stores call this before they save anything.
    ///
    /// # Errors
    /// [`InvalidInput`](crate::MemoryErrorKind::InvalidInput) if the id, the owner or the validity is not acceptable.
    pub fn check(&self) -> Result<(), MemoryError> {
        id::check(&self.id)?;
        self.owner.check()?;
        match (self.valid_from, self.valid_until) {
            (Some(from), Some(until)) if until < from => Err(MemoryError::invalid(format!(
                "the item `{}` would be valid from {from} until {until}, which is earlier",
                self.id
            ))),
            _ => Ok(()),
        }
    }
}

//! [`MemoryFilter`]: which items to list.

use agcore_chat::{Actor, Text, Timestamp, id};
use serde_json::Value;

use crate::{error::MemoryError, item::MemoryItem};

/// Selects items of one tenant that meet all conditions. Without conditions, all items of the tenant are selected.
///
/// ```
/// use agcore_memory::{Actor, MemoryFilter, MemoryItem, Order};
///
/// let filter = MemoryFilter::new("local")
///     .with_prefix("notes/")
///     .with_metadata("topic", "food")
///     .with_order(Order::NewestFirst)
///     .with_limit(20);
/// assert!(filter.matches(&MemoryItem::new("notes/1", "…").with_metadata("topic", "food")));
/// assert!(!filter.matches(&MemoryItem::new("notes/2", "…")));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct MemoryFilter {
    /// The tenant.
    pub tenant: Text,
    /// The beginning of the ids. Characters such as `%`, `_` and `*` have no special meaning.
    pub prefix: String,
    /// The owner, including the line of business.
    pub owner: Option<Actor>,
    /// Items created after this time.
    pub since: Option<Timestamp>,
    /// Items created before this time.
    pub until: Option<Timestamp>,
    /// Items that are valid at this time.
    pub valid_at: Option<Timestamp>,
    /// Entries of the metadata: strings, booleans and integers of 64 bits with a sign.
    pub metadata: Vec<(String, Value)>,
    /// The order of the list.
    pub order: Order,
    /// The number of items to skip.
    pub offset: u64,
    /// The maximum number of items.
    pub limit: Option<u64>,
}

/// The order of a list: by time of creation, then by the bytes of the id, so that pages are stable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// The oldest item comes first.
    #[default]
    OldestFirst,
    /// The newest item comes first: exactly the opposite order.
    NewestFirst,
}

impl MemoryFilter {
    /// Selects all items of a tenant.
    pub fn new(tenant: impl Into<Text>) -> Self {
        Self {
            tenant: tenant.into(),
            prefix: String::new(),
            owner: None,
            since: None,
            until: None,
            valid_at: None,
            metadata: Vec::new(),
            order: Order::OldestFirst,
            offset: 0,
            limit: None,
        }
    }

    /// Selects the items of an owner, in the owner's tenant.
    pub fn owned_by(owner: Actor) -> Self {
        let mut filter = Self::new(owner.tenant.clone());
        filter.owner = Some(owner);
        filter
    }

    /// Selects ids that begin with this text.
    #[must_use]
    pub fn with_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// Selects items created after `since` and before `until`, both exclusive.
    #[must_use]
    pub fn with_created(mut self, since: Option<Timestamp>, until: Option<Timestamp>) -> Self {
        self.since = since;
        self.until = until;
        self
    }

    /// Selects items that are valid at a moment.
    #[must_use]
    pub fn with_valid_at(mut self, time: Timestamp) -> Self {
        self.valid_at = Some(time);
        self
    }

    /// Selects items whose metadata has this entry. Values are strings, booleans or integers: other values compare
    /// differently in different databases.
    #[must_use]
    pub fn with_metadata(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.metadata.push((name.into(), value.into()));
        self
    }

    /// Sets the order.
    #[must_use]
    pub fn with_order(mut self, order: Order) -> Self {
        self.order = order;
        self
    }

    /// Skips the first items.
    #[must_use]
    pub fn with_offset(mut self, offset: u64) -> Self {
        self.offset = offset;
        self
    }

    /// Limits the number of items.
    #[must_use]
    pub fn with_limit(mut self, limit: u64) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Returns whether the conditions hold for an item. Order, offset and limit are not considered.
    pub fn matches(&self, item: &MemoryItem) -> bool {
        let has = |(name, value): &(String, Value)| item.metadata.get(name) == Some(value);
        item.owner.tenant == self.tenant
            && item.id.starts_with(&self.prefix)
            && self.owner.as_ref().is_none_or(|owner| item.owner == *owner)
            && self.since.is_none_or(|since| item.created_at > since)
            && self.until.is_none_or(|until| item.created_at < until)
            && self.valid_at.is_none_or(|time| item.is_valid_at(time))
            && self.metadata.iter().all(has)
    }

    /// Checks that every store can evaluate the filter.
    ///
    /// # Errors
    /// [`InvalidInput`](crate::MemoryErrorKind::InvalidInput) if the prefix or a value of the metadata is not acceptable.
    pub fn check(&self) -> Result<(), MemoryError> {
        id::check_prefix("the prefix", &self.prefix)?;
        for (name, value) in &self.metadata {
            let is_comparable = match value {
                Value::String(_) | Value::Bool(_) => true,
                Value::Number(number) => number.is_i64(),
                Value::Null | Value::Array(_) | Value::Object(_) => false,
            };
            if !is_comparable {
                return Err(MemoryError::invalid(format!(
                    "the filter compares the metadata `{name}` with {value}; use a string, a boolean or an integer"
                )));
            }
        }
        Ok(())
    }
}

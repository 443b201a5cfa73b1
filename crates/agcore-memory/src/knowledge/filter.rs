//! [`PageFilter`]: which pages to list.

use agcore_chat::{Actor, Text, id};

use super::page::{KnowledgePage, check_tag, normalized_tag};
use crate::{error::MemoryError, filter::Order};

/// Selects pages of one tenant that meet all conditions. Without conditions, all pages of the tenant are selected.
///
/// ```
/// use agcore_memory::knowledge::{KnowledgePage, PageFilter};
///
/// let filter = PageFilter::new("local").with_prefix("garden/").with_tag("food").with_limit(20);
/// assert!(filter.matches(&KnowledgePage::new("garden/tomatoes", "", "").with_tag("food")));
/// assert!(!filter.matches(&KnowledgePage::new("garden/roses", "", "")));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PageFilter {
    /// The tenant.
    pub tenant: Text,
    /// The beginning of the ids. Characters such as `%`, `_` and `*` have no special meaning.
    pub prefix: String,
    /// The owner, including the line of business.
    pub owner: Option<Actor>,
    /// The tags that a page must have, all of them.
    pub tags: Vec<String>,
    /// The order of the list.
    pub order: Order,
    /// The number of pages to skip.
    pub offset: u64,
    /// The maximum number of pages.
    pub limit: Option<u64>,
}

impl PageFilter {
    /// Selects all pages of a tenant.
    pub fn new(tenant: impl Into<Text>) -> Self {
        Self {
            tenant: tenant.into(),
            prefix: String::new(),
            owner: None,
            tags: Vec::new(),
            order: Order::OldestFirst,
            offset: 0,
            limit: None,
        }
    }

    /// Selects ids that begin with this text.
    #[must_use]
    pub fn with_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// Selects pages of an owner.
    #[must_use]
    pub fn with_owner(mut self, owner: Actor) -> Self {
        self.owner = Some(owner);
        self
    }

    /// Selects pages that have a tag, in its [normal form](normalized_tag).
    #[must_use]
    pub fn with_tag(mut self, tag: impl AsRef<str>) -> Self {
        self.tags.push(normalized_tag(tag.as_ref()));
        self
    }

    /// Sets the order.
    #[must_use]
    pub fn with_order(mut self, order: Order) -> Self {
        self.order = order;
        self
    }

    /// Skips the first pages.
    #[must_use]
    pub fn with_offset(mut self, offset: u64) -> Self {
        self.offset = offset;
        self
    }

    /// Limits the number of pages.
    #[must_use]
    pub fn with_limit(mut self, limit: u64) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Returns whether the conditions hold for a page. Order, offset and limit are not considered.
    pub fn matches(&self, page: &KnowledgePage) -> bool {
        page.owner.tenant == self.tenant
            && page.id.starts_with(&self.prefix)
            && self.owner.as_ref().is_none_or(|owner| page.owner == *owner)
            && self.tags.iter().all(|tag| page.tags.contains(tag))
    }

    /// Checks that every store can evaluate the filter.
    ///
    /// # Errors
    /// [`InvalidInput`](crate::MemoryErrorKind::InvalidInput) if the prefix or a tag is not acceptable.
    pub fn check(&self) -> Result<(), MemoryError> {
        id::check_prefix("the prefix", &self.prefix)?;
        self.tags.iter().try_for_each(|tag| check_tag(tag))
    }
}

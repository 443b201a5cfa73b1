//! Which pages a filter selects.

use agcore_chat::id;
use agcore_memory::knowledge::{KnowledgeSource, PageFilter, PageSource};

use super::conditions::{Conditions, text};
use crate::error::{StoreError, StoreErrorKind};

impl Conditions {
    /// Selects rows of `knowledge_pages`. Databases differ in how they keep tags, so the condition of a tag is an argument.
    pub(crate) fn pages(filter: &PageFilter, with_tag: impl Fn(&str) -> Self) -> Self {
        let mut all = Self::tenant(&filter.tenant);
        if !filter.prefix.is_empty() {
            all = all.and(Self::column_with_prefix("id", &filter.prefix));
        }
        if let Some(owner) = &filter.owner {
            all = all.and(Self::owner(owner));
        }
        for tag in &filter.tags {
            all = all.and(with_tag(tag));
        }
        all
    }

    /// Selects values of a column that begin with a text, by range: no character is special.
    pub(crate) fn column_with_prefix(column: &str, prefix: &str) -> Self {
        match id::upper_bound(prefix) {
            Some(bound) => Self::new(format!("{column} >= ? AND {column} < ?"), [text(prefix), text(&bound)]),
            None => Self::new(format!("{column} >= ?"), [text(prefix)]),
        }
    }
}

/// Returns the JSON of a place in a source.
pub(crate) fn place_of(source: &PageSource) -> String {
    serde_json::to_string(&source.position).unwrap_or_default()
}

/// Returns the JSON of a source.
pub(crate) fn data_of(source: &KnowledgeSource) -> Result<String, StoreError> {
    serde_json::to_string(source).map_err(|error| {
        let message = format!("cannot write the source `{}` as JSON", source.id);
        StoreError::with_source(StoreErrorKind::Serialization, message, error)
    })
}

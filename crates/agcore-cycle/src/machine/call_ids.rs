//! Keeps the ids of tool calls unique within a conversation: [`ForgottenIds`] and [`unique_id`].

use std::{
    collections::{HashMap, HashSet},
    fmt::Write as _,
    sync::Arc,
};

use agcore_chat::{AssistantMessage, Block, Message};
use serde::{Deserialize, Serialize, Serializer};

/// The ids of calls that are no longer in the history. There may be many more of them than in the history, so all
/// operations take constant time.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(from = "Vec<String>")]
pub(super) struct ForgottenIds {
    ids: HashSet<String>,
    /// The number of ids that start with each prefix that ends with an underscore.
    counts: HashMap<String, usize>,
}

impl ForgottenIds {
    pub(super) fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Returns the ids in any order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        self.ids.iter().map(String::as_str)
    }

    /// Adds an id.
    pub(super) fn insert(&mut self, id: &str) {
        if !self.ids.insert(id.to_owned()) {
            return;
        }
        for (at, _) in id.match_indices('_') {
            let prefix = &id[..=at];
            match self.counts.get_mut(prefix) {
                Some(count) => *count += 1,
                None => drop(self.counts.insert(prefix.to_owned(), 1)),
            }
        }
    }

    fn contains(&self, id: &str) -> bool {
        self.ids.contains(id)
    }

    /// Returns the number of ids that start with a prefix, which ends with an underscore.
    fn count_of(&self, prefix: &str) -> usize {
        self.counts.get(prefix).copied().unwrap_or(0)
    }
}

impl From<Vec<String>> for ForgottenIds {
    fn from(ids: Vec<String>) -> Self {
        let mut forgotten = Self::default();
        ids.iter().for_each(|id| forgotten.insert(id));
        forgotten
    }
}

/// Sorted, so that the same state is always saved as the same text.
impl Serialize for ForgottenIds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut ids: Vec<&str> = self.iter().collect();
        ids.sort_unstable();
        ids.serialize(serializer)
    }
}

/// Returns the id for a call that a server calls `id`, if that is empty or taken: by a forgotten call, or by one whose id
/// `known` returns.
pub(super) fn unique_id<'a, I>(id: &str, forgotten: &ForgottenIds, known: impl Fn() -> I) -> Option<String>
where
    I: Iterator<Item = &'a str>,
{
    let is_taken = |id: &str| forgotten.contains(id) || known().any(|other| other == id);
    if !id.is_empty() && !is_taken(id) {
        return None;
    }
    let base = if id.is_empty() { "call" } else { id };
    let mut name = String::with_capacity(base.len() + 4);
    name.push_str(base);
    name.push('_');
    let prefix = name.len();
    // Usually the ids with this base are numbered without gaps, so that the first name is free.
    let numbered = known().filter(|other| other.starts_with(&name)).count() + forgotten.count_of(&name);
    (2 + numbered..).find_map(|number| {
        name.truncate(prefix);
        // Writing to a String cannot fail.
        let _ = write!(name, "{number}");
        (!is_taken(&name)).then(|| std::mem::take(&mut name))
    })
}

/// Renames calls whose id the history already contains, so that an id is never used for two calls in events, questions
/// and journals: some servers count from zero in each reply. A call without an id gets one. `forgotten` are the ids of
/// calls that were removed from the history.
pub(super) fn make_ids_unique(message: &mut Arc<AssistantMessage>, history: &[Arc<Message>], forgotten: &ForgottenIds) {
    // Usually all ids are new, which can be checked without hashing a long history.
    let mut new: Vec<&str> = message.tool_calls().map(|call| &*call.id).collect();
    new.sort_unstable();
    let is_new = |id: &str| new.binary_search(&id).is_err();
    let is_known = || new.iter().any(|id| forgotten.contains(id)) || !ids(history).all(is_new);
    if is_new("") && new.is_sorted_by(|a, b| a < b) && !is_known() {
        return;
    }
    let mut own: Vec<String> = Vec::new();
    for block in &mut Arc::make_mut(message).blocks {
        let Block::Call(call) = block else { continue };
        let known = || ids(history).chain(own.iter().map(String::as_str));
        if let Some(id) = unique_id(&call.id, forgotten, known) {
            Arc::make_mut(call).id = id;
        }
        own.push(call.id.clone());
    }
}

/// Adds the ids of the calls in `removed` that are not in `kept`: they must not name another call later.
pub(super) fn forget(removed: &[Arc<Message>], kept: &[Arc<Message>], forgotten: &mut ForgottenIds) {
    let kept: HashSet<&str> = ids(kept).collect();
    let removed = ids(removed).filter(|id| !kept.contains(id));
    removed.for_each(|id| forgotten.insert(id));
}

/// Returns the ids of the calls in these messages.
pub(super) fn ids(messages: &[Arc<Message>]) -> impl Iterator<Item = &str> {
    let replies = messages.iter().filter_map(|message| message.as_assistant());
    replies.flat_map(AssistantMessage::tool_calls).map(|call| &*call.id)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the id of a call that a server calls `id`.
    fn id(forgotten: &[&str], known: &[&str], id: &str) -> Option<String> {
        let forgotten: Vec<String> = forgotten.iter().copied().map(str::to_owned).collect();
        unique_id(id, &forgotten.into(), || known.iter().copied())
    }

    #[test]
    fn numbers_continue_over_forgotten_and_known_calls() {
        assert_eq!(id(&["b", "a"], &["c"], "d"), None);
        assert_eq!(id(&["b", "a"], &[], "a").as_deref(), Some("a_2"));
        assert_eq!(id(&["a_2", "ab", "a", "a-1"], &["a_3"], "a").as_deref(), Some("a_4"));
        // With a gap, the first candidate may be taken.
        assert_eq!(id(&["a", "a_3"], &[], "a").as_deref(), Some("a_4"));
        assert_eq!(id(&["call_2"], &[], "").as_deref(), Some("call_3"));
    }

    #[test]
    fn forgotten_ids_are_sorted_and_unique_even_if_a_saved_list_is_not() {
        let mut forgotten: ForgottenIds = serde_json::from_str(r#"["b", "a", "b"]"#).unwrap();
        forgotten.insert("aa");
        forgotten.insert("b");
        assert_eq!(serde_json::to_string(&forgotten).unwrap(), r#"["a","aa","b"]"#);
        let mut each = ["a", "aa", "b"].iter();
        assert!(each.all(|id| forgotten.contains(id)) && !forgotten.contains("c"));
    }
}

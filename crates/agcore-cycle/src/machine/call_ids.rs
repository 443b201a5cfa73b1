//! Keeps the ids of tool calls unique within a conversation: [`ForgottenIds`] and [`unique_id`].

use std::{
    collections::{HashMap, HashSet},
    fmt::Write as _,
    hash::{BuildHasherDefault, DefaultHasher},
    sync::Arc,
};

use agcore_chat::{AssistantMessage, Block, Message, Text};
use serde::{Deserialize, Serialize, Serializer};

use super::history::{History, ids};

/// The number of calls of a message that are compared one by one.
const FEW: usize = 8;

/// The ids of calls that are no longer in the history. There may be many more of them than in the history, so all
/// operations take constant time. Clones share the ids until one of them adds some.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(from = "Vec<Text>")]
pub(super) struct ForgottenIds(Option<Arc<Forgotten>>);

#[derive(Debug, Clone, Default, PartialEq)]
struct Forgotten {
    ids: HashSet<Text, BuildHasherDefault<DefaultHasher>>,
    /// The number of ids that start with each prefix that ends with an underscore.
    counts: HashMap<Text, usize, BuildHasherDefault<DefaultHasher>>,
}

impl ForgottenIds {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Returns the ids in any order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().flat_map(|forgotten| &forgotten.ids).map(Text::as_str)
    }

    /// Adds ids.
    pub(super) fn extend<T: Into<Text>>(&mut self, ids: impl IntoIterator<Item = T>) {
        for id in ids {
            Arc::make_mut(self.0.get_or_insert_default()).insert(id.into());
        }
    }

    fn contains(&self, id: &str) -> bool {
        self.0.as_ref().is_some_and(|forgotten| forgotten.ids.contains(id))
    }

    /// Returns the number of ids that start with a prefix, which ends with an underscore.
    fn count_of(&self, prefix: &str) -> usize {
        let count = self.0.as_ref().and_then(|forgotten| forgotten.counts.get(prefix));
        count.copied().unwrap_or(0)
    }
}

impl Forgotten {
    fn insert(&mut self, id: Text) {
        if self.ids.contains(&id) {
            return;
        }
        for (at, _) in id.match_indices('_') {
            let prefix = &id[..=at];
            match self.counts.get_mut(prefix) {
                Some(count) => *count += 1,
                None => drop(self.counts.insert(Text::from(prefix), 1)),
            }
        }
        self.ids.insert(id);
    }
}

impl From<Vec<Text>> for ForgottenIds {
    fn from(ids: Vec<Text>) -> Self {
        let mut forgotten = Self::default();
        forgotten.extend(ids);
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

/// Returns the id for a call that a server calls `id`, if that is empty or taken: by a forgotten call, by one in the history,
/// or by one whose id `others` returns.
pub(super) fn unique_id<'a, I>(
    id: &str,
    forgotten: &ForgottenIds,
    history: &History,
    others: impl Fn() -> I,
) -> Option<String>
where
    I: Iterator<Item = &'a str>,
{
    let is_taken = |id: &str| forgotten.contains(id) || history.has_call(id) || others().any(|other| other == id);
    if !id.is_empty() && !is_taken(id) {
        return None;
    }
    let base = if id.is_empty() { "call" } else { id };
    let mut name = String::with_capacity(base.len() + 4);
    name.push_str(base);
    name.push('_');
    let prefix = name.len();
    // Usually the ids with this base are numbered without gaps, so that the first name is free.
    let has_base = |other: &&str| other.starts_with(&name);
    let numbered = history.call_ids().filter(has_base).count() + others().filter(has_base).count();
    let numbered = numbered + forgotten.count_of(&name);
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
pub(super) fn make_ids_unique(message: &mut Arc<AssistantMessage>, history: &mut History, forgotten: &ForgottenIds) {
    if !message.has_tool_calls() {
        return;
    }
    history.index_calls();
    // Usually all ids are new.
    let is_known = |id: &str| id.is_empty() || forgotten.contains(id) || history.has_call(id);
    if !message.tool_calls().any(|call| is_known(&call.id)) && !has_twins(message) {
        return;
    }
    let mut own: Vec<String> = Vec::new();
    for block in &mut Arc::make_mut(message).blocks {
        let Block::Call(call) = block else { continue };
        let others = || own.iter().map(String::as_str);
        if let Some(id) = unique_id(&call.id, forgotten, history, others) {
            Arc::make_mut(call).id = id;
        }
        own.push(call.id.clone());
    }
}

/// Returns whether two calls of a message have the same id.
fn has_twins(message: &AssistantMessage) -> bool {
    let ids = || message.tool_calls().map(|call| &*call.id);
    if ids().nth(FEW).is_none() {
        return ids()
            .enumerate()
            .any(|(at, id)| ids().take(at).any(|other| other == id));
    }
    let mut sorted: Vec<&str> = ids().collect();
    sorted.sort_unstable();
    sorted.windows(2).any(|pair| pair[0] == pair[1])
}

/// Adds the ids of the calls in `removed` that are not in `kept`: they must not name another call later.
pub(super) fn forget(removed: &History, kept: &[Arc<Message>], forgotten: &mut ForgottenIds) {
    let kept: HashSet<&str> = ids(kept).collect();
    forgotten.extend(removed.call_ids().filter(|id| !kept.contains(id)));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the id of a call that a server calls `id`.
    fn id(forgotten: &[&str], known: &[&str], id: &str) -> Option<String> {
        let forgotten: Vec<Text> = forgotten.iter().copied().map(Text::from).collect();
        unique_id(id, &forgotten.into(), &History::default(), || known.iter().copied())
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
        forgotten.extend(["aa", "b"]);
        assert_eq!(serde_json::to_string(&forgotten).unwrap(), r#"["a","aa","b"]"#);
        let mut each = ["a", "aa", "b"].iter();
        assert!(each.all(|id| forgotten.contains(id)) && !forgotten.contains("c"));
    }
}

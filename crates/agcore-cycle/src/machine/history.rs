//! [`History`]: the messages of a conversation, which copies of a machine share.

pub(super) mod id_hash;

use std::{collections::HashSet, fmt, hash::BuildHasherDefault, sync::Arc};

use agcore_chat::{AssistantMessage, Message};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::history::id_hash::{IdHash, IdHasher};

/// The number of messages that are searched for the id of a call rather than indexed.
const SEARCHED: usize = 64;

/// The messages of a conversation. A clone shares them until one of both changes them.
///
/// What a [fork](Self::fork) adds is kept apart, so that neither a fork nor what is added to it copies the messages.
#[derive(Clone, Default)]
pub(super) struct History {
    list: Arc<List>,
    /// The messages after those of the list, in a fork.
    added: Option<Vec<Arc<Message>>>,
}

#[derive(Clone, Default)]
struct List {
    messages: Vec<Arc<Message>>,
    index: Option<Box<Index>>,
}

/// The calls in the first messages of a list.
#[derive(Clone, Default)]
struct Index {
    messages: usize,
    /// The hashes of their ids.
    ids: HashSet<IdHash, BuildHasherDefault<IdHasher>>,
}

impl History {
    /// Returns the messages, of a history that is not a fork or to which nothing was added.
    pub(super) fn as_slice(&self) -> &[Arc<Message>] {
        debug_assert!(self.added().is_empty(), "the fork must be made whole first");
        &self.list.messages
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<Message>> {
        self.list.messages.iter().chain(self.added())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.messages.is_empty() && self.added().is_empty()
    }

    /// Adds messages at the end.
    pub(super) fn append(&mut self, messages: &mut Vec<Arc<Message>>) {
        self.end().append(messages);
    }

    /// Adds a message at the end.
    pub(super) fn push(&mut self, message: Arc<Message>) {
        self.end().push(message);
    }

    /// Replaces all messages.
    pub(super) fn replace(&mut self, messages: Vec<Arc<Message>>) {
        *self = messages.into();
    }

    /// Returns a copy to which messages can be added without copying the others, even while this history exists.
    pub(super) fn fork(&self) -> Self {
        let mut fork = self.clone();
        fork.added.get_or_insert_default();
        fork
    }

    /// Makes a fork a history of its own. That is cheap once the history that was forked no longer exists.
    pub(super) fn join(&mut self) {
        if let Some(mut added) = self.added.take().filter(|added| !added.is_empty()) {
            Arc::make_mut(&mut self.list).messages.append(&mut added);
        }
    }

    /// [Joins](Self::join) a fork to which messages were added, so that all its messages are in one slice.
    pub(super) fn make_whole(&mut self) {
        if !self.added().is_empty() {
            self.join();
        }
    }

    /// Returns the ids of all calls.
    pub(super) fn call_ids(&self) -> impl Iterator<Item = &str> {
        ids(self.iter())
    }

    /// Returns whether there is a call with this id.
    pub(super) fn has_call(&self, id: &str) -> bool {
        let (indexed, others) = self.list.messages.split_at(self.indexed());
        let index = self.list.index.as_ref();
        // Calls with different ids may have the same hash.
        let is_indexed = index.is_some_and(|index| index.ids.contains(&IdHash::new(id)));
        (is_indexed && ids(indexed).any(|other| other == id))
            || ids(others.iter().chain(self.added())).any(|other| other == id)
    }

    /// Indexes calls, if there are many messages to search. Does nothing while the messages are shared.
    pub(super) fn index_calls(&mut self) {
        let start = self.indexed();
        let is_long = self.list.messages.len() - start > SEARCHED;
        if let Some(list) = Arc::get_mut(&mut self.list).filter(|_| is_long) {
            let index = list.index.get_or_insert_default();
            index.ids.extend(ids(&list.messages[start..]).map(IdHash::new));
            index.messages = list.messages.len();
        }
    }

    /// Returns the number of messages whose calls are indexed.
    fn indexed(&self) -> usize {
        self.list.index.as_ref().map_or(0, |index| index.messages)
    }

    fn added(&self) -> &[Arc<Message>] {
        self.added.as_deref().unwrap_or_default()
    }

    fn end(&mut self) -> &mut Vec<Arc<Message>> {
        match &mut self.added {
            Some(added) => added,
            None => &mut Arc::make_mut(&mut self.list).messages,
        }
    }
}

impl From<Vec<Arc<Message>>> for History {
    fn from(messages: Vec<Arc<Message>>) -> Self {
        Self {
            list: Arc::new(List { messages, index: None }),
            added: None,
        }
    }
}

impl PartialEq for History {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl fmt::Debug for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl Serialize for History {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Not as an iterator of unknown length, which some formats reject.
        if self.added().is_empty() {
            return self.as_slice().serialize(serializer);
        }
        self.iter().collect::<Vec<_>>().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for History {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(Self::from)
    }
}

/// Returns the ids of the calls in these messages.
pub(super) fn ids<'m>(messages: impl IntoIterator<Item = &'m Arc<Message>>) -> impl Iterator<Item = &'m str> {
    let replies = messages.into_iter().filter_map(|message| message.as_assistant());
    replies.flat_map(AssistantMessage::tool_calls).map(|call| &*call.id)
}

#[cfg(test)]
mod tests {
    use agcore_chat::ToolCall;

    use super::*;

    fn call(id: &str) -> Arc<Message> {
        Arc::new(
            AssistantMessage::default()
                .with_call(ToolCall::function(id, "look", "{}"))
                .into(),
        )
    }

    fn calls(range: std::ops::Range<usize>) -> Vec<Arc<Message>> {
        range.map(|number| call(&format!("call_{number}"))).collect()
    }

    #[test]
    fn a_fork_adds_messages_without_copying_the_others() {
        let mut history = History::from(calls(0..3));
        let mut fork = history.fork();
        fork.push(call("new"));
        assert_eq!((history.iter().count(), fork.iter().count()), (3, 4));
        assert_eq!(Arc::strong_count(&history.as_slice()[0]), 1);
        assert!(fork.has_call("new") && fork.has_call("call_1") && !history.has_call("new"));
        assert_ne!(fork, history);
        history = fork;
        history.join();
        assert_eq!(history.as_slice().len(), 4);
        assert_eq!(Arc::strong_count(&history.as_slice()[0]), 1);
    }

    #[test]
    fn a_fork_that_is_made_whole_does_not_change_the_history() {
        let history = History::from(calls(0..3));
        let mut fork = history.fork();
        fork.push(call("new"));
        fork.make_whole();
        fork.push(call("newer"));
        assert_eq!((history.as_slice().len(), fork.as_slice().len()), (3, 5));
    }

    #[test]
    fn clones_do_not_see_what_the_others_add() {
        let history = History::from(calls(0..3));
        let (mut one, mut other) = (history.clone(), history.clone());
        one.push(call("one"));
        other.append(&mut calls(3..5));
        assert_eq!(
            [&history, &one, &other].map(|history| history.as_slice().len()),
            [3, 4, 5]
        );
        assert!(one.has_call("one") && !one.has_call("call_3") && other.has_call("call_4") && !other.has_call("one"));
    }

    #[test]
    fn calls_are_found_whether_they_are_indexed_or_not() {
        let mut history = History::from(calls(0..SEARCHED));
        history.index_calls();
        assert_eq!(history.indexed(), 0);
        history.append(&mut calls(SEARCHED..3 * SEARCHED));
        let shared = history.clone();
        history.index_calls();
        assert_eq!(history.indexed(), 0, "the messages are shared");
        drop(shared);
        history.index_calls();
        assert_eq!(history.indexed(), 3 * SEARCHED);
        history.push(call("last"));
        for id in ["call_0", &format!("call_{}", 3 * SEARCHED - 1), "last"] {
            assert!(history.has_call(id), "{id}");
        }
        assert!(!history.has_call("call_x"));
        history.replace(calls(1..2));
        assert!(history.has_call("call_1") && !history.has_call("call_0"));
    }
}

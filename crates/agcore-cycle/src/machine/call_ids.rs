//! Keeps the ids of tool calls unique within a conversation.

use std::{collections::HashSet, sync::Arc};

use agcore_chat::{AssistantMessage, Block, Message};

/// Returns the id for a call that a server calls `id`, if that is empty or taken. `taken` returns all ids that are.
pub(super) fn unique_id<'a, I>(id: &str, taken: impl Fn() -> I) -> Option<String>
where
    I: Iterator<Item = &'a str>,
{
    if !id.is_empty() && taken().all(|other| other != id) {
        return None;
    }
    let base = if id.is_empty() { "call" } else { id };
    // Usually the ids with this base are numbered without gaps, so that the first name is free.
    let is_numbered = |other: &str| other.strip_prefix(base).is_some_and(|rest| rest.starts_with('_'));
    let first = 2 + taken().filter(|other| is_numbered(other)).count();
    let mut names = (first..).map(|number| format!("{base}_{number}"));
    names.find(|name| taken().all(|other| other != name))
}

/// Renames calls whose id the history already contains, so that an id is never used for two calls in events, questions
/// and journals: some servers count from zero in each reply. A call without an id gets one. `forgotten` are the ids of
/// calls that were removed from the history.
pub(super) fn make_ids_unique(message: &mut Arc<AssistantMessage>, history: &[Arc<Message>], forgotten: &[String]) {
    // Usually all ids are new, which can be checked without hashing a long history.
    let mut new: Vec<&str> = message.tool_calls().map(|call| &*call.id).collect();
    new.sort_unstable();
    let is_new = |id: &str| new.binary_search(&id).is_err();
    if is_new("") && new.is_sorted_by(|a, b| a < b) && ids(history, forgotten).all(is_new) {
        return;
    }
    let mut own: Vec<String> = Vec::new();
    for block in &mut Arc::make_mut(message).blocks {
        let Block::Call(call) = block else { continue };
        let taken = || ids(history, forgotten).chain(own.iter().map(String::as_str));
        if let Some(id) = unique_id(&call.id, taken) {
            Arc::make_mut(call).id = id;
        }
        own.push(call.id.clone());
    }
}

/// Adds the ids of the calls in `removed` that are not in `kept`: they must not name another call later.
pub(super) fn forget(removed: &[Arc<Message>], kept: &[Arc<Message>], forgotten: &mut Vec<String>) {
    let kept: HashSet<&str> = ids(kept, &[]).collect();
    let removed = ids(removed, &[]).filter(|id| !kept.contains(id));
    forgotten.extend(removed.map(str::to_owned));
}

/// Returns the ids of all earlier calls.
pub(super) fn ids<'a>(history: &'a [Arc<Message>], forgotten: &'a [String]) -> impl Iterator<Item = &'a str> {
    let earlier = history.iter().filter_map(|message| message.as_assistant());
    let calls = earlier.flat_map(AssistantMessage::tool_calls);
    calls.map(|call| &*call.id).chain(forgotten.iter().map(String::as_str))
}

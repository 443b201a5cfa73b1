//! Keeps the ids of tool calls unique within a conversation.

use std::{collections::HashSet, sync::Arc};

use agcore_chat::{AssistantMessage, Block, Message};

/// Renames calls whose id the history already contains, so that an id names one call forever in questions and journals: some
/// servers count from zero in each reply. A call without an id gets one. `forgotten` are the ids of calls that a compaction
/// removed.
pub(super) fn make_ids_unique(message: &mut Arc<AssistantMessage>, history: &[Arc<Message>], forgotten: &[String]) {
    // Usually all ids are new, which can be checked without hashing a long history.
    let mut new: Vec<&str> = message.tool_calls().map(|call| &*call.id).collect();
    new.sort_unstable();
    let is_new = |id: &str| new.binary_search(&id).is_err();
    if is_new("") && new.is_sorted_by(|a, b| a < b) && ids(history, forgotten).all(is_new) {
        return;
    }
    let before: HashSet<&str> = ids(history, forgotten).collect();
    let mut own = HashSet::new();
    for block in &mut Arc::make_mut(message).blocks {
        let Block::Call(call) = block else { continue };
        let call = Arc::make_mut(call);
        let base = if call.id.is_empty() {
            "call".to_owned()
        } else {
            call.id.clone()
        };
        let mut number = 2_u32;
        while call.id.is_empty() || before.contains(call.id.as_str()) || !own.insert(call.id.clone()) {
            call.id = format!("{base}_{number}");
            number += 1;
        }
    }
}

/// Returns the ids of all earlier calls.
fn ids<'a>(history: &'a [Arc<Message>], forgotten: &'a [String]) -> impl Iterator<Item = &'a str> {
    let earlier = history.iter().filter_map(|message| message.as_assistant());
    let calls = earlier.flat_map(AssistantMessage::tool_calls);
    calls.map(|call| &*call.id).chain(forgotten.iter().map(String::as_str))
}

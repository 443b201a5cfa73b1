//! Cache points: those that the application has marked, and those that the wire places by itself.
//!
//! The tools and the instructions get one each, because they rarely change. A third one moves along with the end of the
//! conversation, and a fourth one stays where the previous request ended: the vendor looks for a cached prefix only at cache
//! points and a few blocks before them, and a single round can be longer than that.

use agcore_chat::{ChatRequest, ToolChoice};

use super::{
    block::{BlockKind, EncodedBlock, Mark},
    list::EncodedMessage,
    message::Conversation,
    model::{Caching, Traits},
    tools::Tools,
};

/// The largest number of cache points that the API accepts.
const MAX_POINTS: usize = 4;

/// Prepares the cache points of a request. Models without a cache get none, because a point only saves money.
pub(super) fn prepare(
    request: &ChatRequest,
    traits: Traits,
    is_automatic: bool,
    conversation: &mut Conversation<'_>,
    tools: &mut Tools<'_>,
) -> Result<(), String> {
    if traits.caching == Caching::Never {
        conversation.remove_marks();
        return Ok(());
    }
    let marks = tools.marks() + conversation.blocks().filter(|block| is_marked(block)).count();
    if marks > MAX_POINTS {
        return Err(format!(
            "{marks} parts of the request are marked for the cache, but the Converse API accepts only {MAX_POINTS} cache points: \
             mark fewer of them"
        ));
    }
    if is_automatic && marks == 0 && is_continued(request) {
        place(traits, conversation, tools);
    }
    Ok(())
}

fn is_marked(block: &EncodedBlock<'_>) -> bool {
    block.mark.is_some() || block.is_cache_point()
}

/// Returns whether another request is likely to begin with this one. Writing to the cache costs more than it saves if none
/// does.
fn is_continued(request: &ChatRequest) -> bool {
    let has_choice = !matches!(
        request.tool_choice,
        Some(ToolChoice::None | ToolChoice::Function(_) | ToolChoice::Custom(_))
    );
    let has_reply = || request.messages.iter().any(|message| message.as_assistant().is_some());
    (has_choice && !request.tools.is_empty()) || has_reply()
}

fn place(traits: Traits, conversation: &mut Conversation<'_>, tools: &mut Tools<'_>) {
    if traits.caching_of_tools() {
        tools.mark_last();
    }
    mark_last(&mut conversation.system);
    let messages = &mut conversation.messages[..];
    // The previous request ended before the last reply.
    let reply = messages.iter().rposition(EncodedMessage::is_assistant).unwrap_or(0);
    let (before, after) = messages.split_at_mut(reply);
    for part in [after, before] {
        let _ = part.iter_mut().rev().any(|message| mark_last(&mut message.content));
    }
}

/// Marks the last block that may be marked. Returns whether there is one. Items of the vendor are sent unchanged.
fn mark_last(blocks: &mut [EncodedBlock<'_>]) -> bool {
    let may_be_marked =
        |block: &&mut EncodedBlock<'_>| !block.is_reasoning() && !matches!(block.kind, BlockKind::Raw(_));
    let last = blocks.iter_mut().rfind(may_be_marked);
    last.map(|block| block.mark = Some(Mark::Automatic)).is_some()
}

//! Cache marks that the wire places by itself.
//!
//! The vendor caches nothing without a mark. The tools and the instructions get one each, because they rarely change. A third
//! one moves along with the end of the conversation, and a fourth one stays where the previous request ended: the vendor
//! looks for a cached prefix only at marks and a few blocks before them, and a single round can be longer than that.

use agcore_chat::{ChatRequest, ToolChoice};

use super::{
    block::{EncodedBlock, Mark},
    message::{Conversation, EncodedMessage},
    tools::Tools,
};
use crate::anthropic::vendor::CACHE_CONTROL;

/// Places marks, unless the application placed any or the request is unlikely to be continued.
pub(super) fn place_marks(request: &ChatRequest, conversation: &mut Conversation<'_>, tools: &mut Tools<'_>) {
    if !is_continued(request) || is_marked(request, conversation, tools) {
        return;
    }
    tools.mark_last();
    mark_last(&mut conversation.system);
    let messages = &mut conversation.messages[..];
    // The previous request ended before the last reply.
    let reply = messages.iter().rposition(EncodedMessage::is_assistant).unwrap_or(0);
    let (before, after) = messages.split_at_mut(reply);
    for part in [after, before] {
        let _ = part.iter_mut().rev().any(|message| mark_last(&mut message.content));
    }
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

/// Returns whether the application placed a mark anywhere.
fn is_marked(request: &ChatRequest, conversation: &Conversation<'_>, tools: &Tools<'_>) -> bool {
    let messages = conversation.messages.iter().flat_map(|message| &message.content);
    request.extra_body.get(CACHE_CONTROL).is_some()
        || tools.is_marked()
        || conversation.system.iter().chain(messages).any(EncodedBlock::is_marked)
}

/// Marks the last block that may be marked. Returns whether there is one.
fn mark_last(blocks: &mut [EncodedBlock<'_>]) -> bool {
    let last = blocks.iter_mut().rfind(|block| block.may_be_marked_by_wire());
    last.map(|block| block.mark = Some(Mark::Automatic)).is_some()
}

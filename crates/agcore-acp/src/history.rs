//! [`history`]: the messages of a session as updates, for an editor that opens it.

use std::{collections::HashMap, sync::Arc};

use agcore_chat::{Block, Content, ContentPart, Message, Origin};
use agent_client_protocol::v1::schema::{ContentBlock, ContentChunk, ImageContent, SessionUpdate, ToolCallStatus};

use crate::call_view::DescribeCalls;
use crate::translator::{chunk, message, requested, shown_plan, text_content, thought, value};

/// Returns the updates that show the messages of a session in an editor: what the user sent, replies, reasoning, and the calls with
/// their results. A call without a result has failed: its turn was interrupted.
///
/// The text of instructions and of summaries that replace removed messages is not shown; a note stands for the messages that were
/// summarized. Messages do not keep whether a call has failed: one with a result is completed.
pub fn history(messages: &[Arc<Message>], calls: &dyn DescribeCalls) -> Vec<SessionUpdate> {
    let results: HashMap<&str, &Content> = messages.iter().filter_map(|message| result(message)).collect();
    let mut updates = Vec::new();
    if messages.iter().any(|message| has_summary(message)) {
        updates.push(message("(Earlier messages were summarized, and are not shown.)\n\n"));
    }
    for message in messages {
        match &**message {
            Message::User(user) => updates.extend(shown(&user.content)),
            Message::Assistant(reply) => {
                for block in &reply.blocks {
                    updates.extend(shown_block(block, &results, calls));
                }
            }
            _ => {}
        }
    }
    updates
}

fn has_summary(message: &Message) -> bool {
    let is_summary = |part: &ContentPart| part.marks().is_some_and(|marks| marks.origin == Some(Origin::Summary));
    match message {
        Message::User(user) => match &user.content {
            Content::Parts(parts) => parts.iter().any(is_summary),
            Content::Text(_) => false,
        },
        _ => false,
    }
}

fn result(message: &Message) -> Option<(&str, &Content)> {
    match message {
        Message::Tool(result) => Some((&result.tool_call_id, &result.content)),
        _ => None,
    }
}

/// Returns the chunks of a message of the user.
fn shown(content: &Content) -> Vec<SessionUpdate> {
    let part = |part: &ContentPart| match part {
        ContentPart::Text(_) if part.marks().is_some_and(|marks| marks.origin.is_some()) => None,
        ContentPart::Text(text) => Some(chunk(text.text.as_str())),
        ContentPart::ImageUrl(image) => Some(
            match image
                .image_url
                .url
                .strip_prefix("data:")
                .and_then(|url| url.split_once(";base64,"))
            {
                Some((kind, data)) => ContentChunk::new(ContentBlock::Image(ImageContent::new(data, kind))),
                None => chunk("(an image)"),
            },
        ),
        ContentPart::InputAudio(_) => Some(chunk("(a sound)")),
        ContentPart::File(_) => Some(chunk("(a document)")),
        _ => None,
    };
    let chunks: Vec<ContentChunk> = match content {
        Content::Text(text) => vec![chunk(text.as_str())],
        Content::Parts(parts) => parts.iter().filter_map(part).collect(),
    };
    chunks.into_iter().map(SessionUpdate::UserMessageChunk).collect()
}

fn shown_block(block: &Block, results: &HashMap<&str, &Content>, calls: &dyn DescribeCalls) -> Option<SessionUpdate> {
    match block {
        Block::Text(text) if !text.text.is_empty() => Some(message(text.text.as_str())),
        Block::Reasoning(reasoning) => (!reasoning.text.is_empty()).then(|| thought(reasoning.text.as_str())),
        Block::Refusal(refusal) => Some(message(refusal.refusal.as_str())),
        Block::Call(call) => {
            let input = value(call.raw_input());
            if let Some(plan) = shown_plan(&call.name, &input) {
                return Some(SessionUpdate::Plan(plan));
            }
            let view = calls.describe(&call.name, &input);
            let (status, content) = match results.get(call.id.as_str()) {
                Some(result) => (ToolCallStatus::Completed, vec![text_content(&result.text())]),
                None => (ToolCallStatus::Failed, Vec::new()),
            };
            let call = requested(&call.id, &call.name, view)
                .status(status)
                .content(content)
                .raw_input(input);
            Some(SessionUpdate::ToolCall(call))
        }
        _ => None,
    }
}

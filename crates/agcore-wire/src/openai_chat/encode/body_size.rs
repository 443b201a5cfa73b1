//! An estimate of the size of a body, so that the buffer of a long one is not reallocated repeatedly.

use agcore_chat::{AssistantMessage, Block, ChatRequest, Content, Message};

/// The usual size of everything except messages and tools.
const BASE: usize = 160;

/// The size of a message, or of a call in it, without its text.
const FRAME: usize = 36;

/// Estimates the size of a body with tools of this size, in bytes, by the length of its texts plus a little for escapes.
pub(super) fn estimate(request: &ChatRequest, tools: usize) -> usize {
    let texts: usize = request.messages.iter().map(|message| FRAME + text_size(message)).sum();
    BASE + tools + texts + texts / 32
}

fn text_size(message: &Message) -> usize {
    match message {
        Message::Developer(message) | Message::System(message) => content_size(&message.content),
        Message::User(message) => content_size(&message.content),
        Message::Tool(message) => content_size(&message.content),
        Message::Function(message) => message.content.as_deref().map_or(0, str::len),
        Message::Assistant(message) => assistant_size(message),
        _ => 0,
    }
}

fn content_size(content: &Content) -> usize {
    match content {
        Content::Text(text) => text.len(),
        Content::Parts(parts) => parts
            .iter()
            .map(|part| FRAME + part.as_text().map_or(0, str::len))
            .sum(),
    }
}

fn assistant_size(message: &AssistantMessage) -> usize {
    let sizes = message.blocks.iter().map(|block| match block {
        Block::Text(block) => block.text.len(),
        Block::Call(call) => 3 * FRAME + call.raw_input().len(),
        _ => 0,
    });
    sizes.sum()
}

#[cfg(test)]
mod tests {
    use agcore_chat::ToolCall;

    use super::*;
    use crate::{
        dialect,
        openai_chat::OpenAiChat,
        wire::{Chat, EncodeOptions, Wire},
    };

    #[test]
    fn a_long_body_fills_at_least_half_of_the_estimate() {
        let pair = |number: u32| {
            let call = ToolCall::function(format!("call_{number}"), "look_up", r#"{"city": "Paris"}"#);
            [
                Message::user(format!("Question {number}: \"how far is it from here to there\"?")),
                AssistantMessage::new("Wait.").with_call(call).into(),
            ]
        };
        let request = ChatRequest::new((0..1000).flat_map(pair));
        let wire = OpenAiChat::new(dialect::openai());
        let written = Wire::<Chat>::encode(&wire, &request, &EncodeOptions::new("m")).unwrap();

        let (estimate, size) = (estimate(&request, 0), written.body.len());
        assert!((size..2 * size).contains(&estimate), "{estimate} for {size}");
    }
}

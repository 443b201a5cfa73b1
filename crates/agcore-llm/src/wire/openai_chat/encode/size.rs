//! About how large a body will be: so that a long one does not grow, and move, over and over while it is written.

use agcore_chat::{AssistantMessage, Block, ChatRequest, Content, Message};

/// What everything beside messages and tools takes, in most requests.
const BESIDE: usize = 160;

/// What a message, or a call in it, takes beside its text.
const FRAME: usize = 36;

/// A guess at the size of a request's body with tools of this size, in bytes. Texts count, and a little for what has to be
/// escaped in them.
pub(super) fn guess(request: &ChatRequest, tools: usize) -> usize {
    let texts: usize = request.messages.iter().map(|message| FRAME + text_size(message)).sum();
    BESIDE + tools + texts + texts / 32
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
        wire::{Chat, EncodeOptions, Wire, openai_chat::OpenAiChat},
    };

    #[test]
    fn a_long_body_fits_and_is_not_half_empty() {
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

        let (guess, size) = (guess(&request, 0), written.body.len());
        assert!((size..2 * size).contains(&guess), "{guess} for {size}");
    }
}

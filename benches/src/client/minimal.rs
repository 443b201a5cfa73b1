//! The minimal parsing of replies that the baselines need: the content and the tool calls.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::{Fallible, canned::streamed::Api};

#[derive(Deserialize)]
struct Completion {
    choices: Vec<Choice>,
}

#[derive(Deserialize)]
struct Choice {
    message: Message,
}

/// The message of a whole reply.
#[derive(Debug, Deserialize)]
pub struct Message {
    /// The text.
    pub content: Option<String>,
    /// The calls of tools.
    #[serde(default)]
    pub tool_calls: Vec<Call>,
}

/// A call of a tool.
#[derive(Debug, Deserialize)]
pub struct Call {
    /// The id to which the result refers.
    pub id: String,
    /// The called function.
    pub function: Function,
}

/// The name and the arguments of a call.
#[derive(Debug, Deserialize)]
pub struct Function {
    /// The name of the tool.
    pub name: String,
    /// The arguments as JSON.
    pub arguments: String,
}

/// A request with a conversation.
#[derive(Debug, Serialize)]
pub struct Conversation<'a> {
    /// The name of the model.
    pub model: &'a str,
    /// The messages.
    pub messages: &'a [Utterance],
}

/// A message of a conversation.
#[derive(Debug, Serialize)]
pub struct Utterance {
    /// `user` or `assistant`.
    pub role: &'static str,
    /// The text.
    pub content: String,
}

/// Parses the message of a whole reply.
pub fn message(reply: &[u8]) -> Fallible<Message> {
    let completion: Completion = serde_json::from_slice(reply)?;
    let choice = completion.choices.into_iter().next().ok_or("no choice")?;
    Ok(choice.message)
}

#[derive(Deserialize)]
struct Chunk {
    choices: Vec<ChunkChoice>,
}

#[derive(Deserialize)]
struct ChunkChoice {
    delta: Delta,
}

#[derive(Deserialize)]
struct Delta {
    content: Option<String>,
}

/// An event with text of one of the other APIs. The caller has checked the name of the event.
#[derive(Deserialize)]
struct TextEvent<T> {
    delta: T,
}

/// The delta of Anthropic's API. In the Responses API, the delta is the text itself.
#[derive(Deserialize)]
struct TextDelta {
    text: String,
}

/// A decoder for the exact form of stream that the benchmark server sends.
#[derive(Debug)]
pub struct Events {
    /// Returns the length of the text in an event, in bytes.
    read: fn(&[u8]) -> Fallible<u64>,
    /// The start of an incomplete event.
    incomplete: Vec<u8>,
    /// The length of the text received so far, in bytes.
    pub text: u64,
}

impl Events {
    /// Creates a decoder for a new stream.
    pub fn new(api: Api) -> Self {
        Self {
            read: match api {
                Api::Chat => chat_text,
                Api::Anthropic => anthropic_text,
                Api::Responses => responses_text,
            },
            incomplete: Vec::new(),
            text: 0,
        }
    }

    /// Decodes the next bytes.
    pub fn feed(&mut self, bytes: &[u8]) -> Fallible {
        let mut rest = bytes;
        while let Some(end) = memchr::memmem::find(rest, b"\n\n") {
            let (event, after) = (&rest[..end], &rest[end + 2..]);
            rest = after;
            if self.incomplete.is_empty() {
                self.text += (self.read)(event)?;
            } else {
                self.incomplete.extend_from_slice(event);
                self.text += (self.read)(&self.incomplete)?;
                self.incomplete.clear();
            }
        }
        self.incomplete.extend_from_slice(rest);
        Ok(())
    }
}

fn chat_text(event: &[u8]) -> Fallible<u64> {
    let data = event.strip_prefix(b"data: ").ok_or("no data")?;
    if data == b"[DONE]" {
        return Ok(0);
    }
    let chunk: Chunk = serde_json::from_slice(data)?;
    let content = chunk.choices.into_iter().next().and_then(|choice| choice.delta.content);
    Ok(content.map_or(0, |content| content.len() as u64))
}

fn anthropic_text(event: &[u8]) -> Fallible<u64> {
    let Some(data) = event.strip_prefix(b"event: content_block_delta\ndata: ") else {
        return Ok(0);
    };
    let event: TextEvent<TextDelta> = serde_json::from_slice(data)?;
    Ok(event.delta.text.len() as u64)
}

fn responses_text(event: &[u8]) -> Fallible<u64> {
    let Some(data) = event.strip_prefix(b"event: response.output_text.delta\ndata: ") else {
        return Ok(0);
    };
    let event: TextEvent<String> = serde_json::from_slice(data)?;
    Ok(event.delta.len() as u64)
}

/// Concatenates buffers, without copying a single one.
pub fn concat(mut buffers: Vec<Bytes>) -> Bytes {
    match buffers.len() {
        1 => buffers.remove(0),
        _ => buffers.concat().into(),
    }
}

//! The least reading of replies that the floors can do with: the content, and calls of tools.

use bytes::Bytes;
use serde::Deserialize;

use crate::{Fallible, canned::streamed::Api};

#[derive(Deserialize)]
struct Completion {
    choices: Vec<Choice>,
}

#[derive(Deserialize)]
struct Choice {
    message: Message,
}

/// What a whole reply says.
#[derive(Deserialize)]
pub(crate) struct Message {
    pub(crate) content: Option<String>,
    #[serde(default)]
    pub(crate) tool_calls: Vec<Call>,
}

#[derive(Deserialize)]
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) function: Function,
}

#[derive(Deserialize)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) arguments: String,
}

/// The message of a whole reply.
pub(crate) fn message(reply: &[u8]) -> Fallible<Message> {
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

/// An event of either other API that has text; which one it is, its name tells.
#[derive(Deserialize)]
struct TextEvent<T> {
    delta: T,
}

/// Anthropic's delta; the delta of a response is the text itself.
#[derive(Deserialize)]
struct TextDelta {
    text: String,
}

/// Reads a stream of the one form that our server sends.
pub(crate) struct Events {
    /// The text in an event, in bytes.
    read: fn(&[u8]) -> Fallible<u64>,
    /// The beginning of an event whose end has not come yet.
    begun: Vec<u8>,
    /// How much text came, in bytes.
    pub(crate) text: u64,
}

impl Events {
    /// A reader at the beginning of a stream.
    pub(crate) fn of(api: Api) -> Self {
        Self {
            read: match api {
                Api::Chat => chat_text,
                Api::Anthropic => anthropic_text,
                Api::Responses => responses_text,
            },
            begun: Vec::new(),
            text: 0,
        }
    }

    pub(crate) fn feed(&mut self, piece: &[u8]) -> Fallible {
        let mut rest = piece;
        while let Some(end) = memchr::memmem::find(rest, b"\n\n") {
            let (event, after) = (&rest[..end], &rest[end + 2..]);
            rest = after;
            if self.begun.is_empty() {
                self.text += (self.read)(event)?;
            } else {
                self.begun.extend_from_slice(event);
                self.text += (self.read)(&self.begun)?;
                self.begun.clear();
            }
        }
        self.begun.extend_from_slice(rest);
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

/// Pieces in one; a single one stays what it is.
pub(crate) fn whole(mut pieces: Vec<Bytes>) -> Bytes {
    match pieces.len() {
        1 => pieces.remove(0),
        _ => pieces.concat().into(),
    }
}

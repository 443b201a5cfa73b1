//! [`EncodedAssistant`]: assistant messages with their text, reasoning and calls.

use std::borrow::Cow;

use agcore_chat::{AssistantMessage, Block, CallInput, ToolCall};
use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{json, value::RawValue};

use crate::{
    encode::tool_names,
    ollama::vendor::{VENDOR, check_name, unsupported},
};

/// An assistant message in the form of the API. It has one member for each kind of block, so the order of blocks of
/// different kinds is lost.
pub(super) struct EncodedAssistant<'a>(pub(super) &'a AssistantMessage);

impl Serialize for EncodedAssistant<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let message = self.0;
        check_name(message.name.as_deref())?;
        if message.function_call.is_some() {
            return Err(unsupported(
                "legacy function calls",
                "rewrite `function_call` as a tool call",
            ));
        }
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("role", "assistant")?;
        map.serialize_entry("content", &content(message))?;
        let thinking = thinking(message);
        if !thinking.is_empty() {
            map.serialize_entry("thinking", &thinking)?;
        }
        if message.has_tool_calls() {
            map.serialize_entry("tool_calls", &EncodedCalls(message))?;
        }
        map.end()
    }
}

/// Returns the text. A refusal or the transcript of an audio answer replaces missing text, because the API has no member
/// for them.
fn content(message: &AssistantMessage) -> Cow<'_, str> {
    let text = message.text();
    if !text.is_empty() {
        return text;
    }
    let transcript = || message.audio.as_ref()?.get("transcript")?.as_str();
    message.refusal_text().or_else(transcript).unwrap_or_default().into()
}

/// Returns the reasoning of this vendor, and reasoning without a vendor. That of other vendors is left out.
fn thinking(message: &AssistantMessage) -> Cow<'_, str> {
    let mut texts = message.blocks.iter().filter_map(|block| match block {
        Block::Reasoning(reasoning) if reasoning.vendor.as_ref().is_none_or(|data| data.vendor == VENDOR) => {
            Some(reasoning.text.as_str())
        }
        _ => None,
    });
    match (texts.next(), texts.next()) {
        (None, _) => "".into(),
        (Some(only), None) => only.into(),
        (Some(first), Some(second)) => Cow::Owned([first, second].into_iter().chain(texts).collect()),
    }
}

struct EncodedCalls<'a>(&'a AssistantMessage);

impl Serialize for EncodedCalls<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(
            self.0
                .tool_calls()
                .enumerate()
                .map(|(index, call)| EncodedCall { index, call }),
        )
    }
}

/// A call: `{"id": …, "function": {"index": …, "name": …, "arguments": {…}}}`.
struct EncodedCall<'a> {
    index: usize,
    call: &'a ToolCall,
}

impl Serialize for EncodedCall<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if !self.call.id.is_empty() {
            map.serialize_entry("id", &self.call.id)?;
        }
        map.serialize_entry("function", &EncodedFunction(self))?;
        map.end()
    }
}

struct EncodedFunction<'a>(&'a EncodedCall<'a>);

impl Serialize for EncodedFunction<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let EncodedCall { index, call } = self.0;
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("index", index)?;
        map.serialize_entry("name", &tool_names::of_call(&call.name))?;
        match &call.input {
            CallInput::Text(text) => map.serialize_entry("arguments", &json!({ "input": text }))?,
            CallInput::Arguments(raw) => match (call.arguments(), serde_json::from_str::<&RawValue>(raw)) {
                // Exactly as the model wrote them, including the format of numbers.
                (Ok(_), Ok(object)) if object.get().starts_with('{') => map.serialize_entry("arguments", object)?,
                (Ok(_), _) => map.serialize_entry("arguments", &json!({}))?,
                // The server rejects the whole request unless the arguments are an object. The model sees what it wrote.
                (Err(_), _) => map.serialize_entry("arguments", &json!({ "invalid_json": raw }))?,
            },
            other => return Err(unsupported(&format!("the call input {other:?}"), "leave the call out")),
        }
        map.end()
    }
}

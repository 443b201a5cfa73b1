//! Assistant messages: text, thoughts and calls.

use std::borrow::Cow;

use agcore_chat::{AssistantMessage, Block, CallInput, ToolCall};
use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{json, value::RawValue};

use super::refusal::{check_name, refuse};
use crate::wire::ollama::vendor::VENDOR;

/// A call must have a name; one without was never run, and its result says so.
const NO_NAME: &str = "unknown_tool";

/// An assistant message as it is written. Each kind of block has one place, so their order among each other is lost.
pub(super) struct WrittenAssistant<'a>(pub(super) &'a AssistantMessage);

impl Serialize for WrittenAssistant<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let message = self.0;
        check_name(message.name.as_deref())?;
        if message.function_call.is_some() {
            return Err(refuse(
                "calls in the legacy form",
                "rewrite `function_call` as a tool call",
            ));
        }
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("role", "assistant")?;
        map.serialize_entry("content", &content(message))?;
        let thinking = own_thinking(message);
        if !thinking.is_empty() {
            map.serialize_entry("thinking", &thinking)?;
        }
        if message.has_tool_calls() {
            map.serialize_entry("tool_calls", &WrittenCalls(message))?;
        }
        map.end()
    }
}

/// The text; what was refused or spoken stands in its place, as the API has no member for either.
fn content(message: &AssistantMessage) -> Cow<'_, str> {
    let text = message.text();
    if !text.is_empty() {
        return text;
    }
    let transcript = || message.audio.as_ref()?.get("transcript")?.as_str();
    message.refusal_text().or_else(transcript).unwrap_or_default().into()
}

/// Thoughts are for who made them; those on which nobody's name stands, as on this API's, are for whoever takes them.
fn own_thinking(message: &AssistantMessage) -> Cow<'_, str> {
    let mut thoughts = message.blocks.iter().filter_map(|block| match block {
        Block::Reasoning(reasoning) if reasoning.vendor.as_ref().is_none_or(|data| data.vendor == VENDOR) => {
            Some(reasoning.text.as_str())
        }
        _ => None,
    });
    match (thoughts.next(), thoughts.next()) {
        (None, _) => "".into(),
        (Some(only), None) => only.into(),
        (Some(first), Some(second)) => Cow::Owned([first, second].into_iter().chain(thoughts).collect()),
    }
}

struct WrittenCalls<'a>(&'a AssistantMessage);

impl Serialize for WrittenCalls<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(
            self.0
                .tool_calls()
                .enumerate()
                .map(|(index, call)| WrittenCall { index, call }),
        )
    }
}

/// `{"id": …, "function": {"index": …, "name": …, "arguments": {…}}}`.
struct WrittenCall<'a> {
    index: usize,
    call: &'a ToolCall,
}

impl Serialize for WrittenCall<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if !self.call.id.is_empty() {
            map.serialize_entry("id", &self.call.id)?;
        }
        map.serialize_entry("function", &WrittenFunction(self))?;
        map.end()
    }
}

struct WrittenFunction<'a>(&'a WrittenCall<'a>);

impl Serialize for WrittenFunction<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let WrittenCall { index, call } = self.0;
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("index", index)?;
        let name = if call.name.is_empty() { NO_NAME } else { &call.name };
        map.serialize_entry("name", name)?;
        match &call.input {
            CallInput::Text(text) => map.serialize_entry("arguments", &json!({ "input": text }))?,
            CallInput::Arguments(raw) => match (call.arguments(), serde_json::from_str::<&RawValue>(raw)) {
                // As the model wrote them, down to each number.
                (Ok(_), Ok(object)) if object.get().starts_with('{') => map.serialize_entry("arguments", object)?,
                (Ok(_), _) => map.serialize_entry("arguments", &json!({}))?,
                // The server refuses the whole request for anything but an object; the model sees what it wrote.
                (Err(_), _) => map.serialize_entry("arguments", &json!({ "invalid_json": raw }))?,
            },
            other => return Err(refuse(&format!("the call input {other:?}"), "leave the call out")),
        }
        map.end()
    }
}

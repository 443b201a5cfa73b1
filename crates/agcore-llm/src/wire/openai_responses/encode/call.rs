//! [`WrittenCall`]: a call as an item.

use agcore_chat::{CallInput, ToolCall};
use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Map, Value};

use super::context::{Context, refuse};

/// A call must have a name; one without was never run, and its result says so.
const NO_NAME: &str = "unknown_tool";

/// A call as it is written.
pub(super) struct WrittenCall<'a> {
    pub(super) context: &'a Context<'a>,
    /// The place of its message.
    pub(super) at: usize,
    pub(super) call: &'a ToolCall,
    /// What the API wants back with it.
    pub(super) own: Option<&'a Map<String, Value>>,
    /// Whether its item's id goes, too; without the reasoning before it the API refuses it.
    pub(super) with_id: bool,
}

impl Serialize for WrittenCall<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let call = self.call;
        let (kind, member, input) = match &call.input {
            // Arguments are a string here, so that even bad ones go as the model wrote them.
            CallInput::Arguments(raw) if raw.trim().is_empty() => ("function_call", "arguments", "{}"),
            CallInput::Arguments(raw) => ("function_call", "arguments", raw.as_str()),
            CallInput::Text(text) => ("custom_tool_call", "input", text.as_str()),
            other => return Err(refuse(&format!("the call input {other:?}"), "leave the call out")),
        };
        let name = if call.name.is_empty() { NO_NAME } else { &call.name };
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", kind)?;
        for (name, value) in self.own.into_iter().flatten() {
            let is_taken = match name.as_str() {
                "id" => self.with_id,
                // Sent with calls of free text, but no member of theirs in a request.
                "status" => kind != "custom_tool_call",
                _ => true,
            };
            if is_taken {
                map.serialize_entry(name, value)?;
            }
        }
        map.serialize_entry("call_id", &self.context.call_ids.get(self.at, &call.id))?;
        map.serialize_entry("name", name)?;
        map.serialize_entry(member, input)?;
        map.end()
    }
}

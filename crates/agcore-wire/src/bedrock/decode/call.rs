//! Calls of tools: those that the application runs, and those that the vendor runs.

use agcore_chat::Text;
use serde_json::Result;

use crate::{
    bedrock::vendor::{CHOICE, SERVER_TOOL_USE, SYSTEM_TOOL},
    decode::json::JsonReader,
    delta::{CallFragment, ReplyDelta},
};

/// A call, or its beginning in a stream.
#[derive(Debug, Default)]
pub(super) struct ToolUse {
    pub(super) id: Option<Text>,
    pub(super) name: Option<Text>,
    /// The JSON text of the arguments.
    pub(super) input: Option<Text>,
    kind: Option<Text>,
}

impl ToolUse {
    /// Reads a call.
    pub(super) fn read(json: &mut JsonReader<'_>) -> Result<Self> {
        let (mut call, mut members) = (Self::default(), json.object("a tool use")?);
        while let Some(name) = json.next_name(&mut members)? {
            match &*name {
                "toolUseId" => call.id = json.text()?,
                "name" => call.name = json.text()?,
                "type" => call.kind = json.text()?,
                "input" => {
                    call.input = match json.peek() {
                        // Some gateways send arguments as text.
                        Some(b'"' | b'n') => json.text()?,
                        _ => Some(json.raw()?.into()),
                    }
                }
                _ => json.skip()?,
            }
        }
        Ok(call)
    }

    /// Returns whether the vendor runs the tool. Its result is a block of the same message.
    pub(super) fn is_hosted(&self) -> bool {
        let is_system_tool = |name: &Text| name.as_str().starts_with(SYSTEM_TOOL);
        self.kind.as_ref().is_some_and(|kind| kind.as_str() == SERVER_TOOL_USE)
            || self.name.as_ref().is_some_and(is_system_tool)
    }

    /// Returns the delta of the call, or of its beginning.
    pub(super) fn into_delta(self, index: u32) -> ReplyDelta {
        fragment(CallFragment {
            index: Some(index),
            id: self.id,
            name: self.name,
            input: self.input,
            ..CallFragment::default()
        })
    }
}

/// Returns the delta for a piece of a call's arguments.
pub(super) fn piece(index: u32, input: Text) -> ReplyDelta {
    fragment(CallFragment {
        index: Some(index),
        input: Some(input),
        ..CallFragment::default()
    })
}

fn fragment(fragment: CallFragment) -> ReplyDelta {
    ReplyDelta::Call {
        choice: CHOICE,
        fragment: Box::new(fragment),
    }
}

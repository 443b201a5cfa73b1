//! [`Report`]: what observers learn of a call.

use std::{sync::Arc, time::Duration};

use agcore_chat::{StreamEvent, Text, ToolCall, ToolEvent, tool_name::portable};
use agcore_flow::NodeContext;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::planner_flow::phase;

/// The result of a call.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct CallResult {
    pub(super) value: Value,
    pub(super) is_error: bool,
    /// Data for observers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) display: Option<Box<Value>>,
    /// How long the call ran.
    #[serde(default)]
    pub(super) duration: Duration,
    /// The input with which the call ran, if a person edited it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) input: Option<Text>,
}

/// A call, and the node that makes it.
pub(super) struct Report<'a> {
    call: Arc<ToolCall>,
    /// The input as observers see it.
    input: Arc<str>,
    at: &'a NodeContext,
}

impl<'a> Report<'a> {
    /// Creates the report of a call of a tool, which the node numbers.
    pub(super) fn new(name: &str, number: usize, arguments: &Value, at: &'a NodeContext) -> Self {
        let id = match at.durable_id() {
            // Unique in the conversation, and accepted by every vendor.
            Some(place) => portable(&format!("{place}/{number}")).into_owned(),
            None => format!("{}-{}-{number}", portable(name), at.visit()),
        };
        let input = arguments.to_string();
        Self {
            input: input.as_str().into(),
            call: Arc::new(ToolCall::function(id, name, input)),
            at,
        }
    }

    pub(super) fn call(&self) -> &Arc<ToolCall> {
        &self.call
    }

    pub(super) fn requested(&self) {
        self.emit(ToolEvent::Requested {
            call_id: self.call.id.as_str().into(),
            name: self.call.name.as_str().into(),
            input: Arc::clone(&self.input),
        });
    }

    pub(super) fn started(&self) {
        self.emit(ToolEvent::Started {
            call_id: self.call.id.as_str().into(),
            name: self.call.name.as_str().into(),
        });
    }

    pub(super) fn completed(&self, result: &CallResult) {
        let output = match &result.value {
            Value::String(text) => text.as_str().into(),
            other => other.to_string().into(),
        };
        self.emit(ToolEvent::Completed {
            call_id: self.call.id.as_str().into(),
            name: self.call.name.as_str().into(),
            input: match &result.input {
                Some(edited) => edited.as_str().into(),
                None => Arc::clone(&self.input),
            },
            output,
            is_error: result.is_error,
            duration: result.duration,
            display: result.display.clone(),
        });
    }

    fn emit(&self, event: ToolEvent) {
        // The planner has decided on the call, in a round of its own.
        let turn = self.at.visit().saturating_sub(1);
        self.at
            .emit_call(StreamEvent::new(0, Arc::from(phase::PLANNER), turn, 0, event));
    }
}

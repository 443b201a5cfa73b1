//! [`StageRows`]: what the conversation shows of the work of agents and nodes in a flow.

use agcore_chat::{EventKind, TextEvent, ToolEvent};
use agcore_session::{MessageMetadata, MessageRole, NewMessage, Visibility};
use serde_json::Value;

/// The messages that the conversation shows because of an event.
pub(super) struct StageRows {
    /// The beginning of the ids of the messages.
    id: String,
    run: String,
    /// Where calls and their results are visible.
    visibility: Visibility,
    rows: Vec<NewMessage>,
}

impl StageRows {
    pub(super) fn new(id: String, run: &str, visibility: Visibility) -> Self {
        Self {
            id,
            run: run.to_owned(),
            visibility,
            rows: Vec::new(),
        }
    }

    /// Adds calls of tools with their results, and the text that an agent whose text is shown writes along with its calls.
    pub(super) fn agent_event(&mut self, kind: &EventKind, is_shown: bool) {
        match kind {
            EventKind::Text(TextEvent::MessageComplete(reply)) => {
                let text = reply.text();
                if is_shown && reply.has_tool_calls() && !text.is_empty() {
                    let metadata = MessageMetadata::AssistantOutput;
                    self.push(MessageRole::Assistant, &text, metadata, Visibility::HISTORY);
                }
                for call in reply.tool_calls() {
                    self.call(&call.id, &call.name, call.raw_input());
                }
            }
            EventKind::Tool(result) => self.result(result),
            _ => {}
        }
    }

    /// Adds a call that a node makes itself, or its result.
    pub(super) fn node_call(&mut self, event: &ToolEvent) {
        match event {
            ToolEvent::Requested { call_id, name, input } => self.call(call_id, name, input),
            result => self.result(result),
        }
    }

    pub(super) fn into_rows(self) -> impl Iterator<Item = NewMessage> {
        self.rows.into_iter()
    }

    fn call(&mut self, id: &str, name: &str, input: &str) {
        let metadata = MessageMetadata::ToolCall {
            call_id: id.to_owned(),
            name: name.to_owned(),
            arguments: serde_json::from_str(input).unwrap_or_else(|_| Value::from(input)),
        };
        self.push(MessageRole::Assistant, "", metadata, self.visibility);
    }

    fn result(&mut self, event: &ToolEvent) {
        let ToolEvent::Completed {
            call_id,
            name,
            output,
            is_error,
            ..
        } = event
        else {
            return;
        };
        let metadata = MessageMetadata::ToolResult {
            call_id: call_id.to_string(),
            name: name.to_string(),
            is_error: *is_error,
        };
        self.push(MessageRole::Tool, output, metadata, self.visibility);
    }

    fn push(&mut self, role: MessageRole, text: &str, metadata: MessageMetadata, visibility: Visibility) {
        let id = format!("{}.{}", self.id, self.rows.len());
        let row = NewMessage::new(id, role, text).with_metadata(metadata);
        self.rows.push(row.with_visibility(visibility).with_run(&*self.run));
    }
}

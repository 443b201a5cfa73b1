//! [`UiStream`]: the parts of a UI message stream.

mod end;

use std::collections::HashSet;

use agcore_agui::{AguiEvent, EventType, push_sse_frame};
use serde_json::{Map, Value, json};

/// The versions of the package `ai` that differ in what they accept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum UiVersion {
    /// Version 5, which knows no approvals: all questions are parts with data.
    V5,
    /// Version 6 and later.
    #[default]
    V6,
}

impl UiVersion {
    /// Returns the version with this number.
    ///
    /// ```
    /// use agcore_ui_stream::UiVersion;
    ///
    /// assert_eq!(UiVersion::from_name("7"), Some(UiVersion::V6));
    /// assert_eq!(UiVersion::from_name("4"), None);
    /// ```
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "5" => Some(Self::V5),
            "6" | "7" => Some(Self::V6),
            _ => None,
        }
    }
}

/// Writes the stream of one message, from the events of a run. Live events and a replay of the log give the same bytes.
///
/// Tools of the server are dynamic parts that the provider has executed, so that a page does not try to run them; tools of the page
/// are parts of their own type. Questions for a person are approvals of a call, or parts of the type `data-agcore-question`, which
/// `resume` in the body of the next request answers. A text that another one replaces stays, and is named by a part of the type
/// `data-agcore-discarded`.
///
/// ```
/// use agcore_agui::{Encoder, Run, TextMessage};
/// use agcore_ui_stream::UiStream;
///
/// let mut encoder = Encoder::new("chat_1", "run_1");
/// let mut stream = UiStream::new("message_1");
/// let [started] = &encoder.push(Run::started().into())?[..] else { panic!() };
/// assert!(stream.push(started).starts_with(r#"data: {"type":"start","messageId":"message_1""#));
/// # Ok::<(), agcore_agui::EncodeError>(())
/// ```
#[derive(Debug, Clone)]
pub struct UiStream {
    message: String,
    version: UiVersion,
    /// The names of the tools that the page runs.
    own_tools: HashSet<String>,
    /// The calls that the message has.
    calls: HashSet<String>,
}

impl UiStream {
    /// Creates the stream of a message with an id.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            version: UiVersion::default(),
            own_tools: HashSet::new(),
            calls: HashSet::new(),
        }
    }

    /// Sets the version of the page.
    #[must_use]
    pub fn with_version(mut self, version: UiVersion) -> Self {
        self.version = version;
        self
    }

    /// Sets the names of the tools that the page runs.
    #[must_use]
    pub fn with_own_tools(mut self, names: impl IntoIterator<Item = String>) -> Self {
        self.own_tools = names.into_iter().collect();
        self
    }

    /// Sets the ids of calls that the message of the page has already, so that their results are written without them.
    #[must_use]
    pub fn with_known_calls(mut self, ids: impl IntoIterator<Item = String>) -> Self {
        self.calls = ids.into_iter().collect();
        self
    }

    /// Returns the frames of an event, as server-sent events. Those of sub-agents are not a part of the message.
    pub fn push(&mut self, event: &AguiEvent) -> String {
        let mut out = String::new();
        if event.subagent().is_some() {
            return out;
        }
        let id = || member(event, "messageId");
        match event.event_type() {
            EventType::RunStarted => {
                let metadata = json!({"threadId": member(event, "threadId"), "runId": member(event, "runId")});
                part(
                    &json!({"type": "start", "messageId": self.message, "messageMetadata": metadata}),
                    &mut out,
                );
                part(&json!({"type": "start-step"}), &mut out);
            }
            EventType::TextMessageStart => part(&json!({"type": "text-start", "id": id()}), &mut out),
            EventType::TextMessageContent => {
                part(
                    &json!({"type": "text-delta", "id": id(), "delta": member(event, "delta")}),
                    &mut out,
                );
            }
            EventType::TextMessageEnd => {
                part(&json!({"type": "text-end", "id": id()}), &mut out);
                if event.own_member("discarded").is_some() {
                    part(
                        &json!({"type": "data-agcore-discarded", "data": {"id": id()}}),
                        &mut out,
                    );
                }
            }
            EventType::ReasoningMessageStart => part(&json!({"type": "reasoning-start", "id": id()}), &mut out),
            EventType::ReasoningMessageContent => {
                part(
                    &json!({"type": "reasoning-delta", "id": id(), "delta": member(event, "delta")}),
                    &mut out,
                );
            }
            EventType::ReasoningMessageEnd => part(&json!({"type": "reasoning-end", "id": id()}), &mut out),
            EventType::ToolCallStart => {
                let (call, name) = (member(event, "toolCallId"), member(event, "toolCallName"));
                self.calls.insert(text(&call));
                part(&self.of_tool("tool-input-start", &call, &name), &mut out);
            }
            EventType::ToolCallArgs => self.arguments(event, &mut out),
            EventType::ToolCallResult => self.result(event, &mut out),
            EventType::StepStarted => {
                let data = json!({"name": member(event, "stepName"), "status": "started"});
                part(
                    &json!({"type": "data-agcore-step", "data": data, "transient": true}),
                    &mut out,
                );
            }
            EventType::RunFinished | EventType::RunError => self.end(event, &mut out),
            _ => {}
        }
        out
    }

    /// Returns the frames of an error, with which the stream ends.
    pub fn error(message: &str) -> String {
        let mut out = String::new();
        part(&json!({"type": "error", "errorText": message}), &mut out);
        out.push_str("data: [DONE]\n\n");
        out
    }

    fn of_tool(&self, kind: &str, call: &Value, name: &Value) -> Value {
        let mut value = json!({"type": kind, "toolCallId": call, "toolName": name});
        if !self.own_tools.contains(name.as_str().unwrap_or_default()) {
            value["dynamic"] = true.into();
            value["providerExecuted"] = true.into();
        }
        value
    }

    fn arguments(&self, event: &AguiEvent, out: &mut String) {
        let (call, delta) = (member(event, "toolCallId"), member(event, "delta"));
        part(
            &json!({"type": "tool-input-delta", "toolCallId": call, "inputTextDelta": delta}),
            out,
        );
        // The log has all arguments in one event, which names the tool.
        let name = event.own_member("toolCallName").cloned().unwrap_or_default();
        let mut available = self.of_tool("tool-input-available", &call, &name);
        let input = serde_json::from_str(delta.as_str().unwrap_or_default());
        available["input"] = input.unwrap_or(delta);
        part(&available, out);
    }

    fn result(&mut self, event: &AguiEvent, out: &mut String) {
        let call = member(event, "toolCallId");
        let name = event.own_member("tool_name").cloned().unwrap_or_default();
        if self.calls.insert(text(&call)) {
            // An earlier run has announced the call. A page that has lost its message needs the part.
            let mut available = self.of_tool("tool-input-available", &call, &name);
            available["input"] = event
                .own_member("tool_call_args")
                .cloned()
                .unwrap_or(Value::Object(Map::new()));
            part(&available, out);
        }
        let is_dynamic = !self.own_tools.contains(name.as_str().unwrap_or_default());
        let mut result = match event.own_member("error") {
            Some(error) => {
                let message = error["message"].as_str().map(str::to_owned);
                let message = message.unwrap_or_else(|| text(&member(event, "content")));
                json!({"type": "tool-output-error", "toolCallId": call, "errorText": message})
            }
            None => {
                let output = event
                    .own_member("result")
                    .cloned()
                    .unwrap_or_else(|| member(event, "content"));
                json!({"type": "tool-output-available", "toolCallId": call, "output": output})
            }
        };
        if is_dynamic {
            result["dynamic"] = true.into();
            result["providerExecuted"] = true.into();
        }
        part(&result, out);
    }
}

fn member(event: &AguiEvent, name: &str) -> Value {
    event.member(name).cloned().unwrap_or_default()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn part(value: &Value, out: &mut String) {
    push_sse_frame(out, None, None, &value.to_string());
}

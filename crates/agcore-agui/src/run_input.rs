//! [`RunAgentInput`]: what a client sends to start a run.

mod answer;
mod error;
mod limits;
mod read;

pub use answer::{AnswerError, ResumeEntry, ResumeStatus};
pub use error::{RunInputError, RunInputErrorKind};
pub use limits::InputLimits;

use agcore_chat::{Message, Role, ToolDefinition, ToolMessage};
use serde_json::{Map, Value};

use crate::{event::Protocol, thread_message::ThreadMessage};

/// The request of a client to start a run.
///
/// Members that agcore does not know are kept in `extra`, and `null` is the same as a member that is absent. Everything comes from
/// outside: check the ids against the user's own sessions, and do not trust the conversation where a store has it.
///
/// ```
/// use agcore_agui::{InputLimits, Protocol, RunAgentInput};
///
/// let body = r#"{
///     "threadId": "thread_1", "runId": "run_1", "protocolVersion": "1.0", "tools": [], "context": [],
///     "messages": [{"id": "m1", "role": "user", "content": "Good day"}],
///     "forwardedProps": {"agent": "helper"}
/// }"#;
/// let input = RunAgentInput::from_slice(body.as_bytes(), &InputLimits::default())?;
/// assert_eq!(input.protocol(), Protocol::V1);
/// assert_eq!(input.newest_user_message().unwrap().message().unwrap().text(), "Good day");
/// assert_eq!(input.forwarded("agent").unwrap(), "helper");
///
/// let error = RunAgentInput::from_slice(br#"{"threadId": "t", "runId": 7}"#, &InputLimits::default()).unwrap_err();
/// assert_eq!(error.to_string(), "runId: a number is refused: it must be a text");
/// # Ok::<(), agcore_agui::RunInputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RunAgentInput {
    /// The id of the conversation: 1 to 128 characters, chosen by the client.
    pub thread_id: String,
    /// The id of the run: 1 to 128 characters, chosen by the client. The same id again means the same run.
    pub run_id: String,
    /// The run that this one continues.
    pub parent_run_id: Option<String>,
    /// The version of AG-UI that the client speaks. Clients before 1.0 send none.
    pub protocol_version: Option<String>,
    /// The client's state.
    pub state: Option<Value>,
    /// The client's view of the conversation.
    pub messages: Vec<ThreadMessage>,
    /// Tools of the front end.
    pub tools: Vec<ToolDefinition>,
    /// Entries that the application adds beside the conversation.
    pub context: Vec<ContextEntry>,
    /// Data for the server.
    pub forwarded_props: Option<Value>,
    /// Answers to the interrupts of an earlier run.
    pub resume: Vec<ResumeEntry>,
    /// Members that agcore does not know.
    pub extra: Map<String, Value>,
}

impl RunAgentInput {
    /// Returns the line of versions that the client speaks.
    pub fn protocol(&self) -> Protocol {
        Protocol::of_version(self.protocol_version.as_deref())
    }

    /// Returns the last message if a user wrote it: the input of the run. A run that answers interrupts may have none.
    pub fn newest_user_message(&self) -> Option<&ThreadMessage> {
        let last = self.messages.iter().rev().find(|message| message.message().is_some())?;
        (last.message()?.role() == Role::User).then_some(last)
    }

    /// Returns the results of tools of the front end with which the conversation ends. They continue the run that has called the
    /// tools. Empty if the conversation ends with another message.
    pub fn newest_tool_results(&self) -> Vec<&ToolMessage> {
        let messages = self.messages.iter().rev().filter_map(ThreadMessage::message);
        let results = messages.map_while(|message| match message {
            Message::Tool(result) => Some(result),
            _ => None,
        });
        let mut results: Vec<_> = results.collect();
        results.reverse();
        results
    }

    /// Returns a member of the data for the server.
    pub fn forwarded(&self, name: &str) -> Option<&Value> {
        self.forwarded_props
            .as_ref()?
            .get(name)
            .filter(|value| !value.is_null())
    }
}

/// An entry that the application adds beside the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContextEntry {
    /// A description of the value.
    pub description: String,
    /// The value as text.
    pub value: String,
}

impl ContextEntry {
    /// Creates an entry.
    pub fn new(description: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            description: description.into(),
            value: value.into(),
        }
    }
}

//! [`UiChatRequest`]: the body that the default transport of `useChat` sends.

mod message;

use agcore_agui::{InputLimits, RunAgentInput, RunInputError};
use serde_json::{Map, Value, json};

use self::message::Translated;

/// The body that the default transport of `useChat` sends, translated into the input of a run.
///
/// Beside the members of the transport, the body may have `agent`, `tools`, `context` and `resume` with the meaning that AG-UI
/// gives them: set them with the option `body` of the transport.
///
/// ```
/// use agcore_agui::InputLimits;
/// use agcore_ui_stream::UiChatRequest;
///
/// let body = br#"{"id": "chat_1", "agent": "ada", "trigger": "submit-message", "messages": [
///     {"id": "m1", "role": "user", "parts": [{"type": "text", "text": "Hello"}]}
/// ]}"#;
/// let request = UiChatRequest::from_slice(body, &InputLimits::new())?;
/// assert_eq!((request.message_id(), request.replaces_history()), (Some("m1"), false));
/// let input = request.to_input("run_1", &InputLimits::new())?;
/// assert_eq!((&*input.thread_id, input.forwarded("agent").unwrap().as_str()), ("chat_1", Some("ada")));
/// # Ok::<(), agcore_agui::RunInputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct UiChatRequest {
    input: Map<String, Value>,
    message: Option<String>,
    calls: Vec<String>,
    is_reply: bool,
    has_answers: bool,
    replaces: bool,
}

impl UiChatRequest {
    /// Parses the body of a request.
    ///
    /// # Errors
    /// When the body is too large or not JSON, or a member is missing or has a wrong form. Errors about messages name them as the
    /// input of a run does.
    pub fn from_slice(body: &[u8], limits: &InputLimits) -> Result<Self, RunInputError> {
        let mut members = members_of(body, limits)?;
        let is_given = |name: &str| members.get(name).is_some_and(|value| !value.is_null());
        let is_edited = is_given("messageId");
        let is_again = members.get("trigger").and_then(Value::as_str) == Some("regenerate-message");
        let given = members.remove("resume").unwrap_or_default();
        let mut resume = given.as_array().cloned().unwrap_or_default();
        let has_answers = !resume.is_empty();
        let sent = members.remove("messages").unwrap_or_default();
        let all = sent.as_array().map(Vec::as_slice).unwrap_or_default();
        let last = all.last();
        let reply = last.filter(|last| last["role"] == "assistant");
        let parts = reply.and_then(|reply| reply["parts"].as_array()).into_iter().flatten();
        let calls = parts.filter_map(|part| part["toolCallId"].as_str());
        let calls = calls.map(str::to_owned).collect();
        let message = last.and_then(|last| last["id"].as_str()).map(str::to_owned);
        let is_reply = reply.is_some();
        let Translated { messages, answers } = message::translated(all);
        resume.extend(answers);
        let mut input = Map::new();
        input.insert("threadId".to_owned(), members.remove("id").unwrap_or_default());
        // Other values are refused where messages are read.
        let messages = if sent.is_array() { messages.into() } else { sent };
        input.insert("messages".to_owned(), messages);
        input.insert("resume".to_owned(), resume.into());
        input.insert("protocolVersion".to_owned(), agcore_agui::PROTOCOL_VERSION.into());
        for name in ["tools", "context"] {
            if let Some(value) = members.remove(name) {
                input.insert(name.to_owned(), value);
            }
        }
        if let Some(agent) = members.remove("agent") {
            input.insert("forwardedProps".to_owned(), json!({"agent": agent}));
        }
        let request = Self {
            input,
            message,
            calls,
            is_reply,
            has_answers: is_reply || has_answers,
            replaces: !is_reply && (is_again || is_edited),
        };
        // Wrong members are reported now.
        request.to_input("run", limits)?;
        Ok(request)
    }

    /// Returns the input of a run with this id.
    ///
    /// # Errors
    /// When the id has a wrong form.
    pub fn to_input(&self, run: &str, limits: &InputLimits) -> Result<RunAgentInput, RunInputError> {
        let mut input = self.input.clone();
        input.insert("runId".to_owned(), run.into());
        RunAgentInput::from_value(Value::Object(input), limits)
    }

    /// Returns the id of the last message. A run that continues the reply at the end continues its message.
    pub fn message_id(&self) -> Option<&str> {
        self.message.as_deref()
    }

    /// Returns the ids of the calls in the reply at the end, which the page shows already.
    pub fn known_calls(&self) -> &[String] {
        &self.calls
    }

    /// Returns whether the conversation ends with a reply, to whose questions or calls it has answers.
    pub fn continues_reply(&self) -> bool {
        self.is_reply
    }

    /// Returns whether the request continues a run with answers or results, and does not begin one with a message.
    pub fn has_answers(&self) -> bool {
        self.has_answers
    }

    /// Returns whether the page has changed the conversation, so that its messages replace what the server has: a message was
    /// edited, or a reply is wanted again.
    pub fn replaces_history(&self) -> bool {
        self.replaces
    }
}

/// Returns the members of a body. Errors about the body as a whole are those of the input of a run.
fn members_of(body: &[u8], limits: &InputLimits) -> Result<Map<String, Value>, RunInputError> {
    let value = match serde_json::from_slice(body) {
        Ok(value) if body.len() <= limits.max_bytes => value,
        _ => {
            RunAgentInput::from_slice(body, limits)?;
            Value::Null
        }
    };
    match value {
        Value::Object(members) => Ok(members),
        value => RunAgentInput::from_value(value, limits).map(|_| Map::new()),
    }
}

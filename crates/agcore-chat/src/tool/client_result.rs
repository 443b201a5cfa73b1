//! [`ClientResult`]: the result of a call that a client has run.

use serde_json::{Value, json};

use crate::{content::Content, tool::question::Answer};

/// The members of an answer that is a result.
const DONE: &str = "done";
const FAILED: &str = "failed";

/// The result of a call of a tool that a client has offered and run: the answer to a question of the kind
/// [`QuestionKind::Client`](crate::QuestionKind::Client).
///
/// ```
/// use agcore_chat::{Answer, ClientResult};
/// use serde_json::json;
///
/// let shown = ClientResult::text("The map is shown.");
/// assert_eq!(shown.clone().into_answer(), Answer::Value(json!({"done": "The map is shown."})));
/// assert_eq!(ClientResult::from_value(json!({"done": "The map is shown."})), shown);
/// assert_eq!(ClientResult::from_value(json!({"failed": "no map"})), ClientResult::Failed("no map".to_owned()));
/// // Any other value is the result itself.
/// assert_eq!(ClientResult::from_value(json!({"zoom": 3})), ClientResult::text(r#"{"zoom":3}"#));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum ClientResult {
    /// The call has succeeded, with this content for the model.
    Done(Content),
    /// The call has failed, with this error for the model.
    Failed(String),
}

impl ClientResult {
    /// Creates the result of a call that has succeeded.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Done(Content::Text(text.into()))
    }

    /// Reads the value of an answer: an object with `done` or `failed`, or else the result itself, which the model receives as
    /// text.
    pub fn from_value(value: Value) -> Self {
        if let Value::Object(members) = &value
            && members.len() == 1
        {
            if let Some(Value::String(message)) = members.get(FAILED) {
                return Self::Failed(message.clone());
            }
            let done = members.get(DONE).cloned();
            if let Some(content) = done.and_then(|done| serde_json::from_value(done).ok()) {
                return Self::Done(content);
            }
        }
        match value {
            Value::String(text) => Self::text(text),
            value => Self::text(value.to_string()),
        }
    }

    /// Returns the answer to the question of the call.
    pub fn into_answer(self) -> Answer {
        Answer::Value(match self {
            Self::Done(Content::Text(text)) => json!({DONE: text}),
            Self::Done(Content::Parts(parts)) => json!({DONE: parts}),
            Self::Failed(message) => json!({FAILED: message}),
        })
    }
}

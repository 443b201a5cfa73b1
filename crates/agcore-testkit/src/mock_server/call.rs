//! A tool call, in a reply that is played and in a request that was read.

use serde_json::Value;

/// A call of one of the client's tools.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolCall {
    /// The id that pairs the call with its result; empty in a reply means that the server makes one up.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments as the model wrote them: JSON text, or something broken when a test wants that.
    pub arguments: String,
}

impl ToolCall {
    /// A call with well-formed arguments and an id of the server's making.
    pub fn new(name: impl Into<String>, arguments: &Value) -> Self {
        Self::raw(name, arguments.to_string())
    }

    /// A call with any text as arguments.
    pub fn raw(name: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self {
            id: String::new(),
            name: name.into(),
            arguments: arguments.into(),
        }
    }

    /// Fixes the id.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = id.into();
        self
    }

    /// The arguments as JSON; `Null` when they do not parse.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.arguments).unwrap_or(Value::Null)
    }

    /// The string argument `name`, or `""`.
    pub fn text(&self, name: &str) -> String {
        self.json()[name].as_str().unwrap_or_default().to_owned()
    }
}

//! [`ToolCall`]: a tool call in a scripted reply or in the history of a received request.

use serde_json::Value;

/// A call of one of the client's tools.
///
/// ```
/// use agcore_testkit::mock_server::ToolCall;
/// use serde_json::json;
///
/// let call = ToolCall::new("weather", &json!({ "city": "Lisbon" })).with_id("call_1");
/// assert_eq!(call.arguments, r#"{"city":"Lisbon"}"#);
/// assert_eq!(call.argument("city"), "Lisbon");
///
/// let malformed = ToolCall::raw("weather", r#"{"city":"#);
/// assert!(malformed.json().is_null());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[must_use]
pub struct ToolCall {
    /// The id that pairs the call with its result. In a reply, an empty id makes the server generate one.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The arguments as the model wrote them: JSON text, possibly malformed on purpose.
    pub arguments: String,
}

impl ToolCall {
    /// Creates a call with well-formed arguments and a generated id.
    pub fn new(name: impl Into<String>, arguments: &Value) -> Self {
        Self::raw(name, arguments.to_string())
    }

    /// Creates a call with an arbitrary text as arguments and a generated id.
    pub fn raw(name: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self {
            id: String::new(),
            name: name.into(),
            arguments: arguments.into(),
        }
    }

    /// Sets the id.
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = id.into();
        self
    }

    /// Returns the arguments as JSON, or `Null` if they are not valid JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.arguments).unwrap_or(Value::Null)
    }

    /// Returns the string argument `name`, or `""`.
    pub fn argument(&self, name: &str) -> String {
        self.json()[name].as_str().unwrap_or_default().to_owned()
    }
}

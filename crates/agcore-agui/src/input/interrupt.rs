//! [`Interrupt`]: a question that a person must answer before a run can continue.

use agcore_chat::{Question, QuestionKind, Text};
use serde_json::{Map, Value, json};

/// A question that must be answered before a run can continue. It is answered by a [`ResumeEntry`](crate::ResumeEntry) of the
/// next run.
///
/// ```
/// use agcore_agui::Interrupt;
/// use agcore_chat::{Question, QuestionKind};
/// use serde_json::json;
///
/// let question = Question::new("call_1", 0, QuestionKind::Approval, "May mail.send run?")
///     .with_tool("mail.send")
///     .with_arguments(json!({"to": "ann@example.com"}));
/// let interrupt = Interrupt::from(&question);
/// assert_eq!((&*interrupt.id, &*interrupt.reason), ("call_1?0", "approval"));
/// assert_eq!(interrupt.tool_call_id.as_deref(), Some("call_1"));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Interrupt {
    /// The id, which is unique and does not change while the question is open.
    pub id: Text,
    /// The kind of answer that is needed: `approval`, `input`, `uncertain`, `client_tool` for a tool of the front end, or a
    /// name of the application.
    pub reason: Text,
    /// The question, for people.
    pub message: Option<String>,
    /// The tool call that waits.
    pub tool_call_id: Option<Text>,
    /// The JSON Schema of the answer.
    pub response_schema: Option<Map<String, Value>>,
    /// The end of the time in which an answer is accepted, as an RFC 3339 time.
    pub expires_at: Option<String>,
    /// Further data for the application, such as the tool and its arguments.
    pub data: Map<String, Value>,
}

impl Interrupt {
    /// Creates an interrupt.
    pub fn new(id: impl Into<Text>, reason: impl Into<Text>) -> Self {
        Self {
            id: id.into(),
            reason: reason.into(),
            message: None,
            tool_call_id: None,
            response_schema: None,
            expires_at: None,
            data: Map::new(),
        }
    }

    /// Sets the question for people.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<String>) -> Self {
        self.message = Some(message.into());
        self
    }

    /// Sets the tool call that waits.
    #[must_use]
    pub fn with_tool_call(mut self, call_id: impl Into<Text>) -> Self {
        self.tool_call_id = Some(call_id.into());
        self
    }

    /// Sets the JSON Schema of the answer.
    #[must_use]
    pub fn with_response_schema(mut self, schema: Map<String, Value>) -> Self {
        self.response_schema = Some(schema);
        self
    }

    /// Sets the end of the time in which an answer is accepted.
    #[must_use]
    pub fn with_expiry(mut self, time: impl Into<String>) -> Self {
        self.expires_at = Some(time.into());
        self
    }

    /// Adds data for the application.
    #[must_use]
    pub fn with_data(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.data.insert(name.into(), value.into());
        self
    }

    /// Returns the interrupt as it is sent.
    pub(crate) fn to_value(&self) -> Value {
        let mut members = Map::new();
        members.insert("id".to_owned(), self.id.as_str().into());
        members.insert("reason".to_owned(), self.reason.as_str().into());
        let mut optional = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                members.insert(name.to_owned(), value);
            }
        };
        optional("message", self.message.as_deref().map(Value::from));
        optional("toolCallId", self.tool_call_id.as_deref().map(Value::from));
        optional("responseSchema", self.response_schema.clone().map(Value::Object));
        optional("expiresAt", self.expires_at.as_deref().map(Value::from));
        let has_data = !self.data.is_empty();
        optional("metadata", has_data.then(|| json!({"agcore": self.data})));
        Value::Object(members)
    }
}

impl From<&Question> for Interrupt {
    fn from(question: &Question) -> Self {
        let (reason, schema) = match question.kind {
            QuestionKind::Approval => ("approval", approval_schema(true)),
            QuestionKind::Uncertain => ("uncertain", approval_schema(false)),
            QuestionKind::Client => ("client_tool", None),
            _ => ("input", question.schema.clone()),
        };
        let mut interrupt = Self::new(question.id.0.clone(), reason).with_message(question.prompt.clone());
        // A node of a flow asks without a call.
        interrupt.tool_call_id = Some(question.call_id.clone()).filter(|call| !call.is_empty());
        if let Some(Value::Object(schema)) = schema {
            interrupt.response_schema = Some(schema);
        }
        if !question.tool.is_empty() {
            interrupt = interrupt.with_data("tool_name", question.tool.as_str());
        }
        if !question.arguments.is_null() {
            interrupt = interrupt.with_data("tool_call_args", question.arguments.clone());
        }
        if !question.reason.is_empty() {
            interrupt = interrupt.with_data("rule", question.reason.clone());
        }
        if let Some(destructive) = question.annotations.destructive {
            interrupt = interrupt.with_data("destructive", destructive);
        }
        interrupt
    }
}

/// Returns the schema of the payloads that [`ResumeEntry::to_answer`](crate::ResumeEntry::to_answer) accepts.
fn approval_schema(has_arguments: bool) -> Option<Value> {
    let mut schema = json!({
        "type": "object",
        "properties": {
            "approved": {"type": "boolean"},
            "message": {"type": "string", "description": "the reason of a refusal, which is passed to the model"},
            "scope": {"enum": ["once", "session", "always"]},
        },
        "required": ["approved"],
    });
    if has_arguments {
        schema["properties"]["arguments"] =
            json!({"type": "object", "description": "replaces the arguments of the call"});
    }
    Some(schema)
}

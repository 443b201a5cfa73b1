//! [`ResponsesRequest`]: the body of `POST /v1/responses`.

use agcore_chat::{ToolCall, ToolDefinition};
use serde_json::{Map, Value};

use super::{
    chat::metadata,
    content,
    conversation::{Collector, Conversation},
    fields::{Fields, is_nothing},
    limits::RequestLimits,
    tools::{Form, tools},
};
use crate::{error::ApiError, ids::ResponseId};

/// The body of `POST /v1/responses`.
///
/// ```
/// use agcore_openai::{RequestLimits, ResponseId, ResponsesRequest};
///
/// let id = ResponseId::new("thread_1", "run_1");
/// let body = format!(r#"{{"model": "ada", "input": "And then?", "previous_response_id": "{}"}}"#, id.encode());
/// let request = ResponsesRequest::from_slice(body.as_bytes(), &RequestLimits::new())?;
/// assert_eq!(request.previous, Some(id));
/// # Ok::<(), agcore_openai::ApiError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ResponsesRequest {
    /// The name of the agent. A response that continues another one needs none.
    pub model: Option<String>,
    /// The items.
    pub conversation: Conversation,
    /// The response that this one continues.
    pub previous: Option<ResponseId>,
    /// The tools that the client offers.
    pub tools: Vec<ToolDefinition>,
    /// Whether the answer is a stream.
    pub stream: bool,
    /// Whether the client does not wait for the answer, and asks for it later.
    pub background: bool,
    /// Data of the client.
    pub metadata: Map<String, Value>,
}

/// Members that would change the answer, and why they are refused.
const REFUSED: &[(&str, &str)] = &[
    ("top_logprobs", "an agent reports no probabilities of tokens"),
    ("max_tool_calls", "the agent's settings limit its calls"),
    ("prompt", "the agent has its own instructions"),
    ("conversation", "send `previous_response_id` instead"),
];

impl ResponsesRequest {
    /// Parses the body of a request.
    ///
    /// # Errors
    /// When the body is too large or not JSON, a member has a wrong form or exceeds a limit, or an agent cannot honour it. A
    /// `previous_response_id` of another form is a 404, like one that does not exist.
    pub fn from_slice(body: &[u8], limits: &RequestLimits) -> Result<Self, ApiError> {
        let mut fields = Fields::of_body(body, limits)?;
        let model = fields.optional_text("model")?;
        for (name, reason) in REFUSED {
            fields.refuse(name, reason, is_nothing)?;
        }
        if let Some(mut text) = fields.object("text")? {
            let reason = "the agent decides about the form of its answer; only `text` can be asked for";
            text.refuse("format", reason, |value| value["type"] == "text")?;
        }
        let wants_logprobs = |value: &Value| !value.to_string().contains("logprobs");
        fields.refuse("include", "an agent reports no probabilities of tokens", wants_logprobs)?;
        let previous = match fields.optional_text("previous_response_id")? {
            None => None,
            Some(id) => Some(ResponseId::decode(&id).ok_or_else(unknown_previous)?),
        };
        if model.is_none() && previous.is_none() {
            return Err(fields.invalid("model", "is missing; it must be the name of an agent"));
        }
        let mut collector = Collector::default();
        if let Some(text) = fields.optional_text("instructions")? {
            collector.instructions(text, "instructions", limits)?;
        }
        match fields.take("input") {
            Some(Value::String(text)) => collector.user(text.into()),
            Some(items @ Value::Array(_)) => {
                let mut input = Fields::of(Value::Object(Map::from_iter([("input".to_owned(), items)])), "")?;
                for (index, value) in input.array("input", limits.max_messages)?.into_iter().enumerate() {
                    item(value, &format!("input[{index}]"), &mut collector, limits)?;
                }
            }
            _ => return Err(fields.invalid("input", "must be a text or an array of items")),
        }
        Ok(Self {
            model,
            conversation: collector.finish("input")?,
            previous,
            tools: tools(&mut fields, Form::Flat, limits)?,
            stream: fields.flag("stream")?.unwrap_or(false),
            background: fields.flag("background")?.unwrap_or(false),
            metadata: metadata(&mut fields)?,
        })
    }
}

fn unknown_previous() -> ApiError {
    ApiError::new(404, "not_found", "there is no such response; check its id").with_param("previous_response_id")
}

fn item(value: Value, path: &str, collector: &mut Collector, limits: &RequestLimits) -> Result<(), ApiError> {
    let mut fields = Fields::of(value, path)?;
    let kind = fields.optional_text("type")?;
    match kind.as_deref() {
        None | Some("message") => return message(fields, collector, limits),
        // The agent's model is not the one that has thought this.
        Some("reasoning") => {}
        Some("function_call") => {
            let (id, name) = (fields.text("call_id")?, fields.text("name")?);
            let arguments = fields.optional_text("arguments")?;
            let call = ToolCall::function(id, name, arguments.unwrap_or_else(|| "{}".to_owned()));
            collector.reply(String::new(), vec![call]);
        }
        Some("function_call_output") => {
            let (call, path) = (fields.text("call_id")?, fields.path("output"));
            let output = fields.take("output");
            let output = output.ok_or_else(|| fields.invalid("output", "is missing"))?;
            collector.result(call, content::content(output, &path)?);
        }
        Some(_) => {
            let reason = "items are messages, calls of functions and their results";
            return Err(ApiError::unsupported(&fields.path("type"), reason));
        }
    }
    Ok(())
}

fn message(mut fields: Fields, collector: &mut Collector, limits: &RequestLimits) -> Result<(), ApiError> {
    let role = fields.text("role")?;
    let path = fields.path("content");
    let value = fields.take("content");
    let value = value.ok_or_else(|| fields.invalid("content", "is missing"))?;
    match role.as_str() {
        "user" => collector.user(content::content(value, &path)?),
        "assistant" => collector.reply(content::text(value, &path)?, Vec::new()),
        "system" | "developer" => collector.instructions(content::text(value, &path)?, &path, limits)?,
        _ => return Err(fields.invalid("role", "must be user, assistant, system or developer")),
    }
    Ok(())
}

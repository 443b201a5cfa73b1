//! [`ChatCompletionRequest`]: the body of `POST /v1/chat/completions`.

use agcore_chat::{ToolCall, ToolDefinition};
use serde_json::{Map, Value};

use super::{
    content,
    conversation::{Collector, Conversation},
    fields::{Fields, is_nothing},
    limits::RequestLimits,
    tools::{Form, tools},
};
use crate::error::ApiError;

/// The body of `POST /v1/chat/completions`.
///
/// What an agent cannot honour is refused, unless it is only a wish, such as `temperature`, which the agent's own settings replace.
///
/// ```
/// use agcore_openai::{ChatCompletionRequest, Ending, RequestLimits};
///
/// let body = br#"{"model": "ada", "messages": [{"role": "user", "content": "Hello"}], "temperature": 0.2}"#;
/// let request = ChatCompletionRequest::from_slice(body, &RequestLimits::new())?;
/// assert_eq!(request.model, "ada");
/// let Ending::Message(message) = request.conversation.end else { panic!() };
/// assert_eq!(message.text(), "Hello");
///
/// let body = br#"{"model": "ada", "messages": [{"role": "user", "content": "Hello"}], "n": 2}"#;
/// let error = ChatCompletionRequest::from_slice(body, &RequestLimits::new()).unwrap_err();
/// assert_eq!((error.code(), error.param()), ("unsupported_parameter", Some("n")));
/// # Ok::<(), agcore_openai::ApiError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ChatCompletionRequest {
    /// The name of the agent.
    pub model: String,
    /// The messages.
    pub conversation: Conversation,
    /// The tools that the client offers.
    pub tools: Vec<ToolDefinition>,
    /// Whether the answer is a stream.
    pub stream: bool,
    /// Whether the stream ends with the usage.
    pub include_usage: bool,
    /// Data of the client.
    pub metadata: Map<String, Value>,
}

/// Members that would change the answer, and why they are refused.
const REFUSED: &[(&str, &str)] = &[
    ("logprobs", "an agent reports no probabilities of tokens"),
    ("top_logprobs", "an agent reports no probabilities of tokens"),
    ("logit_bias", "the agent's settings decide how its model samples"),
    (
        "stop",
        "an agent may ask its model several times, so that no text can end all of them",
    ),
    ("audio", "an agent answers with text"),
    ("functions", "send `tools` instead"),
    ("function_call", "send `tools` instead"),
    ("web_search_options", "the agent has its own tools"),
];

impl ChatCompletionRequest {
    /// Parses the body of a request.
    ///
    /// # Errors
    /// When the body is too large or not JSON, a member has a wrong form or exceeds a limit, or an agent cannot honour it.
    pub fn from_slice(body: &[u8], limits: &RequestLimits) -> Result<Self, ApiError> {
        let mut fields = Fields::of_body(body, limits)?;
        let model = fields.text("model")?;
        for (name, reason) in REFUSED {
            fields.refuse(name, reason, is_nothing)?;
        }
        fields.refuse("n", "an agent gives one answer", |value| *value == 1)?;
        let is_text = |value: &Value| value.as_array().is_some_and(|all| all.iter().all(|one| *one == "text"));
        fields.refuse("modalities", "an agent answers with text", is_text)?;
        let is_plain = |value: &Value| value["type"] == "text";
        let reason = "the agent decides about the form of its answer; only `text` can be asked for";
        fields.refuse("response_format", reason, is_plain)?;
        let mut options = fields.object("stream_options")?;
        let include_usage = match &mut options {
            Some(options) => options.flag("include_usage")?.unwrap_or(false),
            None => false,
        };
        let mut collector = Collector::default();
        let messages = fields.array("messages", limits.max_messages)?;
        for (index, value) in messages.into_iter().enumerate() {
            message(value, &format!("messages[{index}]"), &mut collector, limits)?;
        }
        Ok(Self {
            model,
            conversation: collector.finish("messages")?,
            tools: tools(&mut fields, Form::Nested, limits)?,
            stream: fields.flag("stream")?.unwrap_or(false),
            include_usage,
            metadata: metadata(&mut fields)?,
        })
    }
}

/// Reads the data of a client.
pub(super) fn metadata(fields: &mut Fields) -> Result<Map<String, Value>, ApiError> {
    match fields.take("metadata") {
        None => Ok(Map::new()),
        Some(Value::Object(members)) if members.len() <= 16 && members.iter().all(is_short) => Ok(members),
        Some(_) => {
            let rule = "must be an object of at most 16 texts of at most 512 bytes, with names of at most 64 bytes";
            Err(fields.invalid("metadata", rule))
        }
    }
}

fn is_short((name, value): (&String, &Value)) -> bool {
    name.len() <= 64 && value.as_str().is_some_and(|text| text.len() <= 512)
}

fn message(value: Value, path: &str, collector: &mut Collector, limits: &RequestLimits) -> Result<(), ApiError> {
    let mut fields = Fields::of(value, path)?;
    let role = fields.text("role")?;
    let content_path = fields.path("content");
    let content = fields.take("content");
    let missing = || ApiError::invalid(content_path.as_str(), "is missing");
    match role.as_str() {
        "system" | "developer" => {
            let text = content::text(content.ok_or_else(missing)?, &content_path)?;
            collector.instructions(text, &content_path, limits)?;
        }
        "user" => collector.user(content::content(content.ok_or_else(missing)?, &content_path)?),
        "assistant" => {
            let text = content
                .map(|content| content::text(content, &content_path))
                .transpose()?;
            let refusal = fields.optional_text("refusal")?;
            fields.refuse("function_call", "send `tool_calls` instead", is_nothing)?;
            collector.reply(text.or(refusal).unwrap_or_default(), calls(&mut fields, limits)?);
        }
        "tool" => {
            let call = fields.text("tool_call_id")?;
            collector.result(call, content::content(content.ok_or_else(missing)?, &content_path)?);
        }
        _ => return Err(fields.invalid("role", "must be user, assistant, tool, system or developer")),
    }
    Ok(())
}

fn calls(fields: &mut Fields, limits: &RequestLimits) -> Result<Vec<ToolCall>, ApiError> {
    let path = fields.path("tool_calls");
    let calls = fields.array("tool_calls", limits.max_messages)?.into_iter().enumerate();
    let calls = calls.map(|(index, value)| {
        let mut call = Fields::of(value, format!("{path}[{index}]"))?;
        let id = call.text("id")?;
        let function = call.object("function")?;
        let mut function = function.ok_or_else(|| call.invalid("function", "is missing; it must be an object"))?;
        let name = function.text("name")?;
        let arguments = function.optional_text("arguments")?;
        Ok(ToolCall::function(
            id,
            name,
            arguments.unwrap_or_else(|| "{}".to_owned()),
        ))
    });
    calls.collect()
}

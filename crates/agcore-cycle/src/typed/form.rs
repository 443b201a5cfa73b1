//! [`Form`]: adds typed output to a request, and checks the replies.

use std::{borrow::Cow, fmt, sync::Arc};

use agcore_chat::{
    AssistantMessage, ChatRequest, Content, ContentPart, JsonSchemaFormat, Message, ResponseFormat, SchemaCheck,
    SchemaViolation, Tool, ToolCall, ToolChoice, ToolDefinition,
};
use agcore_llm::{Capabilities, LlmError, LlmErrorKind, wire::failure::is_format_with_tools_refused};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{
    extract,
    mode::OutputMode,
    output::Output,
    read,
    recorded::RecordedAnswers,
    schema::{self, WRAPPED},
};

/// The number of violations that are reported to the model at most.
const MAX_VIOLATIONS: usize = 8;

/// The names by which servers refer to the parts of a request that a mode uses, when they refuse one.
const REQUEST_PARTS: &[&str] = &[
    "response_format",
    "json_schema",
    "schema",
    "output_config",
    "text.format",
    "tool_choice",
];

/// The members of a request that a mode uses, as the encoder names them when it refuses one.
const REQUEST_MEMBERS: &[&str] = &["response_format", "strict", "tools", "tool_choice"];

/// Typed output without its Rust type, as the driver needs it.
#[derive(Clone)]
pub struct Form {
    pub(crate) mode: Option<OutputMode>,
    pub(crate) max_repairs: u32,
    name: String,
    /// The schema of the type.
    schema: Value,
    /// The schema with an object at its root.
    root: Value,
    /// Whether that object wraps the value.
    is_wrapped: bool,
    strict: Option<bool>,
    check: Option<Arc<dyn SchemaCheck>>,
    recorded: Option<Arc<dyn RecordedAnswers>>,
    /// The instructions for the model in the prompt mode.
    instruction: String,
    /// Checks that a value at this path can be deserialized, and returns it in the form that can.
    fit: for<'v> fn(&'v Value, &str) -> Result<Cow<'v, Value>, SchemaViolation>,
}

/// The way a request asks for the output.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ask<'a> {
    pub(crate) mode: OutputMode,
    /// The name of the answering tool.
    pub(crate) tool: &'a str,
    pub(crate) capabilities: &'a Capabilities,
    /// Whether only the answering tool may still be called.
    pub(crate) must_answer: bool,
}

impl Form {
    pub(crate) fn new<T: DeserializeOwned>(output: Output<T>) -> Self {
        let Output {
            schema,
            options,
            recorded,
            ..
        } = output;
        let is_wrapped = !schema::is_object(&schema);
        let root = if is_wrapped {
            schema::wrapped(schema.clone())
        } else {
            schema.clone()
        };
        let instruction = format!(
            "Your final answer must be one JSON object that matches this JSON Schema, without any other text:\n{root}"
        );
        Self {
            instruction,
            mode: options.mode,
            max_repairs: options.max_repairs,
            name: schema::valid_name(options.name.as_deref().unwrap_or_default()),
            schema,
            root,
            is_wrapped,
            strict: options.strict,
            check: options.check,
            recorded,
            fit: read::fit::<T>,
        }
    }

    /// Returns the longest text that any way of asking adds to a request.
    pub(crate) fn instruction(&self) -> &str {
        &self.instruction
    }

    /// Returns what was recorded, in a replay.
    pub(crate) fn recorded(&self) -> Option<&dyn RecordedAnswers> {
        self.recorded.as_deref()
    }

    /// Returns whether an error means that the mode is not supported: the encoder knows what the vendor accepts, and servers
    /// mention the part of the request in their message.
    pub(crate) fn is_refused_by(error: &LlmError) -> bool {
        if error.kind() != LlmErrorKind::InvalidRequest {
            return false;
        }
        if let Some(unsupported) = error.unsupported() {
            return REQUEST_MEMBERS.contains(&unsupported.name());
        }
        let mentions = |text: &str| REQUEST_PARTS.iter().any(|part| text.contains(part));
        mentions(error.message()) || error.body_excerpt().is_some_and(mentions) || is_format_with_tools_refused(error)
    }

    /// Adds the output to an otherwise complete request.
    pub(crate) fn ask(&self, ask: Ask<'_>, request: &mut ChatRequest) {
        request.response_format = None;
        match ask.mode {
            OutputMode::Native => request.response_format = Some(self.format()),
            OutputMode::Tool => self.offer(ask, request),
            OutputMode::Prompt => {
                instruct(&mut request.messages, &self.instruction);
                // Several vendors reject a response format next to tools.
                if ask.capabilities.json_object && request.tools.is_empty() {
                    request.response_format = Some(ResponseFormat::JsonObject);
                }
            }
        }
    }

    /// Returns the response format of the native mode.
    fn format(&self) -> ResponseFormat {
        let strict = match self.strict {
            Some(false) => None,
            _ => schema::strict_form(&self.root),
        };
        // If the caller insists on a schema that cannot be forced, the vendor reports the error.
        let is_strict = self.strict.unwrap_or(strict.is_some());
        ResponseFormat::JsonSchema(JsonSchemaFormat {
            name: self.name.clone(),
            schema: Some(strict.unwrap_or_else(|| self.root.clone())),
            strict: Some(is_strict),
            ..JsonSchemaFormat::default()
        })
    }

    /// Adds the answering tool.
    fn offer(&self, ask: Ask<'_>, request: &mut ChatRequest) {
        let description = "Returns the final answer. Call it once, on its own, when you know everything the answer needs; \
                           its arguments are the answer.";
        let strict = match self.strict {
            Some(true) => schema::strict_form(&self.root),
            _ => None,
        };
        let mut tool = ToolDefinition::new(ask.tool, description, strict.unwrap_or_else(|| self.root.clone()));
        tool.strict = self.strict.filter(|strict| *strict);
        let is_alone = request.tools.is_empty();
        request.tools = request.tools.iter().cloned().chain([Tool::from(tool)]).collect();
        // Vendors do not allow a forced tool together with reasoning.
        let is_reasoning = request
            .reasoning_effort
            .as_deref()
            .is_some_and(|effort| effort != "none");
        if !is_reasoning {
            request.tool_choice = answering_choice(ask, is_alone);
        }
    }

    /// Returns the value of a reply, or its violations.
    pub(crate) fn check(
        &self,
        reply: &AssistantMessage,
        call: Option<&ToolCall>,
        is_cut: bool,
    ) -> Result<Value, Vec<SchemaViolation>> {
        if let Some(recorded) = &self.recorded {
            return recorded.verdict().map(|()| Value::Null);
        }
        if is_cut {
            let message = "the answer was cut off at the token limit and is incomplete; give a shorter one";
            return Err(vec![SchemaViolation::new("$", message)]);
        }
        let text = match call {
            Some(call) => Cow::Borrowed(call.raw_input()),
            None => reply.text(),
        };
        let values = extract::values(&text).map_err(|violation| vec![violation])?;
        let mut first = None;
        for value in values {
            match self.check_value(value) {
                Ok(value) => return Ok(value),
                Err(violations) => first = first.or(Some(violations)),
            }
        }
        Err(first.unwrap_or_default())
    }

    /// Returns the value without the wrapping object if it fits the type.
    fn check_value(&self, value: Value) -> Result<Value, Vec<SchemaViolation>> {
        let (value, path) = self.unwrap(value);
        let (changed, mut violations) = match (self.fit)(&value, path) {
            Ok(Cow::Owned(fitting)) => (Some(fitting), Vec::new()),
            Ok(Cow::Borrowed(_)) => (None, Vec::new()),
            Err(violation) => (None, vec![violation]),
        };
        let checked = self.check.as_ref().map(|check| check.check(&self.schema, &value));
        for violation in checked.and_then(Result::err).unwrap_or_default() {
            let below = violation.path.strip_prefix('$').unwrap_or(&violation.path);
            let at = format!("{path}{below}");
            if violations.iter().all(|known| known.path != at) {
                violations.push(SchemaViolation::new(at, violation.message));
            }
        }
        violations.truncate(MAX_VIOLATIONS);
        if violations.is_empty() {
            Ok(changed.unwrap_or(value))
        } else {
            Err(violations)
        }
    }

    /// Returns the value inside the wrapping object, and its path. A value that the model did not wrap is accepted, too.
    fn unwrap(&self, value: Value) -> (Value, &'static str) {
        match value {
            Value::Object(mut members) if self.is_wrapped && members.len() == 1 && members.contains_key(WRAPPED) => {
                (members.shift_remove(WRAPPED).unwrap_or_default(), "$.value")
            }
            value => (value, "$"),
        }
    }

    /// Returns a partial value without the wrapping object, or `None` if the value has not started yet.
    pub(crate) fn unwrap_partial(&self, part: Value) -> Option<Value> {
        match part {
            Value::Object(members) if self.is_wrapped && members.is_empty() => None,
            part => Some(self.unwrap(part).0),
        }
    }
}

/// Returns the choice that makes the model call the answering tool, or any tool if it has others, if the API can
/// express it. Otherwise, only the description of the tool asks for the call.
fn answering_choice(ask: Ask<'_>, is_alone: bool) -> Option<ToolChoice> {
    let named = || ToolChoice::Function(ask.tool.to_owned());
    match ask.capabilities {
        can if can.named_tool_choice && (is_alone || ask.must_answer) => Some(named()),
        can if can.required_tool_choice => Some(ToolChoice::Required),
        _ => None,
    }
}

impl fmt::Debug for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Form").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Appends to the last leading instruction, because many models accept only one such message.
fn instruct(messages: &mut Vec<Arc<Message>>, instruction: &str) {
    let leading = messages.iter().take_while(|message| message.is_instruction()).count();
    let last = leading.checked_sub(1).and_then(|last| messages.get_mut(last));
    let Some(last) = last else {
        messages.insert(0, Arc::new(Message::system(instruction)));
        return;
    };
    match Arc::make_mut(last).content_mut() {
        Some(Content::Text(text)) => {
            text.push_str("\n\n");
            text.push_str(instruction);
        }
        Some(Content::Parts(parts)) => parts.push(ContentPart::text(format!("\n\n{instruction}"))),
        None => {}
    }
}

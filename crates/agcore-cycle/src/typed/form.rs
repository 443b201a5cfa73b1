//! [`Form`]: asking for typed output in a request, and judging what comes.

use std::{borrow::Cow, fmt, sync::Arc};

use agcore_chat::{
    AssistantMessage, ChatRequest, Content, ContentPart, JsonSchemaFormat, Message, ResponseFormat, SchemaCheck,
    SchemaViolation, Tool, ToolCall, ToolChoice, ToolDefinition, ToolExecutor,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{
    extract,
    mode::OutputMode,
    output::Output,
    read,
    schema::{self, WRAPPED},
};
use agcore_llm::{Capabilities, LlmError, LlmErrorKind, LlmProvider};

use crate::machine::Expectation;

/// The name of the tool that carries answers, unless one of the user's tools has it.
const ANSWERING_TOOL: &str = "final_answer";

/// Faults that a model is told at most.
const FAULTS: usize = 8;

/// What servers call the parts of a request that a mode is made of, in their refusals.
const PARTS: &[&str] = &[
    "response_format",
    "json_schema",
    "schema",
    "output_config",
    "text.format",
    "tool_choice",
];

/// Typed output as the driver needs it, whatever the type.
#[derive(Clone)]
pub struct Form {
    pub(crate) mode: Option<OutputMode>,
    pub(crate) max_repairs: u32,
    name: String,
    /// The type's schema.
    schema: Value,
    /// The schema with an object at its root.
    root: Value,
    /// Whether that object stands around the value.
    is_wrapped: bool,
    strict: Option<bool>,
    check: Option<Arc<dyn SchemaCheck>>,
    /// What the model is told in its instructions.
    instruction: String,
    fits: fn(&Value, &str) -> Result<(), SchemaViolation>,
}

/// How a request asks for the output.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ask<'a> {
    pub(crate) mode: OutputMode,
    /// The name of the answering tool.
    pub(crate) tool: &'a str,
    pub(crate) capabilities: &'a Capabilities,
}

impl Form {
    pub(crate) fn new<T: DeserializeOwned>(output: Output<T>) -> Self {
        let Output { schema, options, .. } = output;
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
            name: schema::name(options.name.as_deref().unwrap_or_default()),
            schema,
            root,
            is_wrapped,
            strict: options.strict,
            check: options.check,
            fits: |value, path| read::read::<T>(value, path).map(drop),
        }
    }

    /// Returns what a turn with these tools asks of its answer.
    pub(crate) fn expectation(
        &self,
        provider: &dyn LlmProvider,
        tools: Option<&Arc<dyn ToolExecutor>>,
    ) -> Expectation {
        let mode = self
            .mode
            .unwrap_or_else(|| OutputMode::of(&provider.info().capabilities));
        let tools = tools.map(|tools| tools.definitions()).unwrap_or_default();
        let is_taken = |name: &str| tools.iter().any(|tool| tool.name() == name);
        let numbered = (2..).map(|number: u32| format!("{ANSWERING_TOOL}_{number}"));
        let mut names = std::iter::once(ANSWERING_TOOL.to_owned()).chain(numbered);
        let tool = names.find(|name| !is_taken(name)).unwrap_or_default();
        Expectation::new(mode, tool, self.max_repairs)
    }

    /// Returns the longest text that any way of asking adds to a request.
    pub(crate) fn instruction(&self) -> &str {
        &self.instruction
    }

    /// Whether an error is a refusal of this way of asking: by our own wire, which knows what the vendor takes, or by the
    /// server in words that name it.
    pub(crate) fn is_refused_by(error: &LlmError) -> bool {
        let told = |text: &str| PARTS.iter().any(|part| text.contains(part));
        *error.kind() == LlmErrorKind::InvalidRequest
            && (error.status().is_none() || told(error.message()) || error.body_excerpt().is_some_and(told))
    }

    /// Asks for the output in a request that has all else.
    pub(crate) fn ask(&self, ask: Ask<'_>, request: &mut ChatRequest) {
        request.response_format = None;
        match ask.mode {
            OutputMode::Native => request.response_format = Some(self.format()),
            OutputMode::Tool => self.offer(ask.tool, request),
            OutputMode::Prompt => {
                instruct(&mut request.messages, &self.instruction);
                // Next to tools, several vendors take no form.
                if ask.capabilities.json_object && request.tools.is_empty() {
                    request.response_format = Some(ResponseFormat::JsonObject);
                }
            }
        }
    }

    fn format(&self) -> ResponseFormat {
        let strict = match self.strict {
            Some(false) => None,
            _ => schema::strict_form(&self.root),
        };
        // Who insists on force gets the vendor's own words where it cannot be.
        let is_strict = self.strict.unwrap_or(strict.is_some());
        ResponseFormat::JsonSchema(JsonSchemaFormat {
            name: self.name.clone(),
            schema: Some(strict.unwrap_or_else(|| self.root.clone())),
            strict: Some(is_strict),
            ..JsonSchemaFormat::default()
        })
    }

    fn offer(&self, name: &str, request: &mut ChatRequest) {
        let description = "Gives the final answer. Call it once, alone, when you know everything that the answer needs; \
                           its arguments are the answer.";
        let strict = match self.strict {
            Some(true) => schema::strict_form(&self.root),
            _ => None,
        };
        let mut tool = ToolDefinition::new(name, description, strict.unwrap_or_else(|| self.root.clone()));
        tool.strict = self.strict.filter(|strict| *strict);
        let is_alone = request.tools.is_empty();
        request.tools = request.tools.iter().cloned().chain([Tool::from(tool)]).collect();
        // Models that think do not let their tools be forced.
        let thinks = request
            .reasoning_effort
            .as_deref()
            .is_some_and(|effort| effort != "none");
        if !thinks {
            let choice = if is_alone {
                ToolChoice::Function(name.to_owned())
            } else {
                ToolChoice::Required
            };
            request.tool_choice = Some(choice);
        }
    }

    /// The value of a reply, or what is wrong with it.
    pub(crate) fn judge(
        &self,
        reply: &AssistantMessage,
        call: Option<&ToolCall>,
        is_cut: bool,
    ) -> Result<Value, Vec<SchemaViolation>> {
        if is_cut {
            let words = "the answer was cut at the token limit, so it is not whole; give a shorter one";
            return Err(vec![SchemaViolation::new("$", words)]);
        }
        let text = match call {
            Some(call) => Cow::Borrowed(call.raw_input()),
            None => reply.text(),
        };
        let values = extract::values(&text).map_err(|fault| vec![fault])?;
        let mut first = None;
        for value in values {
            match self.fit(value) {
                Ok(value) => return Ok(value),
                Err(faults) => first = first.or(Some(faults)),
            }
        }
        Err(first.unwrap_or_default())
    }

    /// The value as the type wants it, when it fits.
    fn fit(&self, value: Value) -> Result<Value, Vec<SchemaViolation>> {
        let (value, path) = self.unwrapped(value);
        let mut faults: Vec<SchemaViolation> = (self.fits)(&value, path).err().into_iter().collect();
        if let Some(Err(more)) = self.check.as_ref().map(|check| check.check(&self.schema, &value)) {
            for fault in more {
                let below = fault.path.strip_prefix('$').unwrap_or(&fault.path);
                let at = format!("{path}{below}");
                if faults.iter().all(|known| known.path != at) {
                    faults.push(SchemaViolation::new(at, fault.message));
                }
            }
        }
        faults.truncate(FAULTS);
        if faults.is_empty() { Ok(value) } else { Err(faults) }
    }

    /// What stands in the object around a value, and its path. Models that leave the object out are understood.
    pub(crate) fn unwrapped(&self, value: Value) -> (Value, &'static str) {
        match value {
            Value::Object(mut members) if self.is_wrapped && members.len() == 1 && members.contains_key(WRAPPED) => {
                (members.shift_remove(WRAPPED).unwrap_or_default(), "$.value")
            }
            value => (value, "$"),
        }
    }

    /// A value that is not whole yet, without what stands around it; none where there is nothing of it.
    pub(crate) fn unwrapped_part(&self, part: Value) -> Option<Value> {
        match part {
            Value::Object(members) if self.is_wrapped && members.is_empty() => None,
            part => Some(self.unwrapped(part).0),
        }
    }
}

impl fmt::Debug for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Form").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Adds to the last of the leading instructions: many models take one such message only.
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

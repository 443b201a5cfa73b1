//! The questions that calls ask: for an approval, and for the input of a tool.

use std::fmt::Write as _;

use agcore_chat::{
    Question, QuestionId, QuestionKind, ToolCall,
    text::{prefix, visible},
};
use serde_json::Value;

use super::{admission::AdmissionRequest, start::SavedCall};
use crate::{
    arguments::Arguments,
    output::InputRequest,
    registry::RegisteredTool,
    schema::{CompiledSchema, Validation},
};

/// The longest text of all arguments in the prompt of a question that is not shortened, in bytes.
const PROMPT_BYTES: usize = 2000;
/// The longest part of one argument that is shown if the arguments are shortened, in bytes.
const MEMBER_BYTES: usize = 200;
/// The number of arguments that are shown if the arguments are shortened.
const MEMBERS: usize = 40;

/// Creates the question whether a call may run. The state comes from the call as it is now.
pub(super) fn approval_question(request: &AdmissionRequest<'_>, arguments: &Arguments, reason: String) -> Question {
    let AdmissionRequest {
        tool,
        context,
        call,
        next_question,
        ..
    } = *request;
    let agent = context.agent().map(|agent| format!(" of the agent {}", visible(agent)));
    let prompt = format!(
        "May {}{} run with {}? ({})",
        visible(tool.name()),
        agent.unwrap_or_default(),
        shown(arguments),
        visible(&reason)
    );
    let saved = SavedCall::new(next_question, call, arguments.clone(), false, Value::Null);
    Question::new(context.call_id().clone(), next_question, QuestionKind::Approval, prompt)
        .with_tool(tool.name().clone())
        .with_arguments(arguments.as_value().clone())
        .with_annotations(tool.annotations().clone())
        .with_reason(reason)
        .with_state(saved.into_state())
}

/// A call that waits for input.
pub(super) struct InputCall<'a> {
    pub(super) call: &'a ToolCall,
    pub(super) tool: &'a RegisteredTool,
    pub(super) arguments: Arguments,
    /// Whether a person has approved the call.
    pub(super) approved: bool,
    /// The number of the question.
    pub(super) number: u32,
}

/// Creates the question of a tool that waits for input.
pub(super) fn input_question(call: InputCall<'_>, request: InputRequest) -> Question {
    let InputCall {
        call,
        tool,
        arguments,
        approved,
        number,
    } = call;
    let InputRequest {
        prompt,
        schema,
        context,
        question,
        kind,
    } = request;
    if let Some(inner) = question {
        let saved = SavedCall::new(number, call, arguments, approved, context);
        return forwarded_question(call, number, *inner, saved);
    }
    let reason = match kind {
        QuestionKind::Client => "the client has offered the tool, and runs it",
        _ => "the tool needs it to continue",
    };
    let mut question = Question::new(call.id.as_str(), number, kind, prompt)
        .with_tool(tool.name().clone())
        .with_arguments(arguments.as_value().clone())
        .with_annotations(tool.annotations().clone())
        .with_reason(reason);
    question.schema = schema;
    question.with_state(SavedCall::new(number, call, arguments, approved, context).into_state())
}

/// Creates the question of a tool that passes on the question of a call that it runs itself.
fn forwarded_question(call: &ToolCall, number: u32, inner: Question, saved: SavedCall) -> Question {
    let state = saved.forwarding(&inner).into_state();
    let mut question = inner.with_state(state);
    question.id = QuestionId(format!("{}?{number}", call.id).into());
    question.call_id = call.id.as_str().into();
    question
}

/// Returns the question again, with a new number, if the answer does not match its schema.
pub(super) fn ask_again(question: &Question, value: &Value, number: u32) -> Option<Question> {
    // A schema that is invalid cannot be enforced: any answer is accepted.
    let violations = CompiledSchema::new(question.schema.as_ref()?, Validation::Usual)
        .ok()?
        .check(value)
        .err()?;
    let list = violations
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join("; ");
    let mut again = question.clone();
    again.id = QuestionId(format!("{}?{number}", question.call_id).into());
    again.prompt = format!(
        "{}\n(The previous answer did not have the required form: {list})",
        question.prompt
    );
    if let Some(state) = again.state.as_object_mut() {
        state.insert("number".to_owned(), number.into());
    }
    Some(again)
}

/// Returns the arguments as text for a person. Of long arguments, the start of each is shown and how much is left out, so
/// that a long argument does not hide the others.
fn shown(arguments: &Arguments) -> String {
    let whole = arguments.as_value().to_string();
    if whole.len() <= PROMPT_BYTES {
        return visible(&whole).into_owned();
    }
    let mut text = String::from("{");
    for (index, (name, value)) in arguments.iter().take(MEMBERS).enumerate() {
        let separator = if index == 0 { "" } else { "," };
        // Writing to a String cannot fail.
        let _ = write!(
            text,
            "{separator}{}:{}",
            shortened(&Value::from(name.as_str()).to_string()),
            shortened(&value.to_string())
        );
    }
    if let Some(hidden) = arguments.len().checked_sub(MEMBERS).filter(|hidden| *hidden > 0) {
        let _ = write!(text, ", … [{hidden} more arguments]");
    }
    text + "} [shortened]"
}

fn shortened(text: &str) -> String {
    if text.len() <= MEMBER_BYTES {
        return visible(text).into_owned();
    }
    let start = prefix(text, MEMBER_BYTES);
    format!("{}… [{} more bytes]", visible(start), text.len() - start.len())
}

//! Results that the machine itself assigns to calls: those that cannot run, did not run, or are too long.

use std::fmt::Write as _;

use agcore_chat::{
    Answer, AssistantMessage, CallInput, Content, ContentPart, Fault, FaultKind, FinishReason, Marks, Message, Origin,
    SchemaViolation, TextPart, ToolCall, ToolResult, UserMessage, text::prefix,
};
use serde_json::Value;

use super::{
    end::LimitKind,
    outcome::limits::{Limits, RoundLimit},
};

/// For a call that never started.
pub(super) const NOT_RUN: &str = "This call was not run: the turn ended before it started.";
/// For a call that never started because the budget is exhausted.
pub(super) const NO_BUDGET: &str = "This call was not run: the budget for tools is exhausted.";
/// For a call next to the answer of a typed turn.
pub(super) const ANSWERED: &str = "This call was not run: the answer was given in the same reply.";
/// For a second answer of a typed turn.
pub(super) const ONE_ANSWER: &str = "This answer was ignored: give one answer only.";
/// For a call that started and whose outcome is unknown.
pub(crate) const OUTCOME_UNKNOWN: &str =
    "The outcome of this call is unknown: it was interrupted while it ran. It may or may not have taken effect.";

/// The reason why no call of a reply may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The reply was cut off, and the calls with it.
    Truncated(&'static str),
    /// A limit was reached.
    Limit(LimitKind),
}

impl Refusal {
    /// Returns the message for the model.
    pub(super) fn message(&self) -> &'static str {
        match self {
            Self::Truncated(message) => message,
            Self::Limit(LimitKind::ToolTurns) => "This call was not run: no rounds of tools are left.",
            Self::Limit(LimitKind::Budget(_)) => NO_BUDGET,
        }
    }
}

/// Returns the reason why no call of a reply may run, if there is one. `wraps_up` is the limit that made the model wrap up, if
/// one did.
pub(super) fn refusal(
    finish: Option<&FinishReason>,
    wraps_up: Option<LimitKind>,
    round: u32,
    limits: &Limits,
) -> Option<Refusal> {
    if let Some(limit) = wraps_up {
        return Some(Refusal::Limit(limit));
    }
    if limits.at_round_limit == RoundLimit::Fail && round >= limits.max_tool_turns {
        return Some(Refusal::Limit(LimitKind::ToolTurns));
    }
    match finish {
        Some(FinishReason::Length) => Some(Refusal::Truncated(
            "This call was not run: the reply was cut off at the token limit, so its arguments may be incomplete. Call again \
             with shorter arguments.",
        )),
        Some(FinishReason::ContentFilter) => Some(Refusal::Truncated(
            "This call was not run: the reply was cut off by a content filter.",
        )),
        _ => None,
    }
}

/// Returns the result for a call whose arguments are not a JSON object. Such a call never reaches a tool.
pub(super) fn unreadable(call: &ToolCall) -> Option<ToolResult> {
    if matches!(call.input, CallInput::Text(_)) {
        return None;
    }
    call.check_arguments()
        .err()
        .map(|error| ToolResult::error(error.to_string()))
}

/// Returns the result for a call whose outcome is unknown, with the reply of the person who was asked about it.
pub(super) fn unknown_outcome(answer: &Answer) -> ToolResult {
    let reply = match answer {
        Answer::Deny { message, .. } => message.clone(),
        Answer::Value(Value::String(text)) => text.clone(),
        Answer::Value(value) => value.to_string(),
        _ => String::new(),
    };
    if reply.is_empty() {
        ToolResult::error(OUTCOME_UNKNOWN)
    } else {
        ToolResult::error(format!("{OUTCOME_UNKNOWN}\nThe person who was asked replied: {reply}"))
    }
}

/// Truncates the text of a result to `limit` bytes at a character boundary, including a note of the original size.
///
/// Executors of agcore-tools keep this limit themselves; this is the guard for all others.
pub(super) fn truncate(mut result: ToolResult, limit: usize) -> ToolResult {
    let size: usize = match &result.content {
        Content::Text(text) => text.len(),
        Content::Parts(parts) => parts.iter().filter_map(ContentPart::as_text).map(str::len).sum(),
    };
    if size <= limit {
        return result;
    }
    let mut note = format!("\n[cut: this is the beginning of {size} bytes]");
    note.truncate(limit);
    let mut available = limit - note.len();
    match &mut result.content {
        Content::Text(text) => truncate_text(text, &mut available),
        Content::Parts(parts) => {
            for part in parts.iter_mut() {
                if let ContentPart::Text(TextPart { text, .. }) = part {
                    truncate_text(text, &mut available);
                }
            }
            parts.retain(|part| part.as_text() != Some(""));
        }
    }
    match &mut result.content {
        Content::Text(text) => text.push_str(&note),
        Content::Parts(parts) => parts.push(ContentPart::text(note)),
    }
    result
}

fn truncate_text(text: &mut String, available: &mut usize) {
    text.truncate(prefix(text, *available).len());
    *available -= text.len();
}

/// Returns the message that asks the model to answer now. `answering` is the only tool that is left, in a typed turn.
pub(super) fn wrap_up_note(answering: Option<&str>) -> Message {
    hint(match answering {
        None => {
            "No more tools can be called in this turn. Answer now with what you have found so far, and state what is \
                 missing."
                .to_owned()
        }
        Some(tool) => format!(
            "No more tools except `{tool}` can be called in this turn. Call it now, with what you have found so far."
        ),
    })
}

/// Returns the text that asks the model to correct an answer that does not fit. `answering` is the tool that carries it.
pub(super) fn repair_hint(violations: &[SchemaViolation], answering: Option<&str>) -> String {
    let mut text = "The answer does not fit the schema:".to_owned();
    for violation in violations {
        // Writing to a String cannot fail.
        let _ = write!(text, "\n- {violation}");
    }
    match answering {
        None => text.push_str("\nSend the whole corrected answer again, as JSON and nothing else."),
        Some(tool) => {
            let _ = write!(text, "\nCall `{tool}` again with the whole corrected answer.");
        }
    }
    text
}

/// Returns a note of the machine to the model.
pub(super) fn hint(text: String) -> Message {
    Message::User(UserMessage {
        content: text.into(),
        marks: Marks::new().with_origin(Origin::Hint),
        ..UserMessage::default()
    })
}

/// Returns the fault if a reply can never be an answer.
pub(super) fn declined(message: &AssistantMessage, finish: Option<&FinishReason>) -> Option<Fault> {
    let message = if finish == Some(&FinishReason::ContentFilter) {
        "the model's answer was cut off by a content filter, so there is no value; rephrase the request"
    } else if message.refusal_text().is_some() {
        "the model refused to answer, so there is no value; its explanation is the last message of the history"
    } else {
        return None;
    };
    Some(Fault::new(FaultKind::ContentFilter, message))
}

/// Returns the fault for a last answer that does not fit. It contains only paths, because messages may quote the model.
pub(super) fn rejected_answer(repairs: u32, violations: &[SchemaViolation]) -> Fault {
    let paths: Vec<&str> = violations.iter().map(|violation| violation.path.as_str()).collect();
    let message = format!(
        "the model's answer does not fit its schema (at {}), and {repairs} repairs did not help; allow more repairs, simplify \
         the type, or use another model",
        paths.join(", ")
    );
    Fault::new(FaultKind::Malformed, message)
}

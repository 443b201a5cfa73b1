//! Results that the machine itself gives a call: what cannot run, what did not run, what is too long.

use std::fmt::Write as _;

use agcore_chat::{
    Answer, Content, ContentPart, FinishReason, Marks, Message, Origin, SchemaViolation, TextPart, ToolCall,
    ToolResult, UserMessage, text::floor_char_boundary,
};
use serde_json::Value;

use super::{
    end::LimitKind,
    limits::{Limits, RoundLimit},
};

/// The call never began.
pub(super) const NOT_RUN: &str = "This call was not run: the turn ended before it began.";
/// The call never began, for want of budget.
pub(super) const NO_BUDGET: &str = "This call was not run: the budget for tools is spent.";
/// The call stood beside the answer of a typed turn.
pub(super) const ANSWERED: &str = "This call was not run: the answer was given in the same reply.";
/// The call gave a second answer of a typed turn.
pub(super) const ONE_ANSWER: &str = "This answer was not looked at: give one answer only.";
/// The call began and nobody knows how it ended.
pub(super) const OUTCOME_UNKNOWN: &str =
    "The outcome of this call is not known: it was interrupted while it ran. It may or may not have taken effect.";

/// Why none of a reply's calls may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The reply was cut, and the calls with it.
    Cut(&'static str),
    /// There are no rounds left.
    Limit(LimitKind),
}

impl Refusal {
    /// For the model.
    pub(super) fn message(&self) -> &'static str {
        match self {
            Self::Cut(message) => message,
            Self::Limit(LimitKind::ToolTurns) => "This call was not run: no rounds of tools are left.",
            Self::Limit(LimitKind::Budget(_)) => NO_BUDGET,
        }
    }
}

/// Whether none of a reply's calls may run. `wraps_up` is the limit for which the model was asked to wrap up.
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
        Some(FinishReason::Length) => Some(Refusal::Cut(
            "This call was not run: the reply was cut at the token limit, so its arguments may be incomplete. Call again \
             with shorter arguments.",
        )),
        Some(FinishReason::ContentFilter) => Some(Refusal::Cut(
            "This call was not run: the reply was cut by a content filter.",
        )),
        _ => None,
    }
}

/// What the model is told of a call whose arguments are not JSON; such a call never reaches a tool.
pub(super) fn unreadable(call: &ToolCall) -> Option<ToolResult> {
    if matches!(call.input, agcore_chat::CallInput::Text(_)) {
        return None;
    }
    call.check_arguments()
        .err()
        .map(|error| ToolResult::error(error.to_string()))
}

/// The result of a call whose fate is not known, together with what the person who was asked about it says.
pub(super) fn told_unknown(answer: &Answer) -> ToolResult {
    let words = match answer {
        Answer::Deny { message } => message.clone(),
        Answer::Value(Value::String(text)) => text.clone(),
        Answer::Value(value) => value.to_string(),
        _ => String::new(),
    };
    let lead = if words.is_empty() {
        ""
    } else {
        "\nThe person who was asked says: "
    };
    ToolResult::error(format!("{OUTCOME_UNKNOWN}{lead}{words}"))
}

/// Cuts a result's text to `limit` bytes, note included, on a character boundary.
pub(super) fn cut(mut result: ToolResult, limit: usize) -> ToolResult {
    let size: usize = match &result.content {
        Content::Text(text) => text.len(),
        Content::Parts(parts) => parts.iter().filter_map(ContentPart::as_text).map(str::len).sum(),
    };
    if size <= limit {
        return result;
    }
    let mut note = format!("\n[cut: this is the beginning of {size} bytes]");
    note.truncate(limit);
    let mut left = limit - note.len();
    match &mut result.content {
        Content::Text(text) => cut_text(text, &mut left),
        Content::Parts(parts) => {
            for part in parts.iter_mut() {
                if let ContentPart::Text(TextPart { text, .. }) = part {
                    cut_text(text, &mut left);
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

fn cut_text(text: &mut String, left: &mut usize) {
    text.truncate(floor_char_boundary(text, *left));
    *left -= text.len();
}

/// What the model is told when it must answer now.
///
/// `answering` is the one tool that is left, in a typed turn.
pub(super) fn wrap_up_note(answering: Option<&str>) -> Message {
    hint(match answering {
        None => {
            "No more tools can be called in this turn. Answer now with what you have found so far, and say what is \
                 missing."
                .to_owned()
        }
        Some(tool) => format!(
            "No more tools can be called in this turn but `{tool}`. Call it now, with what you have found so far."
        ),
    })
}

/// What the model is told of an answer that does not fit. `answering` is the tool that carries it.
pub(super) fn repair_hint(faults: &[SchemaViolation], answering: Option<&str>) -> String {
    let mut text = "The answer does not fit the schema:".to_owned();
    for fault in faults {
        // Writing to a String cannot fail.
        let _ = write!(text, "\n- {fault}");
    }
    match answering {
        None => text.push_str("\nGive the whole answer again, mended, as JSON and nothing else."),
        Some(tool) => {
            let _ = write!(text, "\nCall `{tool}` again with the whole answer, mended.");
        }
    }
    text
}

/// A note of the machine's own to the model.
pub(super) fn hint(text: String) -> Message {
    Message::User(UserMessage {
        content: text.into(),
        marks: Marks::new().with_origin(Origin::Hint),
        ..UserMessage::default()
    })
}

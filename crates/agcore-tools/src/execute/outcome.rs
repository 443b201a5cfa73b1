//! [`Outcomes`]: translates ended calls into outcomes for the agent loop.

use std::borrow::Cow;

use agcore_chat::{
    Content, Fault, ToolOutcome, ToolResult,
    text::{clip, prefix},
};
use serde_json::Value;

use super::{
    engine::{CallEnd, Settlement},
    question::{InputCall, input_question},
};
use crate::{
    error::{ToolError, ToolErrorKind},
    output::{OutputBody, ToolOutput, text_of},
    session::{Refusal, ToolSession},
};

/// Translates ended calls into outcomes. See [`RegistryExecutor`](crate::RegistryExecutor) for the table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outcomes {
    /// The longest text of an error, in bytes. That of other results is limited by a layer.
    pub(crate) max_result_bytes: usize,
}

impl Outcomes {
    /// Translates a call that belongs to a batch.
    pub(crate) fn translate(&self, session: &ToolSession, batch: u64, settlement: Settlement) -> ToolOutcome {
        let Settlement {
            name,
            call,
            arguments,
            end,
            ..
        } = settlement;
        match end {
            CallEnd::Question(question) => ToolOutcome::Ask(question),
            CallEnd::Guarded(outcome) => *outcome,
            // Whatever its kind, the error of a tool is not a verdict of the executor about the call.
            CallEnd::Failed(error) => self.error(&error),
            CallEnd::Refused(error) => {
                let refusal = match error.kind() {
                    ToolErrorKind::NotFound => Some(Refusal::NotFound(&name)),
                    ToolErrorKind::PermissionDenied if error.is_denied_by_person() => {
                        return self.error(&error);
                    }
                    ToolErrorKind::PermissionDenied => Some(Refusal::Denied(&name, &arguments)),
                    _ => None,
                };
                match refusal {
                    Some(refusal) if session.is_repeated(refusal, batch) => ToolOutcome::Fatal(repeated_call(&error)),
                    Some(_) => self.error(&error),
                    None if error.is_for_model() => self.error(&error),
                    None => ToolOutcome::Fatal(error.fault()),
                }
            }
            CallEnd::Output {
                output,
                tool,
                approved,
                next_question,
            } => match output.body {
                OutputBody::AwaitingInput(request) => {
                    let call = InputCall {
                        call: &call,
                        tool: &tool,
                        arguments,
                        approved,
                        number: next_question,
                    };
                    ToolOutcome::ask(input_question(call, *request))
                }
                OutputBody::Divert { content, data } => ToolOutcome::Divert { content, data: *data },
                _ => ToolOutcome::Done(result(output)),
            },
        }
    }

    fn error(&self, error: &ToolError) -> ToolOutcome {
        ToolOutcome::error(bounded(error.model_text(), self.max_result_bytes))
    }
}

/// Shortens a text to `max_bytes`, including the ellipsis.
fn bounded(text: Cow<'_, str>, max_bytes: usize) -> String {
    if text.len() <= max_bytes {
        return text.into_owned();
    }
    let clipped = clip(&text, max_bytes.saturating_sub('…'.len_utf8()));
    // For a limit that is smaller than the ellipsis itself.
    prefix(&clipped, max_bytes).to_owned()
}

fn repeated_call(error: &ToolError) -> Fault {
    let mut fault = error.fault();
    fault
        .message
        .push_str(" (the model was informed, and repeated the call)");
    fault
}

/// Splits an output into the result for the model and, beside it, the data for observers.
fn result(output: ToolOutput) -> ToolResult {
    let (content, structured) = match output.body {
        OutputBody::Rich { content, structured } => (content, structured),
        OutputBody::Value(value) => (Content::Text(text_of(value)), None),
        _ => (Content::default(), None),
    };
    let members = [
        ("structured", structured),
        ("ui_hints", output.ui_hints),
        ("metadata", output.metadata),
    ];
    let result = ToolResult::new(content);
    if members.iter().all(|(_, value)| value.is_none()) {
        return result;
    }
    let display = members
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), *value?)));
    result.with_display(Value::Object(display.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_error_exceeds_the_limit() {
        let check = |text: &str, max_bytes: usize, expected: &str| {
            assert_eq!(bounded(Cow::Borrowed(text), max_bytes), expected, "{text} {max_bytes}");
        };
        check("disk full", 9, "disk full");
        check("disk full", 8, "disk …");
        check("éé", 3, "…");
        check("disk full", 2, "");
        check("", 0, "");
    }
}

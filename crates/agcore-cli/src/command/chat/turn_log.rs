//! [`TurnLog`]: what the chat remembers of turns, besides the conversation itself.

use std::time::Duration;

use agcore::{
    StreamEvent,
    chat::{EventKind, ModelEvent, TextEvent, ToolEvent, TurnEvent, Usage, UsageTracker},
};
use serde_json::Value;

use crate::render::{sanitized, sanitized_line};

/// Remembers parts of the latest turn.
#[derive(Debug, Default)]
pub(super) struct TurnLog {
    /// The text of the answer that is not complete.
    partial: String,
    /// The last tool call of all turns.
    last_call: Option<FinishedCall>,
    /// The tokens of the last call of the model.
    pub(super) call: Option<Usage>,
    /// The tokens of the last turn.
    pub(super) turn: UsageTracker,
}

/// A tool call with its result.
#[derive(Debug)]
struct FinishedCall {
    name: String,
    input: String,
    output: String,
    is_error: bool,
    duration: Duration,
}

impl TurnLog {
    /// Starts a turn.
    pub(super) fn start(&mut self) {
        self.partial.clear();
        self.turn = UsageTracker::default();
    }

    /// Records an event of the turn.
    pub(super) fn record(&mut self, event: &StreamEvent) {
        match &event.kind {
            EventKind::Text(TextEvent::Text(text)) => self.partial.push_str(text),
            EventKind::Text(TextEvent::MessageComplete(_)) | EventKind::Model(ModelEvent::StreamRestarted { .. }) => {
                self.partial.clear();
            }
            EventKind::Model(ModelEvent::Usage(usage)) => {
                self.turn.record(Some(usage));
                self.call = Some((**usage).clone());
            }
            EventKind::Turn(TurnEvent::Complete { usage }) => self.turn = (**usage).clone(),
            EventKind::Tool(ToolEvent::Completed {
                name,
                input,
                output,
                is_error,
                duration,
                ..
            }) => {
                self.last_call = Some(FinishedCall {
                    name: name.to_string(),
                    input: input.to_string(),
                    output: output.to_string(),
                    is_error: *is_error,
                    duration: *duration,
                });
            }
            _ => {}
        }
    }

    /// Takes the text of an answer that was not completed.
    pub(super) fn take_partial(&mut self) -> String {
        std::mem::take(&mut self.partial)
    }

    /// Returns the last tool call with all of its arguments and its result, or `None` if there was none.
    pub(super) fn last_call(&self) -> Option<String> {
        let call = self.last_call.as_ref()?;
        let input = match serde_json::from_str::<Value>(&call.input) {
            Ok(input) => format!("{input:#}"),
            Err(_) => call.input.clone(),
        };
        let sign = if call.is_error { '✗' } else { '✓' };
        let (name, seconds) = (sanitized_line(&call.name), call.duration.as_secs_f64());
        let (input, output) = (sanitized(&input), sanitized(call.output.trim_end()));
        Some(format!("{sign} {name}, {seconds:.1} s\n{input}\n\n{output}\n"))
    }
}

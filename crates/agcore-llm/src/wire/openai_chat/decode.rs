//! [`ChatReader`]: the events and whole replies of the Chat Completions API to deltas.

mod call;
mod chunk;
mod content;
pub(super) mod details;
mod finish;
mod message;
mod said;
mod state;
mod usage;

use std::borrow::Cow;

use self::{chunk::Summary, state::State};
use crate::{
    delta::ReplyDelta,
    error::{LlmError, LlmErrorKind},
    wire::{
        event_reply::{Event, EventReader, WholeFault},
        failure::FailureReader,
        text_template::TextPlace,
    },
};

/// So many deltas most whole replies tell.
const WHOLE: usize = 8;

/// Reads one reply of the Chat Completions API.
#[derive(Debug)]
pub(super) struct ChatReader {
    state: State,
    is_done: bool,
}

impl ChatReader {
    /// A reader that keeps what the vendor wants back under the name `vendor`.
    pub(super) fn new(vendor: Cow<'static, str>) -> Self {
        Self {
            state: State::new(vendor),
            is_done: false,
        }
    }
}

impl EventReader for ChatReader {
    const REPLY: &'static str = "chat completion";

    fn event(
        &mut self,
        event: &Event<'_>,
        failure: &FailureReader,
        out: &mut Vec<ReplyDelta>,
    ) -> Result<Option<TextPlace>, LlmError> {
        let data = event.data;
        if data == b"[DONE]" {
            self.is_done = true;
            self.state.finish_all(out);
            return Ok(None);
        }
        if event.name == b"error" {
            return Err(failure.read(data));
        }
        if let Some(error) = listed_error(failure, data) {
            return Err(error);
        }
        let begin = out.len();
        match chunk::read(data, &mut self.state, out) {
            Ok(summary) => match failed(failure, data, &summary) {
                Some(error) => Err(error),
                None => Ok(summary
                    .only_text
                    .and_then(|address| TextPlace::of(address, &out[begin..]))),
            },
            Err(error) => {
                out.truncate(begin);
                // The stream ended within this event: the cut is the fault, not the JSON.
                if event.unterminated {
                    return Ok(None);
                }
                let message = format!("an event of the stream is no chunk of a chat completion: {error}");
                Err(failure.malformed(message, data))
            }
        }
    }

    /// The same reader as for a chunk, and what a whole reply must hold.
    fn whole(&mut self, body: &[u8], failure: &FailureReader, out: &mut Vec<ReplyDelta>) -> Result<(), WholeFault> {
        if let Some(error) = listed_error(failure, body) {
            return Err(error.into());
        }
        self.state.read_whole();
        out.reserve(WHOLE);
        let summary = chunk::read(body, &mut self.state, out).map_err(WholeFault::Unreadable)?;
        if let Some(error) = failed(failure, body, &summary) {
            self.state.flush(out);
            return Err(error.into());
        }
        if !summary.has_choices {
            let message = "the reply is JSON, but no answer: it has no choices";
            return Err(failure.malformed(message.into(), body).into());
        }
        self.state.finish_all(out);
        Ok(())
    }

    fn flush(&mut self, out: &mut Vec<ReplyDelta>) {
        self.state.flush(out);
    }

    fn is_finished(&self) -> bool {
        self.state.is_finished()
    }

    fn is_done(&self) -> bool {
        self.is_done
    }
}

/// The error in a list of one, as Gemini tells it.
fn listed_error(failure: &FailureReader, data: &[u8]) -> Option<LlmError> {
    if !data.trim_ascii_start().starts_with(b"[") {
        return None;
    }
    let items: Vec<serde_json::Value> = serde_json::from_slice(data).ok()?;
    items.first()?.is_object().then(|| failure.read(data))
}

/// The failure that a chunk or a whole reply tells.
fn failed(failure: &FailureReader, data: &[u8], summary: &Summary) -> Option<LlmError> {
    if let Some(error) = &summary.error {
        let only_error = serde_json::to_vec(&serde_json::json!({ "error": error })).unwrap_or_default();
        // What stands beside the error may say more, but beside choices it is the answer.
        return Some(failure.read(if summary.has_choices { &only_error } else { data }));
    }
    if summary.is_flat_error {
        return Some(failure.read(data));
    }
    let message = "the server ended the answer with the finish reason `error`";
    summary
        .finished_with_error
        .then(|| failure.note(LlmError::new(LlmErrorKind::Server, message)))
}

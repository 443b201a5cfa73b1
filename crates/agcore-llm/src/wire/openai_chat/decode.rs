//! [`ChatReader`]: the events and whole replies of the Chat Completions API to deltas.

mod call;
mod choice;
mod chunk;
mod content;
pub(super) mod details;
mod finish;
mod message;
mod said;
mod spoken;
mod state;
mod surrogates;
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

    fn read(&mut self, data: &[u8], out: &mut Vec<ReplyDelta>) -> serde_json::Result<Summary> {
        let begin = out.len();
        chunk::read(data, &mut self.state, out).or_else(|error| {
            let Some(mended) = surrogates::mended(data) else {
                return Err(error);
            };
            out.truncate(begin);
            let mut summary = chunk::read(&mended, &mut self.state, out)?;
            // It stands in what was mended.
            summary.only_text = None;
            Ok(summary)
        })
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
        let data = match split_done(event.data) {
            (rest, false) => rest,
            (rest, true) => {
                // The blank line before the marker was lost.
                if !rest.is_empty() {
                    let event = Event { data: rest, ..*event };
                    self.event(&event, failure, out)?;
                }
                self.is_done = true;
                self.state.finish_all(out);
                return Ok(None);
            }
        };
        if event.name == b"error" {
            return Err(failure.read(data));
        }
        if let Some(error) = listed_error(failure, data) {
            return Err(error);
        }
        let begin = out.len();
        match self.read(data, out) {
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

    fn heard(&mut self, told: &ReplyDelta) {
        self.state.remember(std::slice::from_ref(told));
    }

    /// The same reader as for a chunk, and what a whole reply must hold.
    fn whole(&mut self, body: &[u8], failure: &FailureReader, out: &mut Vec<ReplyDelta>) -> Result<(), WholeFault> {
        if let Some(error) = listed_error(failure, body) {
            return Err(error.into());
        }
        self.state.read_whole();
        out.reserve(WHOLE);
        let summary = self.read(body, out).map_err(WholeFault::Unreadable)?;
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

/// What stands before the terminal marker, and whether it is there; some write it as they like.
fn split_done(data: &[u8]) -> (&[u8], bool) {
    let begin = memchr::memrchr(b'\n', data).map_or(0, |at| at + 1);
    let (rest, word) = (&data[..begin], data[begin..].trim_ascii());
    let quoted = word.strip_prefix(b"\"").and_then(|word| word.strip_suffix(b"\""));
    if quoted.unwrap_or(word).eq_ignore_ascii_case(b"[DONE]") {
        (rest.trim_ascii(), true)
    } else {
        (data, false)
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
    if summary.is_error || (!summary.has_list && is_flat_error(data)) {
        return Some(failure.read(data));
    }
    let message = "the server ended the answer with the finish reason `error`";
    summary
        .finished_with_error
        .then(|| failure.note(LlmError::new(LlmErrorKind::Server, message)))
}

/// Whether the object is an error without a member of that name.
fn is_flat_error(data: &[u8]) -> bool {
    serde_json::from_slice(data).is_ok_and(|members| FailureReader::is_flat_error(&members))
}

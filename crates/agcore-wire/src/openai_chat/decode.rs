//! [`ChatReader`]: decodes the events and whole replies of the Chat Completions API.

mod call;
mod choice;
mod content;
mod emitted_text;
mod event;
mod finish;
mod member;
mod message;
pub(super) mod reasoning_details;
mod state;
mod surrogates;
mod usage;

use std::borrow::Cow;

use self::{event::Summary, state::State};
use crate::{
    decode::{
        is_error_list,
        reply_decoder::{Event, EventReader, WholeReplyError, no_answer},
        text_template::TextRange,
    },
    delta::ReplyDelta,
    error::{LlmError, LlmErrorKind},
    failure::FailureReader,
};

/// The typical number of deltas in a whole reply.
const WHOLE_REPLY_DELTAS: usize = 8;

/// A reader for one reply of the Chat Completions API.
#[derive(Debug)]
pub(super) struct ChatReader {
    state: State,
    is_done: bool,
}

impl ChatReader {
    /// Creates a reader that marks vendor data with this vendor's name, and remembers the members in which reasoning arrived
    /// if it must be sent back there.
    pub(super) fn new(vendor: Cow<'static, str>, remembers_members: bool) -> Self {
        Self {
            state: State::new(vendor, remembers_members),
            is_done: false,
        }
    }

    /// Reads a chunk or whole reply. Also returns its text if it contains nothing else.
    fn read<'de>(
        &mut self,
        data: &'de [u8],
        out: &mut Vec<ReplyDelta>,
    ) -> serde_json::Result<(Summary, Option<&'de str>)> {
        let begin = out.len();
        event::read(data, &mut self.state, out).or_else(|error| {
            let Some(repaired) = surrogates::replace_unpaired(data) else {
                return Err(error);
            };
            out.truncate(begin);
            let (summary, _) = event::read(&repaired, &mut self.state, out)?;
            Ok((summary, None))
        })
    }
}

impl EventReader for ChatReader {
    const REPLY: &'static str = "chat completion";

    fn read_event(
        &mut self,
        event: &Event<'_>,
        failure: &FailureReader,
        out: &mut Vec<ReplyDelta>,
    ) -> Result<Option<TextRange>, LlmError> {
        let data = match split_done(event.data) {
            (rest, false) => rest,
            (rest, true) => {
                // The blank line in front of the marker is missing.
                if !rest.is_empty() {
                    let event = Event { data: rest, ..*event };
                    self.read_event(&event, failure, out)?;
                }
                if !self.state.has_choices() {
                    return Err(no_answer(failure));
                }
                self.is_done = true;
                self.state.finish_all(out);
                return Ok(None);
            }
        };
        if event.name == b"error" || is_error_list(data) {
            return Err(failure.read(data));
        }
        let begin = out.len();
        match self.read(data, out) {
            Ok((summary, only_text)) => match reported_error(failure, data, &summary) {
                // OpenRouter reports the limit of tokens as a finish reason, and again as an error.
                Some(error) if self.state.ended_in_length() && is_output_limit(&error) => Ok(None),
                Some(error) => Err(error),
                None => Ok(only_text.and_then(|text| TextRange::new(data, text, &out[begin..]))),
            },
            Err(error) => {
                out.truncate(begin);
                // The stream ended in this event, which is a problem of the connection and not of the JSON.
                if event.unterminated {
                    return Ok(None);
                }
                let message = format!("an event of the stream is not a valid chat completion chunk: {error}");
                Err(failure.malformed(message, data))
            }
        }
    }

    fn observe(&mut self, delta: &ReplyDelta) {
        self.state.remember_text(std::slice::from_ref(delta));
    }

    /// Reads a whole reply with the code for a chunk, and then checks that it is complete.
    fn read_whole(
        &mut self,
        body: &[u8],
        failure: &FailureReader,
        out: &mut Vec<ReplyDelta>,
    ) -> Result<(), WholeReplyError> {
        if is_error_list(body) {
            return Err(failure.read(body).into());
        }
        self.state.set_whole();
        out.reserve(WHOLE_REPLY_DELTAS);
        let (summary, _) = self.read(body, out).map_err(WholeReplyError::Unreadable)?;
        if let Some(error) = reported_error(failure, body, &summary) {
            self.state.flush(out);
            return Err(error.into());
        }
        if !summary.has_choices {
            let message = "the reply is JSON, but not a chat completion: it has no `choices`";
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

/// Returns the data in front of the terminal marker, and whether there is one. Its spelling varies.
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

/// Returns the error that a chunk or a whole reply reports.
fn reported_error(failure: &FailureReader, data: &[u8], summary: &Summary) -> Option<LlmError> {
    if let Some(error) = &summary.error {
        let only_error = serde_json::to_vec(&serde_json::json!({ "error": error })).unwrap_or_default();
        // Members next to the error may contain details, unless they are the reply.
        return Some(failure.read(if summary.has_choices { &only_error } else { data }));
    }
    if summary.is_error || (!summary.has_list && is_flat_error(data)) {
        return Some(failure.read(data));
    }
    let message = "the server ended the reply with the finish reason `error`";
    summary
        .finished_with_error
        .then(|| failure.annotate(LlmError::new(LlmErrorKind::Server, message)))
}

/// Returns whether an error only repeats that the reply reached its token limit.
fn is_output_limit(error: &LlmError) -> bool {
    error.message().to_ascii_lowercase().contains("token limit reached")
}

/// Returns whether the object is an error although it has no member `error`.
fn is_flat_error(data: &[u8]) -> bool {
    serde_json::from_slice(data).is_ok_and(|members| FailureReader::is_flat_error(&members))
}

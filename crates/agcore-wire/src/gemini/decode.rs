//! [`ReplyReader`]: decodes the chunks and whole replies of the API.

mod usage;
mod members;
mod call;
mod partial_args;
mod message;
mod finish;
mod choice;
mod state;
mod event;

use std::borrow::Cow;

use serde_json::value::RawValue;

use self::{event::Summary, state::State};
use crate::{
    decode::{
        reply_decoder::{Event, EventReader, WholeReplyError},
        text_template::TextRange,
    },
    delta::ReplyDelta,
    error::{LlmError, LlmErrorKind},
    failure::FailureReader,
};

/// Reads one reply.
#[derive(Debug)]
pub(super) struct ReplyReader {
    state: State,
}

impl ReplyReader {
    /// Creates a reader for one reply. Vendor data of the reply is stored under the name `vendor`.
    pub(super) fn new(vendor: Cow<'static, str>) -> Self {
        Self {
            state: State::new(vendor),
        }
    }

    /// Reads a list of chunks: what the API sends if no event stream is requested, and an error in a list of its own.
    fn read_list(&mut self, body: &[u8], failure: &FailureReader, out: &mut Vec<ReplyDelta>) -> Result<(), ListError> {
        let chunks: Vec<&RawValue> = serde_json::from_slice(body)?;
        for chunk in chunks {
            let chunk = chunk.get().as_bytes();
            let summary = event::read(chunk, &mut self.state, out)?;
            if let Some(error) = reported_error(failure, chunk, &summary) {
                return Err(ListError::Failed(Box::new(error)));
            }
        }
        Ok(())
    }

    /// Reads a whole reply that is a list of chunks.
    fn read_whole_list(
        &mut self,
        body: &[u8],
        failure: &FailureReader,
        out: &mut Vec<ReplyDelta>,
    ) -> Result<(), WholeReplyError> {
        match self.read_list(body, failure, out) {
            Ok(()) if self.state.is_finished() => return Ok(self.state.complete(false, failure, out)?),
            Ok(()) => {}
            Err(ListError::Unreadable(error)) => return Err(WholeReplyError::Unreadable(error)),
            Err(ListError::Failed(error)) => {
                self.state.flush(out);
                return Err((*error).into());
            }
        }
        self.state.flush(out);
        if self.state.is_started() {
            let message = "the reply ended without a finish reason";
            return Err(failure.annotate(LlmError::new(LlmErrorKind::Truncated, message)).into());
        }
        let message = "the reply is JSON, but not a Gemini reply: it is a list without `candidates`";
        Err(failure.malformed(message.into(), body).into())
    }
}

/// The reason a list of chunks cannot be read.
enum ListError {
    Unreadable(serde_json::Error),
    Failed(Box<LlmError>),
}

impl From<serde_json::Error> for ListError {
    fn from(error: serde_json::Error) -> Self {
        Self::Unreadable(error)
    }
}

impl EventReader for ReplyReader {
    const REPLY: &'static str = "Gemini reply";
    const BARE_JSON: bool = true;

    fn read_event(
        &mut self,
        event: &Event<'_>,
        failure: &FailureReader,
        out: &mut Vec<ReplyDelta>,
    ) -> Result<Option<TextRange>, LlmError> {
        // The API has no end marker. Some gateways add that of another API.
        if event.data == b"[DONE]" {
            return Ok(None);
        }
        if event.name == b"error" {
            return Err(failure.read(event.data));
        }
        let begin = out.len();
        let read = if event.data.starts_with(b"[") {
            self.read_list(event.data, failure, out).map(|()| Summary::default())
        } else {
            event::read(event.data, &mut self.state, out).map_err(ListError::Unreadable)
        };
        match read {
            Ok(summary) => match reported_error(failure, event.data, &summary) {
                Some(error) => Err(error),
                None => Ok(summary
                    .only_text
                    .and_then(|text| TextRange::new(event.data, text, &out[begin..]))),
            },
            Err(ListError::Failed(error)) => Err(*error),
            Err(ListError::Unreadable(error)) => {
                out.truncate(begin);
                // The stream ended within this event, so report the truncation instead of invalid JSON.
                if event.unterminated {
                    return Ok(None);
                }
                let message = format!("an event of the stream is not a valid chunk of a Gemini reply: {error}");
                Err(failure.malformed(message, event.data))
            }
        }
    }

    fn complete(&mut self, failure: &FailureReader, out: &mut Vec<ReplyDelta>) -> Result<(), LlmError> {
        self.state.complete(false, failure, out)
    }

    /// Reads a whole reply with the code for a chunk, and then ends it.
    fn read_whole(
        &mut self,
        body: &[u8],
        failure: &FailureReader,
        out: &mut Vec<ReplyDelta>,
    ) -> Result<(), WholeReplyError> {
        if body.trim_ascii_start().starts_with(b"[") {
            return self.read_whole_list(body, failure, out);
        }
        let summary = event::read(body, &mut self.state, out).map_err(WholeReplyError::Unreadable)?;
        if let Some(error) = reported_error(failure, body, &summary) {
            self.state.flush(out);
            return Err(error.into());
        }
        if !summary.is_reply {
            let message = "the reply is JSON, but not a Gemini reply: it has no `candidates`";
            return Err(failure.malformed(message.into(), body).into());
        }
        Ok(self.state.complete(true, failure, out)?)
    }

    fn flush(&mut self, out: &mut Vec<ReplyDelta>) {
        self.state.flush(out);
    }

    fn is_finished(&self) -> bool {
        self.state.is_finished()
    }

    fn is_done(&self) -> bool {
        false
    }
}

/// Returns the error that a chunk or a whole reply reports.
fn reported_error(failure: &FailureReader, data: &[u8], summary: &Summary<'_>) -> Option<LlmError> {
    if let Some(error) = &summary.error {
        let only_error = serde_json::to_vec(&serde_json::json!({ "error": error })).unwrap_or_default();
        // Members next to the error may contain details, unless they are the reply.
        return Some(failure.read(if summary.has_candidates { &only_error } else { data }));
    }
    if let Some(fault) = &summary.fault {
        return Some(failure.malformed(format!("the reply is not a valid Gemini reply: {fault}"), data));
    }
    (!summary.is_reply && is_flat_error(data)).then(|| failure.read(data))
}

/// Returns whether the object is an error although it has no member `error`.
fn is_flat_error(data: &[u8]) -> bool {
    serde_json::from_slice(data).is_ok_and(|members| FailureReader::is_flat_error(&members))
}

//! [`Lines`]: reads a reply line by line.

use super::{
    event::{self, LineKind},
    state::State,
};
use crate::{
    decode::{MAX_REPLY_BYTES, is_error_list, reply_decoder::no_answer},
    delta::ReplyDelta,
    error::{LlmError, LlmErrorKind},
    failure::FailureReader,
    ndjson::{NdjsonDecoder, NdjsonLine, NdjsonTooLong},
    wire::Close,
};

/// Reads a reply line by line.
#[derive(Debug)]
pub(super) struct Lines {
    ndjson: NdjsonDecoder,
    reader: LineReader,
}

/// Reads the lines that the [`NdjsonDecoder`] splits off.
#[derive(Debug)]
struct LineReader {
    state: State,
    failure: FailureReader,
    /// Whether the content type is that of a stream.
    is_stream: bool,
    is_done: bool,
    has_lines: bool,
    /// The buffer for a reply whose first line is only the beginning of a JSON document.
    indented: Option<Vec<u8>>,
    /// The first line that is JSON but belongs to no reply.
    unknown: Option<Vec<u8>>,
}

/// The reason why reading lines stopped.
enum Stop {
    TooLong(NdjsonTooLong),
    Failed(LlmError),
}

impl From<NdjsonTooLong> for Stop {
    fn from(error: NdjsonTooLong) -> Self {
        Self::TooLong(error)
    }
}

impl Lines {
    pub(super) fn new(failure: FailureReader, is_stream: bool, state: State) -> Self {
        let reader = LineReader {
            state,
            failure,
            is_stream,
            is_done: false,
            has_lines: false,
            indented: None,
            unknown: None,
        };
        Self {
            ndjson: NdjsonDecoder::new(),
            reader,
        }
    }

    /// Returns whether the last line of the reply was read.
    pub(super) fn is_done(&self) -> bool {
        self.reader.is_done
    }

    pub(super) fn feed(&mut self, bytes: &[u8], out: &mut Vec<ReplyDelta>) -> Result<(), LlmError> {
        let Self { ndjson, reader } = self;
        if reader.is_done {
            return Ok(());
        }
        ndjson
            .feed(bytes, |line| reader.line(line, out))
            .map_err(|stop| reader.error(stop))
    }

    pub(super) fn finish(&mut self, close: Close, out: &mut Vec<ReplyDelta>) -> Result<(), LlmError> {
        let Self { ndjson, reader } = self;
        if !reader.is_done {
            ndjson
                .finish(|line| reader.line(line, out))
                .map_err(|stop| reader.error(stop))?;
        }
        if let Some(body) = reader.indented.take() {
            reader.finish_indented(&body, close, out)?;
        }
        if reader.is_done {
            return Ok(());
        }
        Err(reader.incomplete(close))
    }
}

impl LineReader {
    fn line(&mut self, line: NdjsonLine<'_>, out: &mut Vec<ReplyDelta>) -> Result<(), Stop> {
        if self.is_done {
            return Ok(());
        }
        if self.indented.is_some() {
            return self.append_indented(line.data);
        }
        let is_first = !std::mem::replace(&mut self.has_lines, true);
        let start = out.len();
        match event::read(line.data, &mut self.state, out) {
            Ok(kind) => self.handle(kind, line.data),
            Err(error) => {
                out.truncate(start);
                if is_first && error.is_eof() {
                    self.indented = Some(line.data.to_vec());
                    self.state.reset();
                    return Ok(());
                }
                if is_error_list(line.data) {
                    return Err(Stop::Failed(self.reported(line.data)));
                }
                // The reply ended within this line, so report the truncation instead of invalid JSON.
                if line.unterminated && error.is_eof() {
                    return Ok(());
                }
                let message = format!("a line of the reply is not a valid part of a chat reply: {error}");
                Err(self.malformed(message, line.data))
            }
        }
    }

    fn handle(&mut self, kind: LineKind, data: &[u8]) -> Result<(), Stop> {
        match kind {
            LineKind::Part => {}
            LineKind::Last => self.is_done = true,
            LineKind::Empty => return Err(Stop::Failed(no_answer(&self.failure))),
            LineKind::Error => return Err(Stop::Failed(self.reported(data))),
            LineKind::Unknown if self.unknown.is_none() => self.unknown = Some(data.to_vec()),
            LineKind::Unknown => {}
        }
        Ok(())
    }

    /// Returns the error that the server sent instead of a line. It is a server error unless its wording shows another
    /// kind: before the first line, the server would have sent the status 500 (`streamResponse` in Ollama's
    /// server/routes.go).
    fn reported(&self, data: &[u8]) -> LlmError {
        self.failure.read_with_fallback(data, LlmErrorKind::Server)
    }

    fn append_indented(&mut self, line: &[u8]) -> Result<(), Stop> {
        let body = self.indented.get_or_insert_default();
        if body.len().saturating_add(line.len()) >= MAX_REPLY_BYTES {
            return Err(Stop::Failed(self.failure.too_large(MAX_REPLY_BYTES)));
        }
        body.push(b'\n');
        body.extend_from_slice(line);
        Ok(())
    }

    /// Reads an indented reply, unless it was the first line of a truncated stream.
    fn finish_indented(&mut self, body: &[u8], close: Close, out: &mut Vec<ReplyDelta>) -> Result<(), LlmError> {
        let start = out.len();
        let result = match event::read(body, &mut self.state, out) {
            Ok(kind) => self.handle(kind, body),
            Err(error) => {
                out.truncate(start);
                if is_error_list(body) {
                    Err(Stop::Failed(self.reported(body)))
                } else if error.is_eof() && (self.is_stream || close == Close::Reset) {
                    Ok(())
                } else {
                    Err(self.malformed(format!("the reply is not a valid chat reply: {error}"), body))
                }
            }
        };
        result.map_err(|stop| self.error(stop))
    }

    /// Returns the error for a reply that ended before its last line.
    fn incomplete(&self, close: Close) -> LlmError {
        match (close, &self.unknown) {
            (Close::Reset, _) => self.failure.connection_lost(),
            (Close::Clean, Some(line)) if !self.state.is_started() => {
                let message = "the reply is JSON, but not a chat reply: it has no `message`";
                self.failure.malformed(message.into(), line)
            }
            (Close::Clean, _) => {
                let message = "the reply ended without a line that is marked as done";
                self.failure.annotate(LlmError::new(LlmErrorKind::Truncated, message))
            }
        }
    }

    fn malformed(&self, message: String, data: &[u8]) -> Stop {
        Stop::Failed(self.failure.malformed(message, data))
    }

    fn error(&self, stop: Stop) -> LlmError {
        match stop {
            Stop::Failed(error) => error,
            Stop::TooLong(error) => self
                .failure
                .annotate(LlmError::new(LlmErrorKind::Malformed, error.to_string()).with_source(error)),
        }
    }
}

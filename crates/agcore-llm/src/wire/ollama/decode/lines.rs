//! [`Lines`]: a reply as it comes, line by line.

use super::{
    line::{self, Summary},
    state::State,
};
use crate::{
    delta::ReplyDelta,
    error::{LlmError, LlmErrorKind},
    ndjson::{NdjsonDecoder, NdjsonLine, NdjsonTooLong},
    wire::{Close, failure::FailureReader},
};

/// The largest indented reply that is gathered, in bytes.
const LONGEST_REPLY: usize = 256 << 20;

/// A reply as it comes, line by line.
#[derive(Debug)]
pub(super) struct Lines {
    ndjson: NdjsonDecoder,
    reader: LineReader,
}

/// What reads the lines.
#[derive(Debug)]
struct LineReader {
    state: State,
    failure: FailureReader,
    /// Whether the content type says that it is a stream.
    is_stream: bool,
    is_done: bool,
    has_lines: bool,
    /// A reply whose first line is only the beginning of its JSON.
    indented: Option<Vec<u8>>,
    /// The first line that was JSON and no part of a reply.
    odd: Option<Vec<u8>>,
}

/// Why the reading of lines stopped.
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
            odd: None,
        };
        Self {
            ndjson: NdjsonDecoder::new(),
            reader,
        }
    }

    /// Whether the last line of the reply was seen.
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
            .map_err(|stop| reader.stopped(stop))
    }

    pub(super) fn finish(&mut self, close: Close, out: &mut Vec<ReplyDelta>) -> Result<(), LlmError> {
        let Self { ndjson, reader } = self;
        if !reader.is_done {
            ndjson
                .finish(|line| reader.line(line, out))
                .map_err(|stop| reader.stopped(stop))?;
        }
        if let Some(body) = reader.indented.take() {
            reader.gathered(&body, close, out)?;
        }
        if reader.is_done {
            return Ok(());
        }
        Err(reader.cut(close))
    }
}

impl LineReader {
    fn line(&mut self, line: NdjsonLine<'_>, out: &mut Vec<ReplyDelta>) -> Result<(), Stop> {
        if self.is_done {
            return Ok(());
        }
        if let Some(body) = &mut self.indented {
            return Self::gather(body, line.data).map_err(|message| self.malformed(message, b""));
        }
        let is_first = !std::mem::replace(&mut self.has_lines, true);
        let begin = out.len();
        match line::read(line.data, &mut self.state, out) {
            Ok(summary) => self.judge(summary, line.data),
            Err(error) => {
                out.truncate(begin);
                if is_first && error.is_eof() {
                    self.indented = Some(line.data.to_vec());
                    self.state.forget();
                    return Ok(());
                }
                // A list is how some gateways tell an error.
                if let Some(error) = self.listed_error(line.data) {
                    return Err(Stop::Failed(error));
                }
                // The reply ended within this line: the cut is the fault, not the JSON.
                if line.unterminated && error.is_eof() {
                    return Ok(());
                }
                let message = format!("a line of the reply is no part of a chat reply: {error}");
                Err(self.malformed(message, line.data))
            }
        }
    }

    fn judge(&mut self, summary: Summary, data: &[u8]) -> Result<(), Stop> {
        if summary.is_error {
            return Err(Stop::Failed(self.reported(data)));
        }
        self.is_done = summary.is_done;
        if !summary.is_part && self.odd.is_none() {
            self.odd = Some(data.to_vec());
        }
        Ok(())
    }

    /// An error that the server tells in place of a line. It is of the server's, unless its words say more: before the
    /// first line it would have had the status 500 (`streamResponse` in Ollama's server/routes.go).
    fn reported(&self, data: &[u8]) -> LlmError {
        self.failure.read_or(data, LlmErrorKind::Server)
    }

    fn listed_error(&self, data: &[u8]) -> Option<LlmError> {
        if !data.starts_with(b"[") {
            return None;
        }
        let items: Vec<serde_json::Value> = serde_json::from_slice(data).ok()?;
        items.first()?.is_object().then(|| self.reported(data))
    }

    fn gather(body: &mut Vec<u8>, line: &[u8]) -> Result<(), String> {
        if body.len().saturating_add(line.len()) >= LONGEST_REPLY {
            return Err(format!("the reply is larger than the limit of {LONGEST_REPLY} bytes"));
        }
        body.push(b'\n');
        body.extend_from_slice(line);
        Ok(())
    }

    /// Reads an indented reply, or finds that it was the first line of a stream that is cut.
    fn gathered(&mut self, body: &[u8], close: Close, out: &mut Vec<ReplyDelta>) -> Result<(), LlmError> {
        let begin = out.len();
        let read = match line::read(body, &mut self.state, out) {
            Ok(summary) => self.judge(summary, body),
            Err(error) => {
                out.truncate(begin);
                match self.listed_error(body) {
                    Some(error) => Err(Stop::Failed(error)),
                    None if error.is_eof() && (self.is_stream || close == Close::Reset) => Ok(()),
                    None => Err(self.malformed(format!("the reply is no chat reply: {error}"), body)),
                }
            }
        };
        read.map_err(|stop| self.stopped(stop))
    }

    /// The reply ended before it was done.
    fn cut(&self, close: Close) -> LlmError {
        match (close, &self.odd) {
            (Close::Reset, _) => self.failure.broken(),
            (Close::Clean, Some(odd)) if !self.state.is_started() => {
                let message = "the reply is JSON, but no chat reply: it has no message";
                self.failure.malformed(message.into(), odd)
            }
            (Close::Clean, _) => {
                let message = "the reply ended without a line that says that it is done";
                self.failure.note(LlmError::new(LlmErrorKind::Truncated, message))
            }
        }
    }

    fn malformed(&self, message: String, data: &[u8]) -> Stop {
        Stop::Failed(self.failure.malformed(message, data))
    }

    fn stopped(&self, stop: Stop) -> LlmError {
        match stop {
            Stop::Failed(error) => error,
            Stop::TooLong(error) => self
                .failure
                .note(LlmError::new(LlmErrorKind::Malformed, error.to_string()).with_source(error)),
        }
    }
}

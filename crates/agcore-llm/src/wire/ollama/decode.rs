//! [`ChatDecoder`]: the bytes of a reply to deltas, for streams, whole replies and failures alike.
//!
//! A whole reply is a stream of one line, and a line of a stream is a whole reply that is not done, so one reader does for
//! both; only a reply that a proxy has indented is gathered first.

mod call;
mod created;
mod form;
mod line;
mod lines;
mod message;
mod said;
mod state;
mod usage;

use http::header::CONTENT_TYPE;

use self::{form::Form, lines::Lines, state::State};
use crate::{
    delta::ReplyDelta,
    error::{LlmError, LlmErrorKind},
    wire::{Chat, Close, Decoder, ReplyHead, failure::FailureReader},
};

/// The content type of streams; whole replies have that of JSON.
const STREAM: &str = "application/x-ndjson";

/// How much of a failure's body is read, in bytes.
const LONGEST_FAILURE: usize = 1 << 20;

/// Reads one reply of Ollama's chat endpoint.
#[derive(Debug)]
pub(super) struct ChatDecoder {
    failure: FailureReader,
    /// Whether the content type says that it is a stream.
    is_stream: bool,
    mode: Mode,
}

#[derive(Debug)]
enum Mode {
    /// The first bytes did not tell yet what it is.
    Sniff(Vec<u8>, State),
    Lines(Box<Lines>),
    /// No answer.
    Page(Vec<u8>),
    /// The body of an HTTP error.
    Failure(Vec<u8>),
    /// Everything is said.
    Over,
}

impl ChatDecoder {
    /// A decoder for a reply with this head; a prompt that fills the window `num_ctx` is warned of.
    pub(super) fn new(head: &ReplyHead, num_ctx: Option<u64>) -> Self {
        let content_type = head.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let mode = if head.status.is_success() {
            Mode::Sniff(Vec::new(), State::new(num_ctx))
        } else {
            Mode::Failure(Vec::new())
        };
        Self {
            failure: FailureReader::new(head),
            is_stream: content_type.is_some_and(|text| text.trim_start().starts_with(STREAM)),
            mode,
        }
    }

    /// Decides what the body is, as soon as its first bytes tell; gives what was held back until then.
    fn sniff(&mut self, bytes: &[u8]) -> Option<Vec<u8>> {
        let Mode::Sniff(begun, state) = &mut self.mode else {
            return None;
        };
        let form = if begun.is_empty() {
            form::of(bytes)
        } else {
            begun.extend_from_slice(bytes);
            form::of(begun)
        };
        let Some(form) = form else {
            if begun.is_empty() {
                begun.extend_from_slice(bytes);
            }
            return None;
        };
        let (begun, state) = (std::mem::take(begun), std::mem::take(state));
        self.mode = match form {
            Form::Json => Mode::Lines(Box::new(Lines::new(self.failure.clone(), self.is_stream, state))),
            Form::Page => Mode::Page(Vec::new()),
        };
        Some(begun)
    }

    fn read(&mut self, bytes: &[u8], out: &mut Vec<ReplyDelta>) -> Result<(), LlmError> {
        match &mut self.mode {
            Mode::Lines(lines) => return lines.feed(bytes, out),
            Mode::Page(body) | Mode::Failure(body) => {
                let room = LONGEST_FAILURE.saturating_sub(body.len());
                body.extend_from_slice(&bytes[..bytes.len().min(room)]);
            }
            Mode::Sniff(..) | Mode::Over => {}
        }
        Ok(())
    }

    /// Something that is no answer at all.
    fn page(&self, body: &[u8]) -> LlmError {
        let message = match FailureReader::words_of(body) {
            Some(words) => format!("the server answered with something that is no chat reply: {words}"),
            None => "the server's answer is empty".to_owned(),
        };
        self.failure.malformed(message, body)
    }

    /// A stream that never began.
    fn nothing(&self) -> LlmError {
        let message = "the stream ended before its first line";
        self.failure.note(LlmError::new(LlmErrorKind::Truncated, message))
    }
}

impl Decoder<Chat> for ChatDecoder {
    fn feed(&mut self, bytes: &[u8], items: &mut Vec<ReplyDelta>) -> Result<(), LlmError> {
        if let Some(begun) = self.sniff(bytes).filter(|begun| !begun.is_empty()) {
            return self.read(&begun, items);
        }
        self.read(bytes, items)
    }

    fn finish(&mut self, close: Close, items: &mut Vec<ReplyDelta>) -> Result<(), LlmError> {
        match std::mem::replace(&mut self.mode, Mode::Over) {
            Mode::Failure(body) => Err(self.failure.read(&body)),
            Mode::Lines(mut lines) => lines.finish(close, items),
            Mode::Sniff(..) | Mode::Page(_) if close == Close::Reset => Err(self.failure.broken()),
            Mode::Sniff(..) if self.is_stream => Err(self.nothing()),
            Mode::Sniff(body, _) | Mode::Page(body) => Err(self.page(&body)),
            Mode::Over => Ok(()),
        }
    }

    fn is_done(&self) -> bool {
        matches!(&self.mode, Mode::Lines(lines) if lines.is_done())
    }
}

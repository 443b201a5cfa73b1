//! [`ChatDecoder`]: decodes streams, whole replies and failures.
//!
//! A whole reply is a stream of one line, so one reader handles both. Only a reply that a proxy has indented must be
//! buffered first.

mod call;
mod finish;
mod message;
mod usage;
mod state;
mod event;
mod lines;

use http::header::CONTENT_TYPE;

use self::{lines::Lines, state::State};
use crate::{
    decode::{BYTE_ORDER_MARK, extend_failure_body},
    delta::ReplyDelta,
    error::{LlmError, LlmErrorKind},
    failure::FailureReader,
    wire::{Chat, Close, Decoder, ReplyHead},
};

/// The content type of streams. That of whole replies is `application/json`.
const STREAM: &str = "application/x-ndjson";

/// Decodes one reply of Ollama's chat endpoint.
#[derive(Debug)]
pub(super) struct ChatDecoder {
    failure: FailureReader,
    /// Whether the content type is that of a stream.
    is_stream: bool,
    mode: Mode,
}

#[derive(Debug)]
enum Mode {
    /// More bytes are needed to detect what the body is.
    Detect(Vec<u8>, State),
    /// A reply, line by line.
    Lines(Box<Lines>),
    /// An HTML page or plain text.
    Page(Vec<u8>),
    /// The body of an HTTP error.
    Failure(Vec<u8>),
    /// The reply has ended.
    Ended,
}

impl ChatDecoder {
    /// Creates a decoder for the reply with this head. It logs a warning if the prompt fills the window `num_ctx`.
    pub(super) fn new(head: &ReplyHead, num_ctx: Option<u64>) -> Self {
        let content_type = head.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let mode = if head.status.is_success() {
            Mode::Detect(Vec::new(), State::new(num_ctx))
        } else {
            Mode::Failure(Vec::new())
        };
        Self {
            failure: FailureReader::new(head),
            is_stream: content_type.is_some_and(|text| text.trim_start().starts_with(STREAM)),
            mode,
        }
    }

    /// Detects what the body is as soon as its first bytes show it, and returns the bytes that were buffered until then.
    fn detect(&mut self, bytes: &[u8]) -> Option<Vec<u8>> {
        let Mode::Detect(buffered, state) = &mut self.mode else {
            return None;
        };
        let detected = if buffered.is_empty() {
            is_json(bytes)
        } else {
            buffered.extend_from_slice(bytes);
            is_json(buffered)
        };
        let Some(is_json) = detected else {
            if buffered.is_empty() {
                buffered.extend_from_slice(bytes);
            }
            return None;
        };
        let (buffered, state) = (std::mem::take(buffered), std::mem::take(state));
        self.mode = if is_json {
            Mode::Lines(Box::new(Lines::new(self.failure.clone(), self.is_stream, state)))
        } else {
            Mode::Page(Vec::new())
        };
        Some(buffered)
    }

    fn read(&mut self, bytes: &[u8], out: &mut Vec<ReplyDelta>) -> Result<(), LlmError> {
        match &mut self.mode {
            Mode::Lines(lines) => return lines.feed(bytes, out),
            Mode::Page(body) | Mode::Failure(body) => extend_failure_body(body, bytes),
            Mode::Detect(..) | Mode::Ended => {}
        }
        Ok(())
    }
}

impl Decoder<Chat> for ChatDecoder {
    fn feed(&mut self, bytes: &[u8], items: &mut Vec<ReplyDelta>) -> Result<(), LlmError> {
        if let Some(buffered) = self.detect(bytes).filter(|buffered| !buffered.is_empty()) {
            return self.read(&buffered, items);
        }
        self.read(bytes, items)
    }

    fn finish(&mut self, close: Close, items: &mut Vec<ReplyDelta>) -> Result<(), LlmError> {
        match std::mem::replace(&mut self.mode, Mode::Ended) {
            Mode::Failure(body) => Err(self.failure.read(&body)),
            Mode::Lines(mut lines) => lines.finish(close, items),
            Mode::Detect(..) | Mode::Page(_) if close == Close::Reset => Err(self.failure.connection_lost()),
            Mode::Detect(..) if self.is_stream => {
                let message = "the stream ended before its first line";
                Err(self.failure.annotate(LlmError::new(LlmErrorKind::Truncated, message)))
            }
            Mode::Detect(body, _) | Mode::Page(body) => Err(self.failure.unexpected_page("chat reply", &body)),
            Mode::Ended => Ok(()),
        }
    }

    fn is_done(&self) -> bool {
        matches!(&self.mode, Mode::Lines(lines) if lines.is_done())
    }
}

/// Returns whether a body that starts with these bytes is JSON; `None` if more bytes are needed.
fn is_json(bytes: &[u8]) -> Option<bool> {
    let bytes = match bytes.strip_prefix(BYTE_ORDER_MARK) {
        Some(rest) => rest,
        // The mark may be incomplete.
        None if BYTE_ORDER_MARK.starts_with(bytes) => return None,
        None => bytes,
    };
    let first = bytes.trim_ascii_start().first()?;
    Some(matches!(first, b'{' | b'['))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detects_json_from_the_first_bytes() {
        let check = |body: &[u8], expected| assert_eq!(is_json(body), expected, "{body:?}");
        check(b"{\"model\"", Some(true));
        check(b"\r\n [", Some(true));
        check(b"\xEF\xBB\xBF{", Some(true));
        check(b"<html>", Some(false));
        check(b"404 page not found", Some(false));
        check(b"data: {", Some(false));
        check(b"", None);
        check(b" \n", None);
        check(b"\xEF\xBB", None);
        check(b"\xEF\xBB{", Some(false));
    }
}

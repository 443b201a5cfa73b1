//! [`ChatDecoder`]: decodes event streams, whole replies and failures.

mod usage;
mod finish;
mod call;
mod block;
mod message;
mod event;
mod failure;
mod state;

use std::borrow::Cow;

use http::header::CONTENT_TYPE;

use self::{event::Event, message::Reply, state::State};
use crate::{
    decode::{BYTE_ORDER_MARK, MAX_REPLY_BYTES, extend_failure_body, reply_decoder::no_answer},
    delta::ReplyDelta,
    error::{LlmError, LlmErrorKind},
    failure::FailureReader,
    framing::event_stream::{EventStreamDecoder, EventStreamError, EventStreamMessage},
    wire::{Chat, Close, Decoder, ReplyHead},
};

/// The content type of streams.
const STREAM: &str = "application/vnd.amazon.eventstream";

/// The name of a whole reply in errors.
const REPLY: &str = "Converse reply";

/// The largest first byte of a message: its size is below 2^25.
const MAX_FIRST_BYTE: u8 = 1;

/// Decodes one reply.
#[derive(Debug)]
pub(super) struct ChatDecoder {
    failure: FailureReader,
    /// Whether the content type is that of a stream.
    is_stream: bool,
    state: State,
    mode: Mode,
}

#[derive(Debug)]
enum Mode {
    /// Blanks, while the kind of the body is still unknown.
    Detect(Vec<u8>),
    /// An event stream.
    Messages(Messages),
    /// A whole reply, or an error in its place.
    Whole(Vec<u8>),
    /// A page or text instead of a reply.
    Page(Vec<u8>),
    /// The body of an HTTP error.
    Failure(Vec<u8>),
    /// The reply has ended.
    Ended,
}

/// An event stream.
#[derive(Debug, Default)]
struct Messages {
    decoder: EventStreamDecoder,
    /// Whether a message was read.
    has_messages: bool,
}

impl ChatDecoder {
    /// Creates a decoder for the reply with this head. Vendor data of the reply is stored under the name `vendor`.
    pub(super) fn new(head: &ReplyHead, vendor: Cow<'static, str>) -> Self {
        let text = |name: &str| head.headers.get(name).and_then(|value| value.to_str().ok());
        let content_type = text(CONTENT_TYPE.as_str());
        let mode = if head.status.is_success() {
            Mode::Detect(Vec::new())
        } else {
            Mode::Failure(Vec::new())
        };
        Self {
            failure: FailureReader::new(head),
            is_stream: content_type.is_some_and(|text| text.trim_start().starts_with(STREAM)),
            state: State::new(vendor, text("x-amzn-requestid").map(str::to_owned)),
            mode,
        }
    }

    /// Detects the kind of the body from its first byte that is not blank. Returns the bytes before it.
    fn detect(&mut self, bytes: &[u8]) -> Option<Vec<u8>> {
        let Mode::Detect(held) = &mut self.mode else {
            return None;
        };
        held.extend_from_slice(bytes);
        let content = match held.strip_prefix(BYTE_ORDER_MARK) {
            Some(rest) => rest,
            // The mark may be incomplete.
            None if !held.is_empty() && BYTE_ORDER_MARK.starts_with(held) => return None,
            None => held,
        };
        let first = content.trim_ascii_start().first()?;
        let mode = match first {
            0..=MAX_FIRST_BYTE => Mode::Messages(Messages::default()),
            b'{' | b'[' => Mode::Whole(Vec::new()),
            b'<' => Mode::Page(Vec::new()),
            _ if self.is_stream => Mode::Messages(Messages::default()),
            _ => Mode::Page(Vec::new()),
        };
        let held = std::mem::take(held);
        self.mode = mode;
        Some(held)
    }

    fn read(&mut self, bytes: &[u8], out: &mut Vec<ReplyDelta>) -> Result<(), LlmError> {
        let Self {
            failure, state, mode, ..
        } = self;
        match mode {
            Mode::Messages(_) if state.is_done() => {}
            Mode::Messages(messages) => {
                let has_messages = &mut messages.has_messages;
                let read = messages.decoder.feed(bytes, |message| {
                    *has_messages = true;
                    read_message(&message, state, failure, out).map_err(Stop::Failed)?;
                    // What follows may not even be a message.
                    if state.is_done() { Err(Stop::Done) } else { Ok(()) }
                });
                let error = match read {
                    Ok(()) | Err(Stop::Done) => return Ok(()),
                    Err(Stop::Failed(error)) => error,
                    Err(Stop::Damaged(error)) => damaged(error, failure),
                };
                state.flush(false, out);
                return Err(error);
            }
            Mode::Whole(body) if body.len().saturating_add(bytes.len()) > MAX_REPLY_BYTES => {
                return Err(failure.too_large(MAX_REPLY_BYTES));
            }
            Mode::Whole(body) => body.extend_from_slice(bytes),
            Mode::Page(body) | Mode::Failure(body) => extend_failure_body(body, bytes),
            Mode::Detect(_) | Mode::Ended => {}
        }
        Ok(())
    }

    fn finish_messages(
        &mut self,
        messages: &Messages,
        close: Close,
        out: &mut Vec<ReplyDelta>,
    ) -> Result<(), LlmError> {
        if self.state.is_stopped() {
            return Ok(());
        }
        self.state.flush(false, out);
        let message = match close {
            Close::Reset => return Err(self.failure.connection_lost()),
            Close::Clean if messages.decoder.is_within_message() => "the stream ended within a message",
            Close::Clean if messages.has_messages => "the stream ended without the event `messageStop`",
            Close::Clean => "the stream is empty: it ended before the first message",
        };
        Err(self.failure.annotate(LlmError::new(LlmErrorKind::Truncated, message)))
    }

    /// Emits the deltas of a whole reply, or nothing if it cannot be read.
    fn finish_whole(&mut self, body: &[u8], close: Close, out: &mut Vec<ReplyDelta>) -> Result<(), LlmError> {
        let body = body.strip_prefix(BYTE_ORDER_MARK).unwrap_or(body);
        let reply = match Reply::read(body) {
            Ok(reply) => reply,
            Err(_) if close == Close::Reset => return Err(self.failure.connection_lost()),
            Err(error) => {
                let message = format!("the reply is not a valid {REPLY}: {error}");
                return Err(self.failure.malformed(message, body));
            }
        };
        if reply.content.is_none() {
            if is_error(body) {
                return Err(failure::advised(self.failure.read(body)));
            }
            let message = format!("the reply is JSON, but not a {REPLY}: it has no `output`");
            return Err(self.failure.malformed(message, body));
        }
        self.state.push_reply(reply, &self.failure, out)
    }
}

impl Decoder<Chat> for ChatDecoder {
    fn feed(&mut self, bytes: &[u8], items: &mut Vec<ReplyDelta>) -> Result<(), LlmError> {
        if matches!(self.mode, Mode::Detect(_)) {
            return match self.detect(bytes) {
                Some(held) => self.read(&held, items),
                None => Ok(()),
            };
        }
        self.read(bytes, items)
    }

    fn finish(&mut self, close: Close, items: &mut Vec<ReplyDelta>) -> Result<(), LlmError> {
        match std::mem::replace(&mut self.mode, Mode::Ended) {
            Mode::Failure(body) => Err(failure::advised(self.failure.read(&body))),
            Mode::Messages(messages) => self.finish_messages(&messages, close, items),
            Mode::Whole(body) => self.finish_whole(&body, close, items),
            Mode::Detect(_) | Mode::Page(_) if close == Close::Reset => Err(self.failure.connection_lost()),
            Mode::Detect(_) if self.is_stream => self.finish_messages(&Messages::default(), close, items),
            Mode::Detect(body) | Mode::Page(body) => Err(self.failure.unexpected_page(REPLY, &body)),
            Mode::Ended => Ok(()),
        }
    }

    fn is_done(&self) -> bool {
        matches!(self.mode, Mode::Messages(_)) && self.state.is_done()
    }
}

/// The reason reading stopped in the middle of a stream.
enum Stop {
    /// Nothing more follows.
    Done,
    Damaged(EventStreamError),
    Failed(LlmError),
}

impl From<EventStreamError> for Stop {
    fn from(error: EventStreamError) -> Self {
        Self::Damaged(error)
    }
}

/// Returns the error of a stream that cannot be read further.
fn damaged(error: EventStreamError, failure: &FailureReader) -> LlmError {
    let message = format!("the event stream cannot be read: {error}");
    let is_damaged = matches!(
        error,
        EventStreamError::PreludeChecksum | EventStreamError::MessageChecksum
    );
    let malformed = LlmError::new(LlmErrorKind::Malformed, message).with_source(error);
    // What was damaged on its way may arrive undamaged the next time.
    failure.annotate(malformed.with_retryable(is_damaged))
}

/// Reads a message, and emits the deltas of its event.
fn read_message(
    message: &EventStreamMessage<'_>,
    state: &mut State,
    failure: &FailureReader,
    out: &mut Vec<ReplyDelta>,
) -> Result<(), LlmError> {
    match message.header(":message-type") {
        Some("exception") => return Err(failure::exception(failure, message)),
        Some("error") => return Err(failure::error(failure, message)),
        _ => {}
    }
    let kind = message.header(":event-type").unwrap_or_default();
    let event = event::read(kind, message.payload).map_err(|error| {
        let text = format!("an event of the stream is not a valid `{kind}`: {error}");
        failure.malformed(text, message.payload)
    })?;
    match event {
        Event::MessageStart => state.ensure_start(out),
        Event::BlockStart {
            index,
            block: Some(block),
        } => state.push_block(index, block, out),
        Event::BlockPiece { index, piece } => state.add(index, piece, out),
        Event::BlockStop { index } => state.close(index, out),
        Event::MessageStop { reason, members } => {
            if state.is_empty() && reason.is_none() {
                return Err(no_answer(failure));
            }
            for (name, value) in members {
                state.push_response_member(&name, value, out);
            }
            match reason {
                Some(reason) => state.stop(&reason, failure, out)?,
                None => state.stop_without_reason(out),
            }
        }
        Event::Metadata(metadata) => state.push_metadata(metadata, out),
        Event::BlockStart { block: None, .. } | Event::Other => {}
    }
    Ok(())
}

/// Returns whether an object is an error although its status is that of a success.
fn is_error(body: &[u8]) -> bool {
    serde_json::from_slice(body).is_ok_and(|members: serde_json::Map<_, _>| {
        FailureReader::is_flat_error(&members) || members.contains_key("__type") || members.contains_key("error")
    })
}

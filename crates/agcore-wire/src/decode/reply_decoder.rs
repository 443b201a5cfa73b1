//! [`ReplyDecoder`]: the decoder of replies of APIs that stream events.
//!
//! The HTTP status determines whether a reply is a failure; otherwise the first bytes determine whether it is an event
//! stream, a whole reply or a page. The contents of an event or a whole reply depend on the API and are read by its
//! [`EventReader`].

use super::{
    BYTE_ORDER_MARK, MAX_REPLY_BYTES,
    body_kind::{self, BodyKind},
    extend_failure_body,
    text_template::{TextRange, TextTemplate},
};
use crate::{
    delta::ReplyDelta,
    error::{LlmError, LlmErrorKind},
    failure::FailureReader,
    sse::{SseDecoder, SseEvent, SseTooLong},
    wire::{Chat, Close, Decoder, ReplyHead},
};

/// Reads the events and the whole replies of one API.
pub(crate) trait EventReader: std::fmt::Debug + Send + 'static {
    /// The name of a reply in errors, such as `chat completion`.
    const REPLY: &'static str;

    /// Whether a stream may contain JSON outside of its events, which is read like an event.
    const BARE_JSON: bool = false;

    /// Reads an event that has data. Not called again once the reader [is done](Self::is_done).
    ///
    /// Returns the range of the text if the event contained nothing else, and if the same event with another text would,
    /// coming next, produce just that text. Such an event need not be parsed.
    fn read_event(
        &mut self,
        event: &Event<'_>,
        failure: &FailureReader,
        out: &mut Vec<ReplyDelta>,
    ) -> Result<Option<TextRange>, LlmError>;

    /// Observes the delta of an event that was not parsed, because it differs from the previous one only in its text. For
    /// readers that keep track of texts.
    fn observe(&mut self, _delta: &ReplyDelta) {}

    /// Reads a whole reply.
    fn read_whole(
        &mut self,
        body: &[u8],
        failure: &FailureReader,
        out: &mut Vec<ReplyDelta>,
    ) -> Result<(), WholeReplyError>;

    /// Emits what was held back, when the reply ends early.
    fn flush(&mut self, out: &mut Vec<ReplyDelta>);

    /// Emits what was held back, when a stream without a terminal marker has ended after a finish reason. Fails if the reply
    /// cannot be used after all.
    fn complete(&mut self, _failure: &FailureReader, _out: &mut Vec<ReplyDelta>) -> Result<(), LlmError> {
        Ok(())
    }

    /// Returns whether the reply may end here, because a finish reason was seen.
    fn is_finished(&self) -> bool;

    /// Returns whether the terminal marker was seen; everything after it is ignored.
    fn is_done(&self) -> bool;
}

/// An event that has data.
#[derive(Debug)]
pub(crate) struct Event<'a> {
    /// The name; empty if the event has none.
    pub(crate) name: &'a [u8],
    /// The data, without surrounding whitespace.
    pub(crate) data: &'a [u8],
    /// Whether the stream ended before the event did, so that the data may be incomplete.
    pub(crate) unterminated: bool,
}

/// The reason a whole reply cannot be read.
#[derive(Debug)]
pub(crate) enum WholeReplyError {
    /// The body is not a valid reply, or is incomplete.
    Unreadable(serde_json::Error),
    /// The reply reports a failure, or lacks a required member.
    Failed(LlmError),
}

impl From<LlmError> for WholeReplyError {
    fn from(error: LlmError) -> Self {
        Self::Failed(error)
    }
}

/// The decoder of one reply.
#[derive(Debug)]
pub(crate) struct ReplyDecoder<R> {
    failure: FailureReader,
    reader: R,
    template: TextTemplate,
    /// Whether the content type is that of an event stream.
    is_event_stream: bool,
    /// Whether an event with data was read.
    has_events: bool,
    mode: Mode,
}

#[derive(Debug)]
enum Mode {
    /// The first bytes, while the kind of the body is still unknown.
    Sniff(Vec<u8>),
    /// An event stream.
    Events(Box<SseDecoder>),
    /// A whole reply, or an error in its place.
    Whole(Vec<u8>),
    /// A page or text instead of a reply.
    Page(Vec<u8>),
    /// The body of an HTTP error.
    Failure(Vec<u8>),
    /// The end of the body was read.
    Done,
}

impl<R: EventReader> ReplyDecoder<R> {
    /// Creates a decoder for the reply with this head.
    pub(crate) fn new(head: &ReplyHead, reader: R) -> Self {
        let content_type = head
            .headers
            .get(http::header::CONTENT_TYPE)
            .and_then(|value| value.to_str().ok());
        let is_event_stream = content_type.is_some_and(|text| {
            let kind = text.split(';').next().unwrap_or_default();
            kind.trim().eq_ignore_ascii_case("text/event-stream")
        });
        let mode = if head.status.is_success() {
            Mode::Sniff(Vec::new())
        } else {
            Mode::Failure(Vec::new())
        };
        Self {
            failure: FailureReader::new(head),
            template: TextTemplate::default(),
            reader,
            is_event_stream,
            has_events: false,
            mode,
        }
    }

    /// Tries to detect the kind of the body. Once it is known, returns the bytes held back so far, which include the given
    /// ones unless they are the first.
    fn sniff(&mut self, bytes: &[u8]) -> Option<Vec<u8>> {
        let Mode::Sniff(held) = &mut self.mode else {
            return None;
        };
        let kind = if held.is_empty() {
            BodyKind::detect(bytes, self.is_event_stream)
        } else {
            held.extend_from_slice(bytes);
            BodyKind::detect(held, self.is_event_stream)
        };
        let Some(kind) = kind else {
            if held.is_empty() {
                held.extend_from_slice(bytes);
            }
            return None;
        };
        let held = std::mem::take(held);
        self.mode = match kind {
            BodyKind::Events => Mode::Events(Box::new(SseDecoder::new().with_bare_json(R::BARE_JSON))),
            BodyKind::Json => Mode::Whole(Vec::new()),
            BodyKind::Page => Mode::Page(Vec::new()),
        };
        Some(held)
    }

    fn read(&mut self, bytes: &[u8], out: &mut Vec<ReplyDelta>) -> Result<(), LlmError> {
        let Self {
            failure,
            template,
            reader,
            mode,
            has_events,
            ..
        } = self;
        match mode {
            Mode::Events(_) if reader.is_done() => {}
            Mode::Events(sse) => {
                let read = sse.feed(bytes, |event| {
                    *has_events |= is_event(&event);
                    read_event(reader, template, failure, event, out)
                });
                return read.map_err(|stop| stop_error(reader, failure, stop, out));
            }
            Mode::Whole(body) if body.len().saturating_add(bytes.len()) > MAX_REPLY_BYTES => {
                return Err(failure.too_large(MAX_REPLY_BYTES));
            }
            Mode::Whole(body) => body.extend_from_slice(bytes),
            Mode::Page(body) | Mode::Failure(body) => extend_failure_body(body, bytes),
            Mode::Sniff(_) | Mode::Done => {}
        }
        Ok(())
    }

    fn finish_events(&mut self, mut sse: SseDecoder, close: Close, out: &mut Vec<ReplyDelta>) -> Result<(), LlmError> {
        let Self {
            failure,
            template,
            reader,
            has_events,
            ..
        } = self;
        if !reader.is_done() {
            let read = |event: SseEvent<'_>| {
                *has_events |= is_event(&event);
                read_event(reader, template, failure, event, out)
            };
            sse.finish(read)
                .map_err(|stop| stop_error(reader, failure, stop, out))?;
        }
        if reader.is_done() {
            return Ok(());
        }
        if reader.is_finished() {
            return reader.complete(failure, out);
        }
        reader.flush(out);
        Err(match close {
            Close::Clean if *has_events => truncated(failure),
            Close::Clean => empty(failure),
            Close::Reset => failure.connection_lost(),
        })
    }

    /// Emits the deltas of a whole reply, or nothing if it cannot be read.
    fn finish_whole(&mut self, body: &[u8], close: Close, out: &mut Vec<ReplyDelta>) -> Result<(), LlmError> {
        let body = body.strip_prefix(BYTE_ORDER_MARK).unwrap_or(body);
        let body = body_kind::skip_comments(body).unwrap_or(body);
        let begin = out.len();
        match self.reader.read_whole(body, &self.failure, out) {
            Ok(()) => Ok(()),
            Err(WholeReplyError::Failed(error)) => Err(error),
            Err(WholeReplyError::Unreadable(error)) => {
                out.truncate(begin);
                Err(match close {
                    Close::Reset => self.failure.connection_lost(),
                    Close::Clean => {
                        let message = format!("the reply is not a valid {}: {error}", R::REPLY);
                        self.failure.malformed(message, body)
                    }
                })
            }
        }
    }
}

impl<R: EventReader> Decoder<Chat> for ReplyDecoder<R> {
    fn feed(&mut self, bytes: &[u8], items: &mut Vec<ReplyDelta>) -> Result<(), LlmError> {
        if let Some(held) = self.sniff(bytes).filter(|held| !held.is_empty()) {
            return self.read(&held, items);
        }
        self.read(bytes, items)
    }

    fn finish(&mut self, close: Close, items: &mut Vec<ReplyDelta>) -> Result<(), LlmError> {
        match std::mem::replace(&mut self.mode, Mode::Done) {
            Mode::Failure(body) => Err(self.failure.read(&body)),
            Mode::Events(sse) => self.finish_events(*sse, close, items),
            Mode::Whole(body) => self.finish_whole(&body, close, items),
            Mode::Sniff(_) | Mode::Page(_) if close == Close::Reset => Err(self.failure.connection_lost()),
            Mode::Sniff(held) if begins_event_stream(&held, self.is_event_stream) => Err(empty(&self.failure)),
            Mode::Sniff(body) | Mode::Page(body) => Err(self.failure.unexpected_page(R::REPLY, &body)),
            Mode::Done => Ok(()),
        }
    }

    fn is_done(&self) -> bool {
        matches!(self.mode, Mode::Events(_)) && self.reader.is_done()
    }
}

/// Returns whether these bytes, which are too few to detect the kind of the body, begin an event stream. No other kind of
/// body contains comments.
fn begins_event_stream(bytes: &[u8], is_event_stream: bool) -> bool {
    let bytes = bytes.trim_ascii_start();
    let fields: [&[u8]; 4] = [b"data: [DONE]", b"event:", b"id:", b"retry:"];
    bytes.starts_with(b":") || (is_event_stream && fields.iter().any(|field| field.starts_with(bytes)))
}

/// The reason reading stopped in the middle of an event stream.
enum Stop {
    TooLong(SseTooLong),
    Failed(LlmError),
}

impl From<SseTooLong> for Stop {
    fn from(error: SseTooLong) -> Self {
        Self::TooLong(error)
    }
}

/// Returns whether an event has data that is not a comment.
fn is_event(event: &SseEvent<'_>) -> bool {
    let data = event.data.trim_ascii_start();
    !data.is_empty() && !data.starts_with(b":")
}

/// Passes an event to the reader, unless the template recognizes it. Events without data, such as pings, are skipped, and
/// so are comments that some gateways forward as data.
fn read_event<R: EventReader>(
    reader: &mut R,
    template: &mut TextTemplate,
    failure: &FailureReader,
    event: SseEvent<'_>,
    out: &mut Vec<ReplyDelta>,
) -> Result<(), Stop> {
    let data = event.data.trim_ascii();
    if reader.is_done() || data.is_empty() || data.starts_with(b":") {
        return Ok(());
    }
    // An event that is cut off is ignored altogether, even the part that could be read.
    if event.unterminated && is_incomplete_json(data) {
        return Ok(());
    }
    if let Some(delta) = template.read(event.name, data) {
        reader.observe(&delta);
        out.push(delta);
        return Ok(());
    }
    template.clear();
    let event = Event {
        name: event.name,
        data,
        unterminated: event.unterminated,
    };
    if let Some(text) = reader.read_event(&event, failure, out).map_err(Stop::Failed)? {
        template.learn(event.name, data, text);
    }
    Ok(())
}

fn is_incomplete_json(data: &[u8]) -> bool {
    serde_json::from_slice::<serde::de::IgnoredAny>(data).is_err_and(|error| error.is_eof())
}

/// Emits what the reader held back, and returns the error to report.
fn stop_error<R: EventReader>(
    reader: &mut R,
    failure: &FailureReader,
    stop: Stop,
    out: &mut Vec<ReplyDelta>,
) -> LlmError {
    reader.flush(out);
    match stop {
        Stop::Failed(error) => error,
        Stop::TooLong(error) => {
            failure.annotate(LlmError::new(LlmErrorKind::Malformed, error.to_string()).with_source(error))
        }
    }
}

/// Returns the error for a reply that ends properly, but has nothing in it. Such replies come from gateways whose server
/// failed, so another attempt may succeed.
pub(crate) fn no_answer(failure: &FailureReader) -> LlmError {
    let message = "the reply has no answer in it: it consists of nothing but its end";
    failure.annotate(LlmError::new(LlmErrorKind::Truncated, message))
}

fn empty(failure: &FailureReader) -> LlmError {
    let message = "the stream is empty: it ended before the first event";
    failure.annotate(LlmError::new(LlmErrorKind::Truncated, message))
}

fn truncated(failure: &FailureReader) -> LlmError {
    let message = "the stream ended without a finish reason and without its terminal marker";
    failure.annotate(LlmError::new(LlmErrorKind::Truncated, message))
}

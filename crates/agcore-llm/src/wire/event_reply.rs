//! [`EventReply`]: what all replies of APIs with event streams have in common.
//!
//! The first bytes tell whether a stream, a whole reply or a page came; the status, whether it is a failure. What stands
//! in an event or in a whole reply is the API's, and read by its [`EventReader`].

use super::{
    Chat, Close, Decoder, ReplyHead,
    failure::FailureReader,
    form::{self, Form},
    text_template::{TextPlace, TextTemplate},
};
use crate::{
    delta::ReplyDelta,
    error::{LlmError, LlmErrorKind},
    sse::{SseDecoder, SseEvent, SseTooLong},
};

/// The largest whole reply that is read, in bytes.
const LONGEST_REPLY: usize = 256 << 20;

/// How much of a failure's body is read, in bytes.
const LONGEST_FAILURE: usize = 1 << 20;

/// Reads the events and the whole replies of one API.
pub(crate) trait EventReader: std::fmt::Debug + Send + 'static {
    /// What a reply is called in errors, such as `chat completion`.
    const REPLY: &'static str;

    /// Reads an event that has data; none comes after the reply [is done](Self::is_done).
    ///
    /// Gives the place of the text when that is all the event told, and when the same event with another text would, next,
    /// tell just that: then it need not be read in full.
    fn event(
        &mut self,
        event: &Event<'_>,
        failure: &FailureReader,
        out: &mut Vec<ReplyDelta>,
    ) -> Result<Option<TextPlace>, LlmError>;

    /// Hears of what was read in its place: the last event once more, with another text. For readers that remember texts.
    fn heard(&mut self, _told: &ReplyDelta) {}

    /// Reads a whole reply.
    fn whole(&mut self, body: &[u8], failure: &FailureReader, out: &mut Vec<ReplyDelta>) -> Result<(), WholeFault>;

    /// Tells what was held back, when the reply ends in the middle.
    fn flush(&mut self, out: &mut Vec<ReplyDelta>);

    /// Whether the answer may end here: a finish reason was seen.
    fn is_finished(&self) -> bool;

    /// Whether the terminal marker was seen, after which nothing counts.
    fn is_done(&self) -> bool;
}

/// An event with data.
#[derive(Debug)]
pub(crate) struct Event<'a> {
    /// Its name; empty when there is none.
    pub(crate) name: &'a [u8],
    /// Its data, without blanks around it.
    pub(crate) data: &'a [u8],
    /// Whether the stream ended in it, so that it may be cut.
    pub(crate) unterminated: bool,
}

/// Why a whole reply cannot be read.
#[derive(Debug)]
pub(crate) enum WholeFault {
    /// It is none, or cut.
    Unreadable(serde_json::Error),
    /// It is one, and tells a failure or lacks what it must hold.
    Failed(LlmError),
}

impl From<LlmError> for WholeFault {
    fn from(error: LlmError) -> Self {
        Self::Failed(error)
    }
}

/// The decoder of one reply.
#[derive(Debug)]
pub(crate) struct EventReply<R> {
    failure: FailureReader,
    reader: R,
    template: TextTemplate,
    /// Whether the content type says that it is an event stream.
    is_events: bool,
    mode: Mode,
}

#[derive(Debug)]
enum Mode {
    /// The first bytes did not tell yet what it is.
    Sniff(Vec<u8>),
    /// A stream.
    Events(Box<SseDecoder>),
    /// A whole reply, or an error in its place.
    Whole(Vec<u8>),
    /// No answer.
    Page(Vec<u8>),
    /// The body of an HTTP error.
    Failure(Vec<u8>),
    /// Everything is said.
    Over,
}

impl<R: EventReader> EventReply<R> {
    /// A decoder for a reply with this head.
    pub(crate) fn new(head: &ReplyHead, reader: R) -> Self {
        let content_type = head
            .headers
            .get(http::header::CONTENT_TYPE)
            .and_then(|value| value.to_str().ok());
        let is_events = content_type.is_some_and(|text| {
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
            is_events,
            mode,
        }
    }

    /// Decides what the body is, as soon as its first bytes tell.
    fn sniff(&mut self, bytes: &[u8]) -> Option<Vec<u8>> {
        let Mode::Sniff(begun) = &mut self.mode else {
            return None;
        };
        let form = if begun.is_empty() {
            form::of(bytes, self.is_events)
        } else {
            begun.extend_from_slice(bytes);
            form::of(begun, self.is_events)
        };
        let Some(form) = form else {
            if begun.is_empty() {
                begun.extend_from_slice(bytes);
            }
            return None;
        };
        let begun = std::mem::take(begun);
        self.mode = match form {
            Form::Events => Mode::Events(Box::default()),
            Form::Json => Mode::Whole(Vec::new()),
            Form::Page => Mode::Page(Vec::new()),
        };
        Some(begun)
    }

    fn read(&mut self, bytes: &[u8], out: &mut Vec<ReplyDelta>) -> Result<(), LlmError> {
        let Self {
            failure,
            template,
            reader,
            mode,
            ..
        } = self;
        match mode {
            Mode::Events(_) if reader.is_done() => {}
            Mode::Events(sse) => {
                let read = sse.feed(bytes, |event| hand_on(reader, template, failure, event, out));
                return read.map_err(|stop| ended(reader, failure, stop, out));
            }
            Mode::Whole(body) if body.len().saturating_add(bytes.len()) > LONGEST_REPLY => {
                let message = format!("the reply is larger than the limit of {LONGEST_REPLY} bytes");
                return Err(failure.note(LlmError::new(LlmErrorKind::Malformed, message)));
            }
            Mode::Whole(body) => body.extend_from_slice(bytes),
            Mode::Page(body) | Mode::Failure(body) => {
                let room = LONGEST_FAILURE.saturating_sub(body.len());
                body.extend_from_slice(&bytes[..bytes.len().min(room)]);
            }
            Mode::Sniff(_) | Mode::Over => {}
        }
        Ok(())
    }

    fn finish_events(&mut self, mut sse: SseDecoder, close: Close, out: &mut Vec<ReplyDelta>) -> Result<(), LlmError> {
        let Self {
            failure,
            template,
            reader,
            ..
        } = self;
        if !reader.is_done() {
            sse.finish(|event| hand_on(reader, template, failure, event, out))
                .map_err(|stop| ended(reader, failure, stop, out))?;
        }
        if reader.is_done() || reader.is_finished() {
            return Ok(());
        }
        reader.flush(out);
        Err(match close {
            Close::Clean => truncated(failure),
            Close::Reset => failure.broken(),
        })
    }

    /// What a whole reply says; nothing when it cannot be read.
    fn finish_whole(&mut self, body: &[u8], close: Close, out: &mut Vec<ReplyDelta>) -> Result<(), LlmError> {
        let body = body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body);
        let body = form::after_comments(body).unwrap_or(body);
        let begin = out.len();
        match self.reader.whole(body, &self.failure, out) {
            Ok(()) => Ok(()),
            Err(WholeFault::Failed(error)) => Err(error),
            Err(WholeFault::Unreadable(error)) => {
                out.truncate(begin);
                Err(match close {
                    Close::Reset => self.failure.broken(),
                    Close::Clean => {
                        let message = format!("the reply is no {}: {error}", R::REPLY);
                        self.failure.malformed(message, body)
                    }
                })
            }
        }
    }

    /// Something that is no answer at all.
    fn page(&self, body: &[u8]) -> LlmError {
        let message = match FailureReader::words_of(body) {
            Some(words) => format!("the server answered with something that is no {}: {words}", R::REPLY),
            None => "the server's answer is empty".to_owned(),
        };
        self.failure.malformed(message, body)
    }
}

impl<R: EventReader> Decoder<Chat> for EventReply<R> {
    fn feed(&mut self, bytes: &[u8], items: &mut Vec<ReplyDelta>) -> Result<(), LlmError> {
        if let Some(begun) = self.sniff(bytes).filter(|begun| !begun.is_empty()) {
            return self.read(&begun, items);
        }
        self.read(bytes, items)
    }

    fn finish(&mut self, close: Close, items: &mut Vec<ReplyDelta>) -> Result<(), LlmError> {
        match std::mem::replace(&mut self.mode, Mode::Over) {
            Mode::Failure(body) => Err(self.failure.read(&body)),
            Mode::Events(sse) => self.finish_events(*sse, close, items),
            Mode::Whole(body) => self.finish_whole(&body, close, items),
            Mode::Sniff(_) | Mode::Page(_) if close == Close::Reset => Err(self.failure.broken()),
            Mode::Sniff(begun) if begins_a_stream(&begun, self.is_events) => Err(truncated(&self.failure)),
            Mode::Sniff(body) | Mode::Page(body) => Err(self.page(&body)),
            Mode::Over => Ok(()),
        }
    }

    fn is_done(&self) -> bool {
        matches!(self.mode, Mode::Events(_)) && self.reader.is_done()
    }
}

/// Whether these bytes, too few to tell what they are, are the begin of an event stream. Comments are of nothing else.
fn begins_a_stream(begun: &[u8], is_events: bool) -> bool {
    let begun = begun.trim_ascii_start();
    let fields: [&[u8]; 4] = [b"data: [DONE]", b"event:", b"id:", b"retry:"];
    begun.starts_with(b":") || (is_events && fields.iter().any(|field| field.starts_with(begun)))
}

/// Why the reading of events stopped.
enum Stop {
    TooLong(SseTooLong),
    Failed(LlmError),
}

impl From<SseTooLong> for Stop {
    fn from(error: SseTooLong) -> Self {
        Self::TooLong(error)
    }
}

/// Hands an event to the reader, unless it is but the last one with another text. Pings have no data; some gateways send comments on as data.
fn hand_on<R: EventReader>(
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
    // The stream ended within this event: nothing in it counts, not even what stands before the cut.
    if event.unterminated && is_cut(data) {
        return Ok(());
    }
    if let Some(delta) = template.read(event.name, data) {
        reader.heard(&delta);
        out.push(delta);
        return Ok(());
    }
    template.clear();
    let event = Event {
        name: event.name,
        data,
        unterminated: event.unterminated,
    };
    if let Some(text) = reader.event(&event, failure, out).map_err(Stop::Failed)? {
        template.learn(event.name, data, text);
    }
    Ok(())
}

/// Whether these bytes begin JSON that has no end.
fn is_cut(data: &[u8]) -> bool {
    serde_json::from_slice::<serde::de::IgnoredAny>(data).is_err_and(|error| error.is_eof())
}

/// Tells what was held back before the error.
fn ended<R: EventReader>(reader: &mut R, failure: &FailureReader, stop: Stop, out: &mut Vec<ReplyDelta>) -> LlmError {
    reader.flush(out);
    match stop {
        Stop::Failed(error) => error,
        Stop::TooLong(error) => {
            failure.note(LlmError::new(LlmErrorKind::Malformed, error.to_string()).with_source(error))
        }
    }
}

fn truncated(failure: &FailureReader) -> LlmError {
    let message = "the stream ended without a finish reason and without its terminal marker";
    failure.note(LlmError::new(LlmErrorKind::Truncated, message))
}

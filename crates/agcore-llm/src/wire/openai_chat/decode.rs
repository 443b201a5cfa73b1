//! [`ChatDecoder`]: the bytes of a reply to deltas, for streams, whole replies and failures alike.

mod call;
mod chunk;
mod content;
pub(super) mod details;
mod finish;
mod form;
mod lenient;
mod message;
mod said;
mod state;
mod template;
mod usage;

use std::borrow::Cow;

use self::{chunk::Summary, form::Form, state::State, template::Template};
use crate::{
    delta::ReplyDelta,
    error::{LlmError, LlmErrorKind},
    sse::{SseDecoder, SseEvent, SseTooLong},
    wire::{Chat, Close, Decoder, ReplyHead, failure::FailureReader},
};

/// The largest whole reply that is read, in bytes.
const LONGEST_REPLY: usize = 256 << 20;

/// How much of a failure's body is read, in bytes.
const LONGEST_FAILURE: usize = 1 << 20;

/// Reads one reply of the Chat Completions API.
#[derive(Debug)]
pub(super) struct ChatDecoder {
    failure: FailureReader,
    vendor: Cow<'static, str>,
    /// Whether the content type says that it is an event stream.
    is_events: bool,
    mode: Mode,
}

#[derive(Debug)]
enum Mode {
    /// The first bytes did not tell yet what it is.
    Sniff(Vec<u8>),
    Events(Box<Events>),
    /// A whole reply, or an error in its place.
    Whole(Vec<u8>),
    /// No answer.
    Page(Vec<u8>),
    /// The body of an HTTP error.
    Failure(Vec<u8>),
    /// Everything is said.
    Over,
}

impl ChatDecoder {
    /// A decoder for a reply with this head; what a vendor wants back is kept under the name `vendor`.
    pub(super) fn new(head: &ReplyHead, vendor: Cow<'static, str>) -> Self {
        let content_type = head
            .headers
            .get(http::header::CONTENT_TYPE)
            .and_then(|value| value.to_str().ok());
        let is_events = content_type.is_some_and(|text| text.trim_start().starts_with("text/event-stream"));
        let mode = if head.status.is_success() {
            Mode::Sniff(Vec::new())
        } else {
            Mode::Failure(Vec::new())
        };
        Self {
            failure: FailureReader::new(head),
            vendor,
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
            Form::Events => Mode::Events(Box::new(Events::new(self.failure.clone(), self.vendor.clone()))),
            Form::Json => Mode::Whole(Vec::new()),
            Form::Page => Mode::Page(Vec::new()),
        };
        Some(begun)
    }

    fn read(&mut self, bytes: &[u8], out: &mut Vec<ReplyDelta>) -> Result<(), LlmError> {
        match &mut self.mode {
            Mode::Events(events) => return events.feed(bytes, out),
            Mode::Whole(body) if body.len().saturating_add(bytes.len()) > LONGEST_REPLY => {
                let message = format!("the reply is larger than the limit of {LONGEST_REPLY} bytes");
                return Err(self.failure.note(LlmError::new(LlmErrorKind::Malformed, message)));
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

    /// A whole reply: the same reader as for a chunk, and what a whole reply must hold.
    fn whole(&mut self, body: &[u8], close: Close, out: &mut Vec<ReplyDelta>) -> Result<(), LlmError> {
        let body = body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body);
        if let Some(error) = listed_error(&self.failure, body) {
            return Err(error);
        }
        let mut state = State::new(self.vendor.clone(), true);
        let begin = out.len();
        let summary = match chunk::read(body, &mut state, out) {
            Ok(summary) => summary,
            Err(error) => {
                out.truncate(begin);
                return Err(self.unreadable(body, close, &error));
            }
        };
        if let Some(error) = failed(&self.failure, body, &summary) {
            state.flush(out);
            return Err(error);
        }
        if !summary.has_choices {
            let message = "the reply is JSON, but no answer: it has no choices";
            return Err(self.malformed(message.into(), body));
        }
        state.finish_all(out);
        Ok(())
    }

    fn unreadable(&self, body: &[u8], close: Close, error: &serde_json::Error) -> LlmError {
        match close {
            Close::Reset => self.failure.broken(),
            Close::Clean => self.malformed(format!("the reply is no chat completion: {error}"), body),
        }
    }

    /// Something that is no answer at all.
    fn page(&self, body: &[u8]) -> LlmError {
        let message = match FailureReader::words_of(body) {
            Some(words) => {
                format!("the server answered with something that is no chat completion: {words}")
            }
            None => "the server's answer is empty".to_owned(),
        };
        self.malformed(message, body)
    }

    fn malformed(&self, message: String, body: &[u8]) -> LlmError {
        self.failure.malformed(message, body)
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
        let is_empty_stream = |begun: &[u8]| begun.trim_ascii().is_empty() || b"data: [DONE]".starts_with(begun);
        match std::mem::replace(&mut self.mode, Mode::Over) {
            Mode::Failure(body) => Err(self.failure.read(&body)),
            Mode::Events(mut events) => events.finish(close, items),
            Mode::Whole(body) => self.whole(&body, close, items),
            Mode::Sniff(_) | Mode::Page(_) if close == Close::Reset => Err(self.failure.broken()),
            Mode::Sniff(begun) if self.is_events && is_empty_stream(&begun) => Err(truncated(&self.failure)),
            Mode::Sniff(body) | Mode::Page(body) => Err(self.page(&body)),
            Mode::Over => Ok(()),
        }
    }

    fn is_done(&self) -> bool {
        matches!(&self.mode, Mode::Events(events) if events.is_done)
    }
}

/// A stream of events.
#[derive(Debug)]
struct Events {
    sse: SseDecoder,
    rest: EventReader,
    is_done: bool,
}

/// What reads the data of events.
#[derive(Debug)]
struct EventReader {
    state: State,
    template: Template,
    failure: FailureReader,
}

impl Events {
    fn new(failure: FailureReader, vendor: Cow<'static, str>) -> Self {
        let rest = EventReader {
            state: State::new(vendor, false),
            template: Template::default(),
            failure,
        };
        Self {
            sse: SseDecoder::new(),
            rest,
            is_done: false,
        }
    }

    fn feed(&mut self, bytes: &[u8], out: &mut Vec<ReplyDelta>) -> Result<(), LlmError> {
        if self.is_done {
            return Ok(());
        }
        let Self { sse, rest, is_done } = self;
        sse.feed(bytes, |event| rest.event(event, is_done, out))
            .map_err(|stop| rest.ended(stop, out))
    }

    fn finish(&mut self, close: Close, out: &mut Vec<ReplyDelta>) -> Result<(), LlmError> {
        let Self { sse, rest, is_done } = self;
        if !*is_done {
            sse.finish(|event| rest.event(event, is_done, out))
                .map_err(|stop| rest.ended(stop, out))?;
        }
        if *is_done || rest.state.is_finished() {
            return Ok(());
        }
        rest.state.flush(out);
        Err(match close {
            Close::Clean => truncated(&rest.failure),
            Close::Reset => rest.failure.broken(),
        })
    }
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

impl EventReader {
    fn event(&mut self, event: SseEvent<'_>, is_done: &mut bool, out: &mut Vec<ReplyDelta>) -> Result<(), Stop> {
        let data = event.data.trim_ascii();
        // Pings have no data; some gateways send comments on as data.
        if *is_done || data.is_empty() || data.starts_with(b":") {
            return Ok(());
        }
        if event.name.is_empty()
            && let Some((choice, text)) = self.template.text(data)
        {
            out.push(ReplyDelta::Text {
                choice,
                text: text.into(),
            });
            return Ok(());
        }
        self.template.clear();
        if data == b"[DONE]" {
            *is_done = true;
            self.state.finish_all(out);
            return Ok(());
        }
        if event.name == b"error" {
            return Err(Stop::Failed(self.failure.read(data)));
        }
        if let Some(error) = listed_error(&self.failure, data) {
            return Err(Stop::Failed(error));
        }
        let begin = out.len();
        match chunk::read(data, &mut self.state, out) {
            Ok(summary) => match failed(&self.failure, data, &summary) {
                Some(error) => Err(Stop::Failed(error)),
                None => {
                    if let Some(text) = summary.only_text {
                        self.template.learn(data, text);
                    }
                    Ok(())
                }
            },
            Err(error) => {
                out.truncate(begin);
                // The stream ended within this event: the cut is the fault, not the JSON.
                if event.unterminated {
                    return Ok(());
                }
                let message = format!("an event of the stream is no chunk of a chat completion: {error}");
                Err(Stop::Failed(self.failure.malformed(message, data)))
            }
        }
    }

    /// Tells what was held back before the error.
    fn ended(&mut self, stop: Stop, out: &mut Vec<ReplyDelta>) -> LlmError {
        self.state.flush(out);
        match stop {
            Stop::Failed(error) => error,
            Stop::TooLong(error) => self
                .failure
                .note(LlmError::new(LlmErrorKind::Malformed, error.to_string()).with_source(error)),
        }
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
    if summary.is_flat_error {
        return Some(failure.read(data));
    }
    let message = "the server ended the answer with the finish reason `error`";
    summary
        .finished_with_error
        .then(|| failure.note(LlmError::new(LlmErrorKind::Server, message)))
}

fn truncated(failure: &FailureReader) -> LlmError {
    let message = "the stream ended without a finish reason and without its terminal marker";
    failure.note(LlmError::new(LlmErrorKind::Truncated, message))
}

//! [`FailureReader`]: one tolerant reader for everything by which servers say that they failed.
//!
//! Status, headers and body in, [`LlmError`] out, for HTTP errors as well as for errors inside a 200. It classifies by
//! codes and types of a precise meaning, then by status, then by wording (one table, looked at last); money before rate
//! limits, throttling before overlong prompts. `docs/errors.md` has the table of kinds.

mod body;
mod classify;
mod codes;
mod duration;
mod headers;
mod hints;
mod numbers;
mod page;
mod redact;
mod wording;

use agcore_chat::floor_boundary;

use self::{body::ErrorBody, headers::UsefulHeaders};
use crate::{
    error::{LlmError, LlmErrorKind},
    wire::ReplyHead,
};

/// Longest message of a server that is taken over, in bytes.
const LONGEST_MESSAGE: usize = 2000;

/// Reads the errors of one reply. Cheap to make and to keep: it copies the few useful headers.
#[derive(Debug, Clone)]
pub struct FailureReader {
    /// The HTTP status, unless it says success.
    status: Option<u16>,
    headers: UsefulHeaders,
}

impl FailureReader {
    /// A reader for a reply with this head.
    pub fn new(head: &ReplyHead) -> Self {
        let status = (!head.status.is_success()).then_some(head.status.as_u16());
        Self {
            status,
            headers: UsefulHeaders::of(&head.headers),
        }
    }

    /// The error that a body, or the data of an event, tells. Whatever the bytes are, there is an error.
    pub fn read(&self, body: &[u8]) -> LlmError {
        self.read_or(body, LlmErrorKind::Unknown)
    }

    /// The same, of this kind where nothing tells the kind.
    pub fn read_or(&self, body: &[u8], otherwise: LlmErrorKind) -> LlmError {
        let told = ErrorBody::read(body);
        let status = self.status.or(told.status);
        let mut verdict = classify::classify(status, &told);
        if verdict.kind == LlmErrorKind::Unknown {
            verdict.kind = otherwise;
        }
        let message = match &told.message {
            Some(message) => redact::redact(clipped(message)).into_owned(),
            None => without_words(&verdict.kind, status),
        };
        let mut error = LlmError::new(verdict.kind, message).with_body(&excerpt(body));
        if let Some(status) = status {
            error = error.with_status(status);
        }
        if let Some(retryable) = self.headers.should_retry().or(verdict.retryable) {
            error = error.with_retryable(retryable);
        }
        let quota = *error.kind() == LlmErrorKind::QuotaExhausted;
        let wait = if quota {
            None
        } else {
            hints::retry_after(&self.headers, &told)
        };
        self.dress(error.with_retry_after(wait).with_request_id(told.request_id))
    }

    /// An error of our own about this reply, with its headers and ids.
    pub fn note(&self, error: LlmError) -> LlmError {
        self.dress(error)
    }

    /// An answer that is not of the expected form.
    pub fn malformed(&self, message: String, body: &[u8]) -> LlmError {
        self.dress(LlmError::new(LlmErrorKind::Malformed, message).with_body(&excerpt(body)))
    }

    /// The connection broke before the reply was whole.
    pub fn broken(&self) -> LlmError {
        self.note(LlmError::new(
            LlmErrorKind::Connect,
            "the connection broke before the reply was whole",
        ))
    }

    /// What a page or text that is no answer says, in a few words.
    pub fn words_of(body: &[u8]) -> Option<String> {
        let text = String::from_utf8_lossy(body);
        page::words(&text).map(|words| redact::redact(&words).into_owned())
    }

    fn dress(&self, error: LlmError) -> LlmError {
        error
            .with_headers(self.headers.to_vec())
            .with_request_id(self.headers.request_id())
    }
}

/// The error of a reply with this head and this body.
///
/// ```
/// use agcore_llm::{error::LlmErrorKind, wire::{ReplyHead, failure::read_failure}};
///
/// let mut head = ReplyHead { status: http::StatusCode::TOO_MANY_REQUESTS, ..ReplyHead::default() };
/// head.headers.insert("retry-after", http::HeaderValue::from_static("20"));
/// let error = read_failure(&head, br#"{"error": {"message": "slow down"}}"#);
/// assert_eq!(error.kind(), &LlmErrorKind::RateLimit);
/// assert_eq!(error.retry_after(), Some(std::time::Duration::from_secs(20)));
/// ```
pub fn read_failure(head: &ReplyHead, body: &[u8]) -> LlmError {
    FailureReader::new(head).read(body)
}

/// The beginning of a body, without keys.
fn excerpt(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(&body[..body.len().min(LONGEST_MESSAGE)]);
    redact::redact(&text).into_owned()
}

fn clipped(message: &str) -> &str {
    &message[..floor_boundary(message, LONGEST_MESSAGE)]
}

/// What to say when the server says nothing.
fn without_words(kind: &LlmErrorKind, status: Option<u16>) -> String {
    let why = match kind {
        LlmErrorKind::Authentication => "the server refused the key: set a valid one",
        LlmErrorKind::Permission => "the key may not do this",
        LlmErrorKind::NotFound => "the server knows no such model or path: check model and base URL",
        LlmErrorKind::InvalidRequest => "the server refused the request as it is",
        LlmErrorKind::ContextLength { .. } => "the conversation is too long for the model: shorten it",
        LlmErrorKind::ContentFilter => "a filter of the server refused the input or the answer",
        LlmErrorKind::RateLimit => "too many requests or tokens for now: wait and try again",
        LlmErrorKind::QuotaExhausted => "the account's money or allowance is used up",
        LlmErrorKind::Overloaded => "the server is overloaded or not ready: try again later",
        LlmErrorKind::Timeout(_) => "the server ran out of time: try again",
        LlmErrorKind::Server => "the server failed",
        _ => "the server reports an error that says nothing",
    };
    match status {
        Some(status) if matches!(status, 300..=399) => {
            format!("the server redirects (status {status}): set the base URL to where it points")
        }
        _ => why.to_owned(),
    }
}

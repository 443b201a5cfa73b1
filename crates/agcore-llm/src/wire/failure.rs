//! [`FailureReader`]: one tolerant reader for everything by which servers say that they failed.
//!
//! Status, headers and body in, [`LlmError`] out, for HTTP errors as well as for errors inside a 200. It classifies by
//! codes and types of a precise meaning, then by status, then by wording (one table, looked at last); money before rate
//! limits, throttling before overlong prompts. `docs/errors.md` has the table of kinds.

mod binary;
mod body;
mod classify;
mod codes;
mod duration;
mod headers;
mod hints;
mod members;
mod numbers;
mod page;
mod redact;
mod wording;

use agcore_chat::floor_boundary;
use serde_json::{Map, Value};

use self::{body::ErrorBody, headers::UsefulHeaders};
use crate::{
    error::{LlmError, LlmErrorKind},
    wire::ReplyHead,
};

/// Longest message of a server that is taken over, in bytes.
const LONGEST_MESSAGE: usize = 2000;

/// Proxy Authentication Required (RFC 9110).
const PROXY_REFUSES: u16 = 407;

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
        let message = self.message(&verdict.kind, status, &told);
        let mut error = LlmError::new(verdict.kind, message).with_body(&excerpt(body));
        if let Some(status) = status {
            error = error.with_status(status);
        }
        let is_final = classify::is_final(error.kind());
        let advice = self.headers.should_retry().filter(|retry| !(*retry && is_final));
        if let Some(retryable) = advice.or(verdict.retryable) {
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
        let message = match self.encoding().filter(|_| binary::packing(body).is_some()) {
            Some(encoding) => format!("{message} (its content-encoding is {encoding})"),
            None => message,
        };
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
        if let Some(packing) = binary::packing(body) {
            return Some(sized(body, packing));
        }
        let text = String::from_utf8_lossy(body);
        page::words(&text).map(|words| redact::redact(&words).into_owned())
    }

    /// Whether a JSON object that is no answer (one of a chat without `choices`) is itself an error, without a member
    /// `error`: one with a `message`, `msg`, `error_msg`, `detail`, `errors` or the like, MiniMax's `base_resp` with
    /// another code than 0, or a `status` of `error` with a reason. Members that say nothing (null, blank, empty), and a
    /// message that is just `ok` or `success`, never make one.
    pub fn is_flat_error(members: &Map<String, Value>) -> bool {
        members::is_error(members)
    }

    /// What happened, in the server's words where there are any.
    fn message(&self, kind: &LlmErrorKind, status: Option<u16>, told: &ErrorBody) -> String {
        let words = told.message.as_deref().map(|words| redact::redact(clipped(words)));
        match (words, told.packing) {
            // The server's words are the proxy's here, and seldom say who is meant.
            (Some(words), _) if status == Some(PROXY_REFUSES) => format!("{}: {words}", without_words(kind, status)),
            (Some(words), _) => words.into_owned(),
            (None, Some(packing)) => {
                let why = without_words(kind, status);
                match self.encoding() {
                    Some(encoding) => format!("{why} (the body says more, but its content-encoding is {encoding})"),
                    None => format!("{why} (the body says more, but is {packing})"),
                }
            }
            (None, None) => without_words(kind, status),
        }
    }

    /// How the body is compressed, as far as the headers tell.
    fn encoding(&self) -> Option<&str> {
        let encoding = self.headers.get("content-encoding")?;
        (!encoding.is_empty() && !encoding.eq_ignore_ascii_case("identity")).then_some(encoding)
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

/// The beginning of a body, without keys; what is no text is named instead.
fn excerpt(body: &[u8]) -> String {
    if let Some(packing) = binary::packing(body) {
        return sized(body, packing);
    }
    let text = String::from_utf8_lossy(&body[..body.len().min(LONGEST_MESSAGE)]);
    redact::redact(&text).into_owned()
}

/// What stands for a body that is no text.
fn sized(body: &[u8], packing: &str) -> String {
    format!("{} bytes, {packing}", body.len())
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
        Some(PROXY_REFUSES) => {
            "a proxy wants credentials, or others: put user name and password into the proxy's URL".to_owned()
        }
        _ => why.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use http::{HeaderName, HeaderValue, StatusCode};

    use super::*;

    fn read(status: u16, headers: &[(&'static str, &'static str)], body: &[u8]) -> LlmError {
        let mut head = ReplyHead {
            status: StatusCode::from_u16(status).unwrap(),
            ..ReplyHead::default()
        };
        for (name, value) in headers {
            let name = HeaderName::from_static(name);
            head.headers.append(name, HeaderValue::from_static(value));
        }
        read_failure(&head, body)
    }

    #[test]
    fn a_server_may_call_for_a_retry_unless_it_is_senseless() {
        let check = |status, advice, code: &str, expected| {
            let body = format!(r#"{{"error": {{"message": "x", "code": "{code}"}}}}"#);
            let error = read(status, &[("x-should-retry", advice)], body.as_bytes());
            assert_eq!(error.is_retryable(), expected, "{status} {advice} {code}");
        };
        check(400, "true", "x", true);
        check(401, "true", "x", true);
        check(500, "false", "x", false);
        check(500, "maybe", "x", true);
        check(429, "true", "insufficient_quota", false);
        check(402, "true", "x", false);
        check(400, "true", "context_length_exceeded", false);
        check(400, "true", "content_filter", false);
        check(429, "false", "insufficient_quota", false);
    }

    #[test]
    fn a_flat_error_says_and_means_something() {
        let check = |status, body: &str, kind, message| {
            let error = read(status, &[], body.as_bytes());
            assert_eq!((error.kind(), error.message()), (&kind, message), "{status} {body}");
        };
        use LlmErrorKind as Kind;
        check(200, r#"{"code": 500, "msg": "boom"}"#, Kind::Server, "boom");
        check(200, r#"{"error_code": 1, "error_msg": "boom"}"#, Kind::Unknown, "boom");
        check(
            401,
            r#"{"error": "invalid_token", "error_description": "expired"}"#,
            Kind::Authentication,
            "expired",
        );
        check(503, r#"{"title": "down", "status": 503}"#, Kind::Overloaded, "down");
        check(200, r#"{"status": "error", "reason": "boom"}"#, Kind::Unknown, "boom");
        check(400, r#"{"title": "bad", "detail": "why"}"#, Kind::InvalidRequest, "why");
        check(200, r#"{"code": 200, "msg": "boom"}"#, Kind::Unknown, "boom");
        check(
            200,
            r#"{"errors": [{"message": "boom", "code": 503}]}"#,
            Kind::Overloaded,
            "boom",
        );
        check(
            200,
            r#"{"errors": [{"message": "boom", "code": 1301}]}"#,
            Kind::Unknown,
            "boom",
        );
        check(200, r#"{"Error": {"Message": "boom"}}"#, Kind::Unknown, "boom");
        let minimax = |code: u16, words: &str| {
            format!(r#"{{"base_resp": {{"status_code": {code}, "status_msg": "{words}"}}, "choices": null}}"#)
        };
        check(
            200,
            &minimax(1008, "insufficient balance"),
            Kind::QuotaExhausted,
            "insufficient balance",
        );
        check(200, &minimax(1002, "slow"), Kind::RateLimit, "slow");
        check(200, &minimax(1039, "slow"), Kind::RateLimit, "slow");
        check(200, &minimax(1004, "who?"), Kind::Authentication, "who?");
        check(200, &minimax(1024, "boom"), Kind::Server, "boom");
        check(500, &minimax(0, "success"), Kind::Server, "the server failed");
    }

    #[test]
    fn the_first_member_that_says_something_is_the_message() {
        let check = |body: &str, expected| assert_eq!(read(400, &[], body.as_bytes()).message(), expected, "{body}");
        check(r#"{"message": null, "detail": "said"}"#, "said");
        check(r#"{"error": {"message": "", "detail": "said"}}"#, "said");
        check(r#"{"message": [], "msg": " ", "detail": [{"msg": "said"}]}"#, "said");
        check(r#"{"errors": ["said", "too"]}"#, "said");
        check(r#"{"error": {"code": "x", "details": "said"}}"#, "said");
        check(r#"{"message": "first", "detail": "second"}"#, "first");
        check(
            r#"{"message": null, "error": {}}"#,
            "the server refused the request as it is",
        );
    }

    #[test]
    fn a_moderation_must_say_what_it_flagged() {
        let check = |flagged: &str, kind| {
            let body = format!(r#"{{"error": {{"code": 429, "metadata": {{"flagged_input": {flagged}}}}}}}"#);
            assert_eq!(read(429, &[], body.as_bytes()).kind(), &kind, "{flagged}");
        };
        check(r#""bad words""#, LlmErrorKind::ContentFilter);
        for nothing in ["null", r#""""#, "[]", "false", "{}"] {
            check(nothing, LlmErrorKind::RateLimit);
        }
    }

    #[test]
    fn a_body_that_is_no_text_is_named() {
        let gzip = b"\x1f\x8b\x08\0\0\0\0\0\x02\x03\xc5\x8e";
        let error = read(429, &[("retry-after", "4")], gzip);
        assert_eq!(error.kind(), &LlmErrorKind::RateLimit);
        assert!(error.message().contains("compressed with gzip"), "{error}");
        assert_eq!(error.body_excerpt(), Some("12 bytes, compressed with gzip"));
        assert_eq!(read(400, &[], gzip).kind(), &LlmErrorKind::InvalidRequest);

        let brotli = b"\x8b\x02\x80hello\x03";
        let encoded = [("content-encoding", "br")];
        assert!(
            read(500, &encoded, brotli)
                .message()
                .ends_with("content-encoding is br)")
        );
        assert!(read(500, &[], brotli).message().contains("no text"));
        let text = read(500, &encoded, b"in clear words");
        assert_eq!(text.message(), "in clear words");
        assert_eq!(
            FailureReader::words_of(gzip).as_deref(),
            Some("12 bytes, compressed with gzip")
        );
    }

    #[test]
    fn a_proxy_that_refuses_is_named() {
        for body in ["", "<title>Access Denied</title>"] {
            let error = read(407, &[], body.as_bytes());
            assert_eq!(error.kind(), &LlmErrorKind::Authentication);
            assert!(error.message().starts_with("a proxy wants credentials"), "{error}");
            assert!(!error.is_retryable());
        }
        assert!(read(407, &[], b"no").message().ends_with(": no"));
    }
}

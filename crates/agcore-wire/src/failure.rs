//! [`FailureReader`]: a tolerant parser for the failures that servers report.
//!
//! It turns the status, headers and body of a reply into an [`LlmError`], for HTTP errors and for errors inside a reply
//! with status 200 alike. The kind is determined by codes and types with a precise meaning, then by the status, then by
//! the wording. Exhausted quotas are recognized before rate limits, and throttling before prompts that are too long.
//! `docs/errors.md` lists the kinds.
//!
//! ```
//! use agcore_wire::{LlmErrorKind, ReplyHead, failure::FailureReader};
//!
//! // An error inside a stream, after the head with status 200.
//! let reader = FailureReader::new(&ReplyHead::default());
//! let error = reader.read(br#"{"error": {"message": "Overloaded", "type": "overloaded_error"}}"#);
//! assert_eq!(error.kind(), LlmErrorKind::Overloaded);
//! assert!(error.is_retryable());
//! ```

mod binary;
mod body;
mod classify;
mod codes;
mod duration;
mod headers;
mod hints;
mod integers;
mod members;
mod numbers;
mod output_limit;
mod page;
mod redact;
mod wording;

use agcore_chat::text::{clip, prefix};
use serde_json::{Map, Value};

use self::{body::ErrorBody, headers::UsefulHeaders};
pub use self::{headers::response_metadata, output_limit::OutputLimit};
use crate::{
    error::{LlmError, LlmErrorKind},
    wire::ReplyHead,
};

/// The maximum length of a quotation from a body in a message, in bytes.
const MAX_QUOTE: usize = 80;

/// The maximum length of a server's message in an error, in bytes.
const MAX_MESSAGE: usize = 2000;

/// Proxy Authentication Required (RFC 9110).
const PROXY_AUTHENTICATION_REQUIRED: u16 = 407;

/// A parser for the failures of one reply. Cheap to create and to keep: it copies a few headers.
#[derive(Debug, Clone)]
pub struct FailureReader {
    /// The HTTP status, unless it is a success.
    status: Option<u16>,
    headers: UsefulHeaders,
}

impl FailureReader {
    /// Creates a parser for the reply with this head.
    pub fn new(head: &ReplyHead) -> Self {
        let status = (!head.status.is_success()).then_some(head.status.as_u16());
        Self {
            status,
            headers: UsefulHeaders::new(&head.headers),
        }
    }

    /// Returns the error that a body, or the data of an event, reports. Any bytes result in an error.
    pub fn read(&self, body: &[u8]) -> LlmError {
        self.read_with_fallback(body, LlmErrorKind::Unknown)
    }

    /// Like [`read`](Self::read), with a kind to use if nothing indicates one.
    pub fn read_with_fallback(&self, body: &[u8], fallback: LlmErrorKind) -> LlmError {
        let mut parsed = ErrorBody::parse(body);
        // Amazon names the error in a header; the body has nothing but a message.
        let code = self.headers.get("x-amzn-errortype").filter(|_| self.status.is_some());
        parsed.codes.extend(code.map(str::to_owned));
        let status = self.status.or(parsed.status);
        let mut verdict = classify::classify(status, &parsed);
        if verdict.kind == LlmErrorKind::Unknown {
            verdict.kind = fallback;
        }
        let message = self.message(verdict.kind, status, &parsed);
        let mut error = LlmError::new(verdict.kind, message).with_body(&excerpt(body));
        if let Some(status) = status {
            error = error.with_status(status);
        }
        let is_final = classify::is_final(error.kind());
        let advice = self.headers.should_retry().filter(|retry| !(*retry && is_final));
        if let Some(retryable) = advice.or(verdict.retryable) {
            error = error.with_retryable(retryable);
        }
        let is_quota = error.kind() == LlmErrorKind::QuotaExhausted;
        let wait = if is_quota {
            None
        } else {
            hints::retry_after(&self.headers, &parsed)
        };
        self.annotate(error.with_retry_after(wait).with_request_id(parsed.request_id))
    }

    /// Adds the useful headers and the request id of the reply to an error.
    pub fn annotate(&self, error: LlmError) -> LlmError {
        error
            .with_headers(self.headers.to_vec())
            .with_request_id(self.headers.request_id())
    }

    /// Returns a `Malformed` error about a body that does not have the expected form, and quotes its beginning.
    pub fn malformed(&self, message: String, body: &[u8]) -> LlmError {
        let message = match quote(body) {
            Some(quote) => format!("{message} (received `{quote}`)"),
            None => message,
        };
        self.malformed_without_quote(message, body)
    }

    fn malformed_without_quote(&self, message: String, body: &[u8]) -> LlmError {
        let message = match self.encoding().filter(|_| binary::detect(body).is_some()) {
            Some(encoding) => format!("{message} (its content-encoding is {encoding})"),
            None => message,
        };
        self.annotate(LlmError::new(LlmErrorKind::Malformed, message).with_body(&excerpt(body)))
    }

    /// Returns a `Malformed` error about a page or text that was sent instead of a reply. `expected` names the reply:
    /// "chat completion".
    ///
    /// A text is retryable: no part of an answer was received, and such texts usually come from a gateway whose server is
    /// starting or overloaded. Web pages, compressed and other binary data are not retryable, because the server would send
    /// the same again.
    pub fn unexpected_page(&self, expected: &str, body: &[u8]) -> LlmError {
        self.malformed_without_quote(Self::unexpected(expected, body), body)
            .with_retryable(binary::detect(body).is_none() && !page::is_html(body))
    }

    /// Describes a page, a text or other data that was sent instead of a reply.
    pub(crate) fn unexpected(expected: &str, body: &[u8]) -> String {
        let summary = Self::summary(body);
        match summary {
            summary if page::is_html(body) => page::message(&format!("a {expected}"), summary.as_deref()),
            Some(summary) => format!("expected a {expected}, but the server sent: {summary}"),
            None => format!("expected a {expected}, but the reply is empty"),
        }
    }

    /// Returns a `Malformed` error about a reply that is larger than `limit` bytes.
    pub fn too_large(&self, limit: usize) -> LlmError {
        let message = format!("the reply is larger than the limit of {limit} bytes");
        self.annotate(LlmError::new(LlmErrorKind::Malformed, message))
    }

    /// Returns a `Connect` error about a connection that was lost before the reply was complete.
    pub fn connection_lost(&self) -> LlmError {
        self.annotate(LlmError::new(
            LlmErrorKind::Connect,
            "the connection was lost before the reply was complete",
        ))
    }

    /// Summarizes a page or text in a few words; `None` if it is empty, or JSON that is incomplete.
    pub fn summary(body: &[u8]) -> Option<String> {
        if let Some(description) = binary::detect(body) {
            return Some(size_and(body, description));
        }
        let text = String::from_utf8_lossy(body);
        page::summary(&text).map(|summary| redact::redact(&summary).into_owned())
    }

    /// Returns whether a JSON object that is not a reply (a chat completion without `choices`, say) is an error, although
    /// it has no member `error`.
    ///
    /// It is if it has a `message`, `msg`, `error_msg`, `detail`, `errors` or the like, if it has MiniMax's `base_resp`
    /// with a code other than 0, or if it has a `status` of `error` with a reason. Blank members and messages that are
    /// just `ok` or `success` do not count.
    pub fn is_flat_error(members: &Map<String, Value>) -> bool {
        members::is_error(members)
    }

    /// Returns the message of the error, in the server's words if there are any.
    fn message(&self, kind: LlmErrorKind, status: Option<u16>, body: &ErrorBody) -> String {
        let message = body.message.as_deref();
        let message = message.map(|message| redact::redact(prefix(message, MAX_MESSAGE)));
        match (message, body.binary) {
            // The title alone, such as `404 Not Found`, does not state that this is not an API at all.
            (title, _) if body.is_page && classify::is_unknown_path(status) => {
                page::message("the reply of an API", title.as_deref())
            }
            // This is the proxy's message, which rarely makes clear who refused the request.
            (Some(message), _) if status == Some(PROXY_AUTHENTICATION_REQUIRED) => {
                format!("{}: {message}", default_message(kind, status))
            }
            (Some(message), _) => message.into_owned(),
            (None, Some(description)) => {
                let default = default_message(kind, status);
                match self.encoding() {
                    Some(encoding) => format!("{default} (the body is unreadable: its content-encoding is {encoding})"),
                    None => format!("{default} (the body is unreadable: {description})"),
                }
            }
            (None, None) => default_message(kind, status),
        }
    }

    /// Returns the compression of the body according to the headers.
    fn encoding(&self) -> Option<&str> {
        let encoding = self.headers.get("content-encoding")?;
        (!encoding.is_empty() && !encoding.eq_ignore_ascii_case("identity")).then_some(encoding)
    }
}

/// Returns the error that a reply with this head and this body reports.
///
/// ```
/// use agcore_wire::{LlmErrorKind, ReplyHead, failure::read_failure};
///
/// let mut head = ReplyHead { status: http::StatusCode::TOO_MANY_REQUESTS, ..ReplyHead::default() };
/// head.headers.insert("retry-after", http::HeaderValue::from_static("20"));
/// let error = read_failure(&head, br#"{"error": {"message": "slow down"}}"#);
/// assert_eq!(error.kind(), LlmErrorKind::RateLimit);
/// assert_eq!(error.retry_after(), Some(std::time::Duration::from_secs(20)));
/// ```
pub fn read_failure(head: &ReplyHead, body: &[u8]) -> LlmError {
    FailureReader::new(head).read(body)
}

/// Returns whether a server refused a request because it offers tools and asks for JSON at once, as Groq and Gemini do. The
/// same request without one of them may succeed.
///
/// ```
/// use agcore_wire::{ReplyHead, failure::{is_format_with_tools_refused, read_failure}};
///
/// let head = ReplyHead { status: http::StatusCode::BAD_REQUEST, ..ReplyHead::default() };
/// let body = br#"{"error": {"message": "json mode cannot be combined with tool/function calling"}}"#;
/// assert!(is_format_with_tools_refused(&read_failure(&head, body)));
/// ```
pub fn is_format_with_tools_refused(error: &LlmError) -> bool {
    error.kind() == LlmErrorKind::InvalidRequest
        && (wording::is_format_with_tools(error.message())
            || error.body_excerpt().is_some_and(wording::is_format_with_tools))
}

/// Returns the beginning of a body without keys, or a description of a body that is not text.
fn excerpt(body: &[u8]) -> String {
    if let Some(description) = binary::detect(body) {
        return size_and(body, description);
    }
    let text = String::from_utf8_lossy(&body[..body.len().min(MAX_MESSAGE)]);
    redact::redact(&text).into_owned()
}

/// Returns the beginning of a body without keys, on one line; `None` if there is nothing to quote.
fn quote(body: &[u8]) -> Option<String> {
    if binary::detect(body).is_some() {
        return None;
    }
    let text = String::from_utf8_lossy(&body[..body.len().min(MAX_MESSAGE)]);
    let line = redact::redact(&text).split_whitespace().collect::<Vec<_>>().join(" ");
    (!line.is_empty()).then(|| clip(&line, MAX_QUOTE).into_owned())
}

fn size_and(body: &[u8], description: &str) -> String {
    format!("{} bytes, {description}", body.len())
}

/// Returns the message for a failure without one.
fn default_message(kind: LlmErrorKind, status: Option<u16>) -> String {
    let message = match kind {
        LlmErrorKind::Authentication => "the server rejected the API key: set a valid one",
        LlmErrorKind::Permission => "the API key does not have permission for this request",
        LlmErrorKind::NotFound => "the server knows no such model or path: check the model and the base URL",
        LlmErrorKind::InvalidRequest => "the server rejected the request as invalid",
        LlmErrorKind::ContextLength { .. } => "the conversation is too long for the model: shorten it",
        LlmErrorKind::ContentFilter => "a content filter of the server refused the input or the reply",
        LlmErrorKind::RateLimit => "the rate limit is reached: wait and try again",
        LlmErrorKind::QuotaExhausted => "the quota or balance of the account is exhausted",
        LlmErrorKind::Overloaded => "the server is overloaded or not ready: try again later",
        LlmErrorKind::Timeout(_) => "the server reported a timeout: try again",
        LlmErrorKind::Server => "the server failed",
        _ => "the server reported an error without details",
    };
    match status {
        Some(status @ 300..=399) => {
            format!("the server redirects (status {status}): set the base URL to the redirect's target")
        }
        Some(PROXY_AUTHENTICATION_REQUIRED) => {
            "the proxy requires valid credentials: put the user name and password into the proxy's URL".to_owned()
        }
        _ => message.to_owned(),
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
    fn a_server_may_request_a_retry_unless_it_is_pointless() {
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
    fn reads_flat_errors() {
        let check = |status, body: &str, kind, message| {
            let error = read(status, &[], body.as_bytes());
            assert_eq!((error.kind(), error.message()), (kind, message), "{status} {body}");
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
        let minimax = |code: u16, message: &str| {
            format!(r#"{{"base_resp": {{"status_code": {code}, "status_msg": "{message}"}}, "choices": null}}"#)
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
    fn the_first_non_blank_member_is_the_message() {
        let check = |body: &str, expected| assert_eq!(read(400, &[], body.as_bytes()).message(), expected, "{body}");
        check(r#"{"message": null, "detail": "boom"}"#, "boom");
        check(r#"{"error": {"message": "", "detail": "boom"}}"#, "boom");
        check(r#"{"message": [], "msg": " ", "detail": [{"msg": "boom"}]}"#, "boom");
        check(r#"{"errors": ["boom", "too"]}"#, "boom");
        check(r#"{"error": {"code": "x", "details": "boom"}}"#, "boom");
        check(r#"{"message": "first", "detail": "second"}"#, "first");
        check(
            r#"{"message": null, "error": {}}"#,
            "the server rejected the request as invalid",
        );
    }

    #[test]
    fn a_moderation_result_must_name_what_it_flagged() {
        let check = |flagged: &str, kind| {
            let body = format!(r#"{{"error": {{"code": 429, "metadata": {{"flagged_input": {flagged}}}}}}}"#);
            assert_eq!(read(429, &[], body.as_bytes()).kind(), kind, "{flagged}");
        };
        check(r#""bad words""#, LlmErrorKind::ContentFilter);
        for nothing in ["null", r#""""#, "[]", "false", "{}"] {
            check(nothing, LlmErrorKind::RateLimit);
        }
    }

    #[test]
    fn describes_a_body_that_is_not_text() {
        let gzip = b"\x1f\x8b\x08\0\0\0\0\0\x02\x03\xc5\x8e";
        let error = read(429, &[("retry-after", "4")], gzip);
        assert_eq!(error.kind(), LlmErrorKind::RateLimit);
        assert!(error.message().contains("compressed with gzip"), "{error}");
        assert_eq!(error.body_excerpt(), Some("12 bytes, compressed with gzip"));
        assert_eq!(read(400, &[], gzip).kind(), LlmErrorKind::InvalidRequest);

        let brotli = b"\x8b\x02\x80hello\x03";
        let encoded = [("content-encoding", "br")];
        assert!(
            read(500, &encoded, brotli)
                .message()
                .ends_with("content-encoding is br)")
        );
        assert!(read(500, &[], brotli).message().contains("not text"));
        let text = read(500, &encoded, b"in clear words");
        assert_eq!(text.message(), "in clear words");
        assert_eq!(
            FailureReader::summary(gzip).as_deref(),
            Some("12 bytes, compressed with gzip")
        );
    }

    #[test]
    fn names_the_proxy_that_refused() {
        for body in ["", "<title>Access Denied</title>"] {
            let error = read(407, &[], body.as_bytes());
            assert_eq!(error.kind(), LlmErrorKind::Authentication);
            assert!(
                error.message().starts_with("the proxy requires valid credentials"),
                "{error}"
            );
            assert!(!error.is_retryable());
        }
        assert!(read(407, &[], b"no").message().ends_with(": no"));
    }
}

//! Failures of servers: kinds, messages, retries and hints.

use std::time::Duration;

use agcore_wire::{LlmError, LlmErrorKind, ReplyHead, TimeoutStage, failure::read_failure};
use http::{HeaderName, HeaderValue, StatusCode};
use proptest::prelude::*;

const TOO_LONG: LlmErrorKind = LlmErrorKind::ContextLength {
    limit: None,
    requested: None,
};

fn head(status: u16, headers: &[(&str, &str)]) -> ReplyHead {
    let mut head = ReplyHead {
        status: StatusCode::from_u16(status).unwrap(),
        ..ReplyHead::default()
    };
    for (name, value) in headers {
        head.headers.append(
            name.parse::<HeaderName>().unwrap(),
            HeaderValue::from_str(value).unwrap(),
        );
    }
    head
}

fn failure(status: u16, body: &str) -> LlmError {
    read_failure(&head(status, &[]), body.as_bytes())
}

fn check(status: u16, body: &str, expected: LlmErrorKind) {
    assert_eq!(failure(status, body).kind(), expected, "{status} {body}");
}

#[test]
fn the_status_determines_the_kind_if_the_body_is_vague() {
    use LlmErrorKind as Kind;
    for (status, expected) in [
        (301, Kind::NotFound),
        (401, Kind::Authentication),
        (402, Kind::QuotaExhausted),
        (403, Kind::Permission),
        (404, Kind::NotFound),
        (408, Kind::Timeout(TimeoutStage::Total)),
        (409, Kind::InvalidRequest),
        (413, TOO_LONG),
        (418, Kind::InvalidRequest),
        (422, Kind::InvalidRequest),
        (429, Kind::RateLimit),
        (500, Kind::Server),
        (503, Kind::Overloaded),
        (504, Kind::Server),
        (529, Kind::Overloaded),
    ] {
        check(status, r#"{"error": {"message": "no"}}"#, expected);
    }
    check(400, "", TOO_LONG);
}

#[test]
fn a_precise_code_overrides_the_status() {
    let code = |code: &str| format!(r#"{{"error": {{"message": "no", "code": "{code}"}}}}"#);
    check(500, &code("context_length_exceeded"), TOO_LONG);
    check(429, &code("insufficient_quota"), LlmErrorKind::QuotaExhausted);
    check(400, &code("tool_use_failed"), LlmErrorKind::InvalidToolCall);
    check(400, &code("content_filter"), LlmErrorKind::ContentFilter);
    check(400, &code("invalid_api_key"), LlmErrorKind::Authentication);
    check(429, &code("engine_overloaded_error"), LlmErrorKind::Overloaded);
    check(503, &code("server_error"), LlmErrorKind::Overloaded);
}

#[test]
fn reads_bodies_of_every_shape() {
    let check = |body: &str, expected: &str| assert_eq!(failure(400, body).message(), expected, "{body}");
    check(r#"{"error": {"message": "nested"}}"#, "nested");
    check(r#"{"message": "flat", "type": "x"}"#, "flat");
    check(r#"{"error": "bare"}"#, "bare");
    check(r#""just a string""#, "just a string");
    check(r#"[{"error": {"message": "in an array"}}]"#, "in an array");
    check(
        r#"{"detail": [{"loc": ["body", 0], "msg": "wrong"}, {"msg": "too"}]}"#,
        "body.0: wrong; too",
    );
    check(r#"{"detail": "reason"}"#, "reason");
    check(r#"{"message": ["a", "b"], "error": "Bad Request"}"#, "a; b");
    check(r#"{"errors": [{"message": "listed"}]}"#, "listed");
    check("<html><head><title>\n 400  Bad </title></head></html>", "400 Bad");
    check("<p>no <b>title</b></p>", "no title");
    check("plain words", "plain words");
    check("data: {\"error\": {\"message\": \"framed\"}}\n\n", "framed");
    check(
        r#"{"error": {"message": "{\"error\": {\"message\": \"wrapped\"}}"}}"#,
        "wrapped",
    );
    check(r#"{"error": {"messa"#, "the server rejected the request as invalid");
    check("{}", "the server rejected the request as invalid");
}

#[test]
fn a_web_page_at_an_unknown_path_is_named_as_such() {
    let page = "<!doctype html><title>Welcome to nginx!</title>";
    let named = |status| (failure(status, page).kind(), failure(status, page).message().to_owned());
    for status in [404, 405, 410] {
        let message = "the address answered with a web page (Welcome to nginx!) instead of the reply of an API; check the base URL";
        assert_eq!(named(status), (LlmErrorKind::NotFound, message.to_owned()), "{status}");
        assert!(!failure(status, page).is_retryable());
    }
    let untitled = failure(405, "<html></html>");
    assert!(
        untitled
            .message()
            .starts_with("the address answered with a web page instead of"),
        "{untitled}"
    );
    // The address is right: a gateway or a filter before the server answered.
    for status in [403, 429, 502, 503] {
        assert_eq!(named(status).1, "Welcome to nginx!", "{status}");
    }
    assert!(failure(502, page).is_retryable() && failure(503, page).is_retryable());
    // An API that knows the path, but not the method, or that answers with a text.
    assert_eq!(
        failure(405, "{\"message\": \"use POST\"}").kind(),
        LlmErrorKind::InvalidRequest
    );
    assert_eq!(failure(404, "404 page not found").message(), "404 page not found");
}

#[test]
fn reads_the_numbers_of_a_prompt_that_is_too_long() {
    let message = "This model's maximum context length is 8192 tokens. However, your messages resulted in 8227 tokens.";
    let error = failure(400, &format!(r#"{{"error": {{"message": "{message}"}}}}"#));
    assert_eq!(
        error.kind(),
        LlmErrorKind::ContextLength {
            limit: Some(8192),
            requested: Some(8227)
        }
    );
    let error = failure(
        500,
        r#"{"error": {"type": "exceed_context_size_error", "n_ctx": 256, "n_prompt_tokens": 300}}"#,
    );
    assert_eq!(
        error.kind(),
        LlmErrorKind::ContextLength {
            limit: Some(256),
            requested: Some(300)
        }
    );
}

#[test]
fn distinguishes_throttling_and_deadlines_from_prompts_that_are_too_long() {
    check(
        400,
        r#"{"message": "Too many tokens, please wait before trying again."}"#,
        LlmErrorKind::RateLimit,
    );
    check(400, r#"{"message": "Too many tokens in the prompt."}"#, TOO_LONG);
    check(200, r#"{"error": "context deadline exceeded"}"#, LlmErrorKind::Unknown);
}

#[test]
fn retries_depend_on_kind_status_and_advice() {
    let retryable = |status, headers: &[(&str, &str)], body: &str| {
        read_failure(&head(status, headers), body.as_bytes()).is_retryable()
    };
    assert!(retryable(429, &[], ""));
    assert!(!retryable(429, &[], r#"{"error": {"code": "insufficient_quota"}}"#));
    assert!(!retryable(413, &[], r#"{"error": {"code": "rate_limit_exceeded"}}"#));
    assert!(retryable(409, &[], "no"));
    assert!(!retryable(501, &[], "no"));
    assert!(!retryable(500, &[("x-should-retry", "false")], ""));
    assert!(retryable(400, &[("x-should-retry", "true")], "no"));
    assert!(retryable(500, &[("x-should-retry", "maybe")], ""));
}

#[test]
fn prefers_hints_in_a_fixed_order() {
    let date = ("date", "Sat, 21 Nov 2026 10:00:00 GMT");
    let wait = |headers: &[(&str, &str)], body: &str, millis: Option<u64>| {
        let error = read_failure(&head(429, headers), body.as_bytes());
        assert_eq!(
            error.retry_after(),
            millis.map(Duration::from_millis),
            "{headers:?} {body}"
        );
    };
    let body = r#"{"error": {"message": "Please try again in 1m30s. Upgrade"}}"#;
    wait(&[], body, Some(90_000));
    wait(&[("retry-after", "3")], body, Some(3000));
    wait(&[("retry-after", "3"), ("retry-after-ms", "1250")], body, Some(1250));
    wait(
        &[("retry-after", "Sat, 21 Nov 2026 10:00:45 GMT"), date],
        "",
        Some(45_000),
    );
    wait(&[("retry-after", "Sat, 21 Nov 2026 10:00:45 GMT")], "", None);
    wait(&[("retry-after", "Sat, 21 Nov 2026 09:00:00 GMT"), date], "", None);
    for nonsense in ["-1", "0", "NaN", "inf", "soon", "1e400", "999999999999", ""] {
        wait(&[("retry-after", nonsense)], "", None);
    }
    let requests = ("x-ratelimit-remaining-requests", "0");
    wait(&[requests, ("x-ratelimit-reset-requests", "6m0s")], "", Some(360_000));
    wait(&[requests, ("x-ratelimit-reset-requests", "-1")], "", None);
    wait(
        &[
            ("x-ratelimit-remaining-requests", "7"),
            ("x-ratelimit-reset-requests", "6m0s"),
        ],
        "",
        None,
    );
    wait(
        &[
            ("x-ratelimit-remaining", "0"),
            ("x-ratelimit-reset", "1795255230000"),
            date,
        ],
        "",
        Some(30_000),
    );
    let anthropic = ("anthropic-ratelimit-tokens-remaining", "0");
    wait(
        &[
            anthropic,
            ("anthropic-ratelimit-tokens-reset", "2026-11-21T10:00:30Z"),
            date,
        ],
        "",
        Some(30_000),
    );
    let gemini = r#"[{"error": {"status": "RESOURCE_EXHAUSTED", "details": [{"retryDelay": "34.4s"}]}}]"#;
    wait(&[], gemini, Some(34_400));
    wait(
        &[("retry-after", "9")],
        r#"{"error": {"code": "insufficient_quota"}}"#,
        None,
    );
}

#[test]
fn keeps_useful_headers_and_removes_keys() {
    let headers = [
        ("X-Request-Id", "r1"),
        ("cf-ray", "ray"),
        ("retry-after", "1"),
        ("authorization", "Bearer x"),
    ];
    let error = read_failure(&head(401, &headers), b"key sk-proj-0123456789abcdefghijklmn is wrong");
    assert_eq!(error.request_id(), Some("r1"));
    let names: Vec<&str> = error.headers().iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["x-request-id", "cf-ray", "retry-after"]);
    assert_eq!(error.message(), "key [redacted] is wrong");
    assert_eq!(error.body_excerpt(), Some("key [redacted] is wrong"));
    assert_eq!(
        failure(500, r#"{"request_id": "r2", "message": "x"}"#).request_id(),
        Some("r2")
    );
}

proptest! {
    #[test]
    fn any_body_results_in_an_error(bytes: Vec<u8>, status in 200_u16..600) {
        let error = read_failure(&head(status, &[]), &bytes);
        prop_assert!(!error.message().is_empty());
    }

    #[test]
    fn any_text_and_header_results_in_an_error(text in "\\PC{0,80}", header in "[ -~]{0,40}") {
        let names = ["retry-after", "retry-after-ms", "date", "x-ratelimit-reset", "x-ratelimit-remaining"];
        let headers: Vec<(&str, &str)> = names.iter().map(|name| (*name, header.as_str())).collect();
        let body = serde_json::json!({"error": {"message": text}}).to_string();
        let error = read_failure(&head(429, &headers), body.as_bytes());
        prop_assert!(error.retry_after().is_none_or(|wait| wait > Duration::ZERO));
    }
}

#[test]
fn a_malformed_reply_is_quoted_briefly_and_without_keys() {
    let reader = agcore_wire::failure::FailureReader::new(&ReplyHead::default());
    let quoted = |body: &str| reader.malformed("not a reply".into(), body.as_bytes()).to_string();
    assert_eq!(quoted("{\"a\":\n  1}"), "not a reply (received `{\"a\": 1}`)");
    assert_eq!(quoted(" \n"), "not a reply");
    let long = quoted(&"x".repeat(500));
    assert!(long.ends_with("x…`)") && long.len() < 120, "{long}");
    let key = quoted("{\"key\": \"sk-abcdefghijklmnopqrstuvwxyz\"}");
    assert!(key.contains("[redacted]") && !key.contains("sk-abc"), "{key}");
}

#[test]
fn the_name_of_a_provider_is_printed_once() {
    let print = |provider: &str, message: &'static str| {
        LlmError::new(LlmErrorKind::InvalidRequest, message)
            .with_provider(provider)
            .to_string()
    };
    assert_eq!(
        print("deepseek", "deepseek does not support x"),
        "deepseek does not support x"
    );
    assert_eq!(print("openai", "OpenAI: no"), "OpenAI: no");
    assert_eq!(print("open", "openai does not"), "open: openai does not");
    assert_eq!(print("deepseek", "no"), "deepseek: no");
}

#[test]
fn a_list_of_problems_has_no_stray_marks() {
    let error = failure(422, r#"{"detail": [{"msg": "Field required."}, {"msg": "Too long."}]}"#);
    assert_eq!(error.message(), "Field required; Too long");
}

#[test]
fn kinds_read_as_words() {
    assert_eq!(LlmErrorKind::RateLimit.to_string(), "rate limit");
    assert_eq!(TOO_LONG.to_string(), "context length");
    assert_eq!(
        LlmErrorKind::Timeout(TimeoutStage::FirstByte).to_string(),
        "timeout (first byte)"
    );
}

#[test]
fn reads_the_numbers_of_an_input_that_is_too_long() {
    let body =
        r#"{"error": {"message": "Input length 131393 exceeds the maximum allowed input length of 131040 tokens."}}"#;
    let expected = LlmErrorKind::ContextLength {
        limit: Some(131_040),
        requested: Some(131_393),
    };
    check(400, body, expected);
}

//! Failures: errors of the server, truncated replies, and other content.

use agcore_wire::{Close, LlmErrorKind};

use super::{STREAM, WHOLE, decode, failure, head, read_as, stream, text};

#[test]
fn an_error_instead_of_a_line_keeps_the_partial_reply() {
    let check = |error: &str, expected: LlmErrorKind| {
        let (found, partial) = failure(&format!(
            "{{\"message\":{{\"content\":\"So \"}},\"done\":false}}\n{error}\n"
        ));
        assert_eq!(found.kind(), expected, "{error}");
        assert_eq!(partial.text(), "So ");
        assert_eq!(found.status(), None);
    };
    check(
        r#"{"error":"an error was encountered while running the model"}"#,
        LlmErrorKind::Server,
    );
    check(
        r#"{"error":"error parsing tool call: raw='{', err=EOF"}"#,
        LlmErrorKind::InvalidToolCall,
    );
    check(
        r#"{"error":{"message":"slow down","type":"rate_limit_error"}}"#,
        LlmErrorKind::RateLimit,
    );
    check(
        r#"[{"error":"server busy, please try again"}]"#,
        LlmErrorKind::Overloaded,
    );
    check(r#"{"message":"no healthy upstream"}"#, LlmErrorKind::Server);
    check(r#"{"detail":"overloaded"}"#, LlmErrorKind::Overloaded);
    let (whole, _) = failure(r#"{"error":"you have reached your weekly usage limit, upgrade for higher limits"}"#);
    assert_eq!(whole.kind(), LlmErrorKind::QuotaExhausted);
}

#[test]
fn classifies_failures() {
    let context = LlmErrorKind::ContextLength {
        limit: None,
        requested: None,
    };
    let cases = [
        (
            400,
            r#"{"error":"\"m\" does not support tools"}"#,
            LlmErrorKind::InvalidRequest,
        ),
        (
            400,
            r#"{"error":"prompt too long; exceeded max context length by 4 tokens"}"#,
            context,
        ),
        (
            400,
            r#"{"error":"the input length exceeds the context length"}"#,
            context,
        ),
        (
            401,
            r#"{"error":"unauthorized","signin_url":"https://x.example"}"#,
            LlmErrorKind::Authentication,
        ),
        (404, r#"{"error":"model 'm' not found"}"#, LlmErrorKind::NotFound),
        (429, r#"{"error":"too many requests"}"#, LlmErrorKind::RateLimit),
        (
            429,
            r#"{"error":"you (ann) have reached your weekly usage limit, please wait or upgrade to continue"}"#,
            LlmErrorKind::QuotaExhausted,
        ),
        (
            500,
            r#"{"error":"llama runner process has terminated: exit status 2"}"#,
            LlmErrorKind::Server,
        ),
        (
            500,
            r#"{"error":"error parsing tool call: raw='{', err=EOF"}"#,
            LlmErrorKind::InvalidToolCall,
        ),
        (
            503,
            r#"{"error":"server busy, please try again.  maximum pending requests exceeded"}"#,
            LlmErrorKind::Overloaded,
        ),
        (502, "<html><title>502 Bad Gateway</title></html>", LlmErrorKind::Server),
        (404, "404 page not found", LlmErrorKind::NotFound),
        (500, "", LlmErrorKind::Server),
    ];
    for (status, body, expected) in cases {
        let (end, response) = read_as(&head(status, WHOLE), body.as_bytes(), Close::Clean);
        let error = end.unwrap_err();
        assert_eq!((error.kind(), error.status()), (expected, Some(status)), "{body}");
        assert!(response.choices.is_empty() && !error.message().is_empty());
    }
}

#[test]
fn a_stream_without_its_end_is_truncated() {
    let head = head(200, STREAM);
    let body = stream(&[text("One "), text("two"), text("")]);
    let last = body.trim_end().rfind('\n').unwrap() + 1;
    for end in 0..body.len() - 2 {
        let (cut, partial) = decode(&head, &[&body.as_bytes()[..end]], Close::Clean);
        assert_eq!(cut.unwrap_err().kind(), LlmErrorKind::Truncated, "{end}");
        let (reset, _) = decode(&head, &[&body.as_bytes()[..end]], Close::Reset);
        assert_eq!(reset.unwrap_err().kind(), LlmErrorKind::Connect, "{end}");
        if end >= last {
            assert_eq!(partial.text(), "One two");
        }
    }
}

#[test]
fn half_a_whole_reply_is_malformed() {
    let body = r#"{"message":{"role":"assistant","content":"Yes."},"done":true}"#;
    for end in 0..body.len() {
        let half = &body.as_bytes()[..end];
        let (cut, _) = decode(&head(200, WHOLE), &[half], Close::Clean);
        assert_eq!(cut.unwrap_err().kind(), LlmErrorKind::Malformed, "{end}");
        let (reset, _) = decode(&head(200, WHOLE), &[half], Close::Reset);
        assert_eq!(reset.unwrap_err().kind(), LlmErrorKind::Connect, "{end}");
    }
    let (unfinished, partial) = failure(r#"{"message":{"role":"assistant","content":"Yes"}}"#);
    assert_eq!((unfinished.kind(), &*partial.text()), (LlmErrorKind::Truncated, "Yes"));
}

#[test]
fn other_content_is_malformed() {
    let check = |body: &str, expected: &str| {
        let (error, _) = failure(body);
        assert_eq!(error.kind(), LlmErrorKind::Malformed, "{body}");
        assert!(error.message().contains(expected), "{body}: {error}");
        // A text of a gateway may go away, a web site or a reply in another form will not.
        assert_eq!(error.is_retryable(), !body.starts_with(['{', '[', '<']), "{body}");
    };
    check(
        "<html><title>Sign in</title></html>",
        "the address answered with a web page (Sign in) instead of a chat reply; check the base URL",
    );
    check("Ollama is running", "Ollama is running");
    check("{\"status\":\"ok\"}", "has no `message`");
    check("{\"status\":\n\"ok\"}", "has no `message`");
    check(
        "{\"message\":{\"content\":\"x\"}}{\"done\":true}\n",
        "not a valid part of a chat reply",
    );
    check(
        "{\"message\":{\"content\":\"x\"},\"done\":false}\nnonsense\n{\"done\":true}\n",
        "not a valid part of a chat reply",
    );
    check("{\"message\":\n{\"content\":\"a\u{0}\"}\n", "not a valid chat reply");
    check("[1]", "not a valid part of a chat reply");
}

//! Error replies in every format, with every kind of hint.

use agcore_testkit::mock_server::{Api, ApiError, ErrorShape, Reply};
use serde_json::json;

use super::client::{ask, ask_api};

#[tokio::test]
async fn renders_errors_in_the_format_of_each_api() {
    for (api, expected) in [
        (
            Api::OpenAiChat,
            r#"{"error":{"message":"Slow down","type":"requests","param":null,"code":"rate_limit_exceeded"}}"#,
        ),
        (
            Api::OpenAiResponses,
            r#"{"error":{"message":"Slow down","type":"requests","param":null,"code":"rate_limit_exceeded"}}"#,
        ),
        (
            Api::Anthropic,
            r#"{"type":"error","error":{"type":"rate_limit_error","message":"Slow down"},"request_id":"req_mock0"}"#,
        ),
        (Api::Ollama, r#"{"error":"Slow down"}"#),
        (
            Api::Gemini,
            r#"{"error":{"code":429,"message":"Slow down","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"rate_limit_exceeded"}]}}"#,
        ),
    ] {
        for stream in [true, false] {
            let error = ApiError::new(429).with_message("Slow down");
            let received = ask_api(api, Reply::error(error), stream).await;
            assert_eq!(received.status, 429);
            assert_eq!(received.header("content-type"), "application/json");
            assert_eq!(received.text(), expected);
        }
    }
    let error = Reply::error(ApiError::new(429).with_message("Slow down"));
    let bedrock = ask_api(Api::Bedrock, error, true).await;
    assert_eq!(
        (bedrock.status, bedrock.text().as_str()),
        (429, r#"{"message":"Slow down"}"#)
    );
    assert!(bedrock.header("x-amzn-errortype").starts_with("ThrottlingException:"));
    assert_eq!(bedrock.header("x-amzn-requestid"), "req_mock0");
    let anthropic = ask_api(Api::Anthropic, Reply::error(ApiError::new(500)), false).await;
    assert_eq!(anthropic.header("request-id"), "req_mock0");
}

#[tokio::test]
async fn renders_errors_in_an_explicit_format() {
    let error = ApiError::new(400).with_message("Bad").with_code("c").with_param("p");
    for (shape, content_type, expected) in [
        (
            ErrorShape::OpenAi,
            "application/json",
            json!({ "error": { "message": "Bad", "type": "invalid_request_error", "param": "p", "code": "c" } }),
        ),
        (
            ErrorShape::VllmFlat,
            "application/json",
            json!({ "object": "error", "message": "Bad", "type": "BadRequestError", "param": "p", "code": 400 }),
        ),
        (
            ErrorShape::LiteLlm,
            "application/json",
            json!({ "error": { "message": "Bad", "type": "invalid_request_error", "param": "p", "code": "400" } }),
        ),
        (
            ErrorShape::FastApiDetail,
            "application/json",
            json!({ "detail": [{ "loc": ["body", "p"], "msg": "Bad", "type": "value_error" }] }),
        ),
        (
            ErrorShape::CodeAndError,
            "application/json",
            json!({ "code": "c", "error": "Bad" }),
        ),
        (
            ErrorShape::GeminiArray,
            "application/json",
            json!([{ "error": { "code": 400, "message": "Bad", "status": "INVALID_ARGUMENT" } }]),
        ),
        (ErrorShape::BareString, "application/json", json!("Bad")),
    ] {
        let received = ask(Reply::error(error.clone().with_shape(shape)), false).await;
        assert_eq!(received.header("content-type"), content_type);
        assert_eq!(received.json(), expected, "{shape:?}");
    }
    let html = ask(Reply::error(error.clone().with_shape(ErrorShape::Html)), false).await;
    assert_eq!(html.header("content-type"), "text/html; charset=utf-8");
    assert!(html.text().starts_with("<html>"));
    let plain = ask(Reply::error(error.clone().with_shape(ErrorShape::PlainText)), false).await;
    assert_eq!(plain.text(), "Bad");
    let empty = ask(Reply::error(error.with_shape(ErrorShape::Empty)), false).await;
    assert_eq!((empty.status, empty.text().as_str()), (400, ""));
}

#[tokio::test]
async fn sends_hints_in_headers_and_bodies() {
    let error = ApiError::new(429)
        .with_retry_after("Wed, 21 Oct 2026 07:28:00 GMT")
        .with_retry_after_ms(1500)
        .with_header("x-ratelimit-reset-requests", "6m0s")
        .with_retry_delay("34.4s")
        .with_shape(ErrorShape::GeminiArray);
    let received = ask(Reply::error(error), true).await;
    assert_eq!(received.header("retry-after"), "Wed, 21 Oct 2026 07:28:00 GMT");
    assert_eq!(received.header("retry-after-ms"), "1500");
    assert_eq!(received.header("x-ratelimit-reset-requests"), "6m0s");
    assert_eq!(
        received.json()[0]["error"]["details"],
        json!([{ "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.4s" }])
    );
    assert_eq!(received.json()[0]["error"]["status"], "RESOURCE_EXHAUSTED");
}

#[tokio::test]
async fn provides_common_errors() {
    let quota = ask(Reply::error(ApiError::quota()), false).await;
    assert_eq!(
        (quota.status, &quota.json()["error"]["code"]),
        (429, &json!("insufficient_quota"))
    );
    let long = ask(Reply::error(ApiError::context_length(10, 12)), false).await;
    assert_eq!(
        (long.status, &long.json()["error"]["code"]),
        (400, &json!("context_length_exceeded"))
    );
    assert!(long.text().contains("maximum context length is 10 tokens"));
    let overloaded = ask_api(Api::Anthropic, Reply::error(ApiError::new(529)), false).await;
    assert_eq!(overloaded.json()["error"]["type"], "overloaded_error");
}

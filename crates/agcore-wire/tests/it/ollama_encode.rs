//! Requests to the native API of Ollama.

mod messages;
mod tools;

use std::time::Duration;

use agcore_chat::{ChatRequest, Message, ResponseFormat, StopSequence, StreamOptions};
use agcore_wire::{
    Chat, EncodeOptions, LlmError, LlmErrorKind, Wire, WireRequest,
    ollama::{KeepAlive, Ollama},
};
use proptest::prelude::*;
use serde_json::{Value, json};

fn encode(request: &ChatRequest) -> Result<WireRequest, LlmError> {
    Wire::<Chat>::encode(&Ollama::new(), request, &EncodeOptions::new("m"))
}

fn body(request: &ChatRequest) -> Value {
    body_with(&Ollama::new(), request)
}

fn body_with(wire: &Ollama, request: &ChatRequest) -> Value {
    let sent = Wire::<Chat>::encode(wire, request, &EncodeOptions::new("m")).unwrap();
    serde_json::from_slice(&sent.body).unwrap()
}

fn hi() -> ChatRequest {
    ChatRequest::new([Message::user("Hi")])
}

fn with(set: impl FnOnce(&mut ChatRequest)) -> ChatRequest {
    let mut request = hi();
    set(&mut request);
    request
}

#[track_caller]
fn check_rejected(request: &ChatRequest, expected: &str) {
    let error = encode(request).unwrap_err();
    assert_eq!(error.kind(), LlmErrorKind::InvalidRequest);
    assert!(error.message().contains(expected), "{:?}", error.message());
}

#[test]
fn sends_a_post_with_stream() {
    let wire = encode(&hi()).unwrap();
    assert_eq!((wire.method.as_str(), wire.path.as_str()), ("POST", "/chat"));
    assert_eq!(wire.headers["content-type"], "application/json");
    assert_eq!(
        wire.body,
        r#"{"model":"m","messages":[{"role":"user","content":"Hi"}],"stream":false}"#
    );
    let options = EncodeOptions::new("m").with_stream(true);
    let streamed = Wire::<Chat>::encode(&Ollama::new(), &hi(), &options).unwrap();
    assert!(streamed.body.ends_with(br#","stream":true}"#));
}

#[test]
fn the_model_of_the_request_takes_precedence() {
    assert_eq!(body(&hi().with_model("other"))["model"], "other");
    let error = Wire::<Chat>::encode(&Ollama::new(), &hi(), &EncodeOptions::new("")).unwrap_err();
    assert!(error.message().contains("no model is set"));
}

#[test]
fn encodes_parameters_as_options() {
    let request = with(|request| {
        request.max_completion_tokens = Some(9);
        (request.temperature, request.top_p) = (Some(0.5), Some(0.9));
        (request.presence_penalty, request.frequency_penalty) = (Some(0.1), Some(0.2));
        request.seed = Some(-7);
        request.stop = Some("END".into());
        (request.logprobs, request.top_logprobs) = (Some(true), Some(3));
    });
    let request = request.with_extra_body("options", json!({"top_k": 40, "min_p": 0.1}));
    insta::assert_json_snapshot!(body(&request), @r#"
    {
      "model": "m",
      "messages": [
        {
          "role": "user",
          "content": "Hi"
        }
      ],
      "logprobs": true,
      "top_logprobs": 3,
      "stream": false,
      "options": {
        "num_predict": 9,
        "temperature": 0.5,
        "top_p": 0.9,
        "stop": [
          "END"
        ],
        "presence_penalty": 0.1,
        "frequency_penalty": 0.2,
        "seed": -7,
        "top_k": 40,
        "min_p": 0.1
      }
    }
    "#);
    let several = with(|request| request.stop = Some(StopSequence::from_iter(["a", "b"])));
    assert_eq!(body(&several)["options"], json!({"stop": ["a", "b"]}));
}

#[test]
fn requests_override_settings() {
    let wire = Ollama::new()
        .with_num_ctx(8192)
        .with_keep_alive(Duration::from_secs(90));
    let sent = body_with(&wire, &hi());
    assert_eq!(
        (&sent["options"], &sent["keep_alive"]),
        (&json!({"num_ctx": 8192}), &json!(90))
    );
    let overriding = hi()
        .with_extra_body("options", json!({"num_ctx": 100}))
        .with_extra_body("keep_alive", "5m");
    let sent = body_with(&wire, &overriding);
    assert_eq!(
        (&sent["options"], &sent["keep_alive"]),
        (&json!({"num_ctx": 100}), &json!("5m"))
    );
    let check = |time: KeepAlive, expected: Value| {
        assert_eq!(
            body_with(&Ollama::new().with_keep_alive(time), &hi())["keep_alive"],
            expected
        );
    };
    check(KeepAlive::Forever, json!(-1));
    check(KeepAlive::For(Duration::ZERO), json!(0));
    check(KeepAlive::For(Duration::from_millis(1500)), json!(1.5));
}

#[test]
fn rejects_what_is_set_twice() {
    let temperature = with(|request| request.temperature = Some(1.0));
    check_rejected(
        &temperature.with_extra_body("options", json!({"temperature": 0.5})),
        "`temperature`",
    );
    check_rejected(&hi().with_extra_body("options", json!("none")), "must be an object");
    check_rejected(&hi().with_extra_body("messages", json!([])), "`messages`");
    let effort = with(|request| request.reasoning_effort = Some("low".into()));
    check_rejected(&effort.with_extra_body("think", true), "`think`");
    let format = hi().with_response_format(ResponseFormat::JsonObject);
    check_rejected(&format.with_extra_body("format", "json"), "`format`");
    check_rejected(
        &with(|request| (request.max_tokens, request.max_completion_tokens) = (Some(1), Some(2))),
        "differ",
    );
    check_rejected(&with(|request| request.temperature = Some(f64::NAN)), "`temperature`");
}

#[test]
fn rejects_options_where_the_server_ignores_them() {
    check_rejected(&hi().with_extra_body("num_ctx", 8192), "put it into `options`");
    check_rejected(&hi().with_extra_body("top_k", 5), "`top_k`");
    assert_eq!(body(&hi().with_extra_body("truncate", false))["truncate"], false);
}

#[test]
fn sends_extra_headers() {
    let wire = encode(&hi().with_extra_header("X-A", "1")).unwrap();
    assert_eq!(wire.headers["x-a"], "1");
    assert!(!std::str::from_utf8(&wire.body).unwrap().contains("X-A"));
    check_rejected(&hi().with_extra_header("Host", "h"), "`host`");
}

#[test]
fn encodes_effort_as_think() {
    let think = |effort: &str| body(&with(|request| request.reasoning_effort = Some(effort.into())))["think"].clone();
    assert_eq!(think("none"), false);
    for level in ["low", "medium", "high", "max"] {
        assert_eq!(think(level), level);
    }
    let minimal = with(|request| request.reasoning_effort = Some("minimal".into()));
    check_rejected(&minimal, "reasoning effort `minimal`");
    assert_eq!(body(&hi().with_extra_body("think", true))["think"], true);
}

#[test]
fn encodes_response_formats() {
    let format = |format: ResponseFormat| body(&hi().with_response_format(format))["format"].clone();
    let schema = json!({"type": "object", "properties": {"b": {}, "a": {}}});
    assert_eq!(format(ResponseFormat::Text), Value::Null);
    assert_eq!(format(ResponseFormat::JsonObject), "json");
    assert_eq!(format(ResponseFormat::json_schema("x", schema.clone())), schema);
    check_rejected(
        &hi().with_response_format(ResponseFormat::Other(json!({"type": "grammar"}))),
        "this response format",
    );
}

#[test]
fn rejects_unsupported_parameters() {
    type Set = fn(&mut ChatRequest);
    let unsupported: &[(&str, Set)] = &[
        ("`n`", |request| request.n = Some(2)),
        ("`logit_bias`", |request| {
            request.logit_bias = Some([("1".into(), 1.0)].into());
        }),
        ("`modalities`", |request| request.modalities = vec!["audio".into()]),
        ("`verbosity`", |request| request.verbosity = Some("low".into())),
        ("`audio`", |request| request.audio = Some(json!({}))),
        ("`prediction`", |request| request.prediction = Some(json!({}))),
        ("`web_search_options`", |request| {
            request.web_search_options = Some(json!({}));
        }),
        ("`service_tier`", |request| request.service_tier = Some("flex".into())),
        ("`store`", |request| request.store = Some(true)),
        ("`metadata`", |request| request.metadata = Some([].into())),
        ("`user`", |request| request.user = Some("u".into())),
        ("`safety_identifier`", |request| {
            request.safety_identifier = Some("u".into());
        }),
        ("`prompt_cache_key`", |request| {
            request.prompt_cache_key = Some("k".into());
        }),
        ("`prompt_cache_retention`", |request| {
            request.prompt_cache_retention = Some("24h".into());
        }),
        ("`stream_options`", |request| {
            request.stream_options = Some(StreamOptions {
                include_usage: Some(false),
                ..StreamOptions::default()
            });
        }),
    ];
    for (name, set) in unsupported {
        check_rejected(&with(set), name);
    }
    let with_defaults = with(|request| {
        (request.n, request.store, request.logprobs) = (Some(1), Some(false), Some(false));
        (request.modalities, request.parallel_tool_calls) = (vec!["text".into()], Some(true));
        request.stream_options = Some(StreamOptions::default());
    });
    assert_eq!(body(&with_defaults), body(&hi()));
}

proptest! {
    /// Equal requests have equal bytes, and a longer conversation begins with the bytes of the shorter one, so that prompt
    /// caches hit.
    #[test]
    fn requests_are_byte_stable(texts in prop::collection::vec("\\PC{0,20}", 1..6), more in "\\PC{0,20}") {
        let messages: Vec<Message> = texts.into_iter().map(Message::from).collect();
        let bytes = |messages: Vec<Message>| encode(&ChatRequest::new(messages)).unwrap().body;
        let short = bytes(messages.clone());
        prop_assert_eq!(&short, &bytes(messages.clone()));
        let long = bytes(messages.into_iter().chain([Message::from(more)]).collect());
        let end = short.len() - br#"],"stream":false}"#.len();
        prop_assert_eq!(&short[..end], &long[..end]);
    }
}

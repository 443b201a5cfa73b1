//! Requests to the Converse API of Bedrock, and the parts of its replies that are kept for the next request.

mod given_back;
mod messages;
mod parameters;
mod tools;

use agcore_chat::{ChatRequest, Message};
use agcore_wire::{
    Chat, EncodeOptions, LlmError, LlmErrorKind, ReplyHead, Wire, WireRequest, bedrock::Bedrock, operation::ListModels,
};
use serde_json::{Value, json};

/// A model that thinks adaptively, one that thinks within a budget, and one that does not think.
const CLAUDE: &str = "us.anthropic.claude-sonnet-4-6";
const OLDER: &str = "eu.anthropic.claude-sonnet-4-5-20250929-v1:0";
const NOVA: &str = "amazon.nova-lite-v1:0";
const LLAMA: &str = "us.meta.llama3-3-70b-instruct-v1:0";
const MISTRAL: &str = "mistral.mistral-large-2407-v1:0";

fn encode(model: &str, request: &ChatRequest) -> Result<WireRequest, LlmError> {
    Wire::<Chat>::encode(&Bedrock::new(), request, &EncodeOptions::new(model))
}

fn body_for(model: &str, request: &ChatRequest) -> Value {
    let sent = encode(model, request).unwrap();
    serde_json::from_slice(&sent.body).unwrap()
}

fn body(request: &ChatRequest) -> Value {
    body_for(CLAUDE, request)
}

fn hi() -> ChatRequest {
    ChatRequest::new([Message::user("Hi")])
}

fn with(set: impl FnOnce(&mut ChatRequest)) -> ChatRequest {
    let mut request = hi();
    set(&mut request);
    request
}

/// Checks that a request is refused, for which parameter, with which nearest value and which words.
#[track_caller]
fn check_refused(model: &str, request: &ChatRequest, name: &str, nearest: Option<&str>, words: &str) {
    let error = encode(model, request).unwrap_err();
    assert_eq!(error.kind(), LlmErrorKind::InvalidRequest);
    assert!(error.message().contains(words), "{:?}", error.message());
    let unsupported = error.unsupported().map(|found| (found.name(), found.nearest()));
    let expected = (!name.is_empty()).then_some((name, nearest));
    assert_eq!(unsupported, expected, "{:?}", error.message());
}

#[test]
fn the_path_contains_the_model_as_one_segment() {
    let sent = encode(NOVA, &hi()).unwrap();
    assert_eq!(
        (sent.method.as_str(), sent.path.as_str()),
        ("POST", "/model/amazon.nova-lite-v1%3A0/converse")
    );
    assert_eq!(sent.headers["content-type"], "application/json");
    assert_eq!(sent.body, r#"{"messages":[{"role":"user","content":[{"text":"Hi"}]}]}"#);

    let stream = EncodeOptions::new("").with_stream(true);
    let profile = "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc";
    let named = hi().with_model(profile);
    let streamed = Wire::<Chat>::encode(&Bedrock::new(), &named, &stream).unwrap();
    assert_eq!(
        streamed.path,
        "/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Aapplication-inference-profile%2Fabc/converse-stream"
    );
    assert_eq!(streamed.body, sent.body, "the body is the same");
    check_refused("", &hi(), "", None, "no model is set");
    check_refused("..", &hi(), "", None, "`..` is not the id of a model");
}

#[test]
fn headers_of_a_request_are_added() {
    let request = with(|request| request.extra_headers.push(("x-a".into(), "b".into())));
    assert_eq!(encode(NOVA, &request).unwrap().headers["x-a"], "b");
    let request = with(|request| request.extra_headers.push(("host".into(), "b".into())));
    check_refused(NOVA, &request, "", None, "the transport sets it");
}

#[test]
fn there_is_no_list_of_models() {
    let error = Wire::<ListModels>::encode(&Bedrock::new(), &(), &EncodeOptions::new("")).unwrap_err();
    assert!(error.is_unsupported(), "{error}");
    let mut decoder = Wire::<ListModels>::decoder(&Bedrock::new(), &ReplyHead::default());
    assert!(decoder.feed(b"{}", &mut Vec::new()).is_err());
}

#[test]
fn members_of_extra_body_are_merged() {
    let request = with(|request| {
        request.max_tokens = Some(10);
        request.reasoning_effort = Some("low".into());
        let extra = &mut request.extra_body;
        extra.insert("inferenceConfig", json!({"topP": 0.5}));
        extra.insert(
            "additionalModelRequestFields",
            json!({"top_k": 5, "output_config": {"other": 1}, "anthropic_beta": ["b"]}),
        );
        extra.insert(
            "guardrailConfig",
            json!({"guardrailIdentifier": "g", "guardrailVersion": "1"}),
        );
    });
    let body = body(&request);
    assert_eq!(body["inferenceConfig"], json!({"maxTokens": 10, "topP": 0.5}));
    assert_eq!(
        body["additionalModelRequestFields"],
        json!({"thinking": {"type": "adaptive"}, "output_config": {"effort": "low", "other": 1}, "top_k": 5,
            "anthropic_beta": ["b"]})
    );
    assert_eq!(body["guardrailConfig"]["guardrailIdentifier"], "g");

    let clash = |name: &'static str, value: Value| {
        with(move |request| {
            request.max_tokens = Some(10);
            request.extra_body.insert(name, value);
        })
    };
    for (name, value, words) in [
        ("modelId", json!("m"), "set `model` instead"),
        ("system", json!([]), "set `messages` instead"),
        ("toolConfig", json!({}), "set `tools`"),
        ("serviceTier", json!({}), "set `service_tier`"),
        (
            "inferenceConfig",
            json!({"maxTokens": 5}),
            "`inferenceConfig.maxTokens`",
        ),
        ("inferenceConfig", json!(1), "must be an object"),
    ] {
        check_refused(CLAUDE, &clash(name, value), "", None, words);
    }
}

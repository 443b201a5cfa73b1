//! Requests to the native API of Gemini.

mod messages;
mod parameters;
mod tools;

use agcore_chat::{ChatRequest, Message};
use agcore_wire::{
    Chat, Close, EncodeOptions, LlmError, LlmErrorKind, ReplyHead, Wire, WireRequest,
    gemini::Gemini,
    operation::{Embed, EmbedItem, EmbedRequest, ListModels, ModelEntry},
};
use serde_json::{Value, json};

/// A model that thinks in levels, and one that thinks within a budget.
const NEW: &str = "gemini-3.5-flash";
const OLD: &str = "gemini-2.5-flash";

fn encode(model: &str, request: &ChatRequest) -> Result<WireRequest, LlmError> {
    Wire::<Chat>::encode(&Gemini::new(), request, &EncodeOptions::new(model))
}

fn body(request: &ChatRequest) -> Value {
    body_for(NEW, request)
}

fn body_for(model: &str, request: &ChatRequest) -> Value {
    let sent = encode(model, request).unwrap();
    serde_json::from_slice(&sent.body).unwrap()
}

fn body_with(wire: &Gemini, request: &ChatRequest) -> Value {
    let sent = Wire::<Chat>::encode(wire, request, &EncodeOptions::new(NEW)).unwrap();
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

/// Checks that a request is refused, for which parameter, with which nearest value and which words.
#[track_caller]
fn check_refused(model: &str, request: &ChatRequest, name: &str, nearest: Option<&str>, words: &str) {
    let error = encode(model, request).unwrap_err();
    assert_eq!(error.kind(), LlmErrorKind::InvalidRequest);
    assert!(error.message().contains(words), "{:?}", error.message());
    let unsupported = error.unsupported().map(|found| (found.name(), found.nearest()));
    assert_eq!(
        unsupported,
        (!name.is_empty()).then_some((name, nearest)),
        "{:?}",
        error.message()
    );
}

#[track_caller]
fn check_rejected(request: &ChatRequest, words: &str) {
    let error = encode(NEW, request).unwrap_err();
    assert_eq!(error.kind(), LlmErrorKind::InvalidRequest);
    assert!(error.message().contains(words), "{:?}", error.message());
}

#[test]
fn the_path_contains_the_model() {
    let sent = encode(OLD, &hi()).unwrap();
    assert_eq!(
        (sent.method.as_str(), sent.path.as_str()),
        ("POST", "/models/gemini-2.5-flash:generateContent")
    );
    assert_eq!(sent.headers["content-type"], "application/json");
    assert_eq!(sent.body, r#"{"contents":[{"role":"user","parts":[{"text":"Hi"}]}]}"#);

    let stream = EncodeOptions::new("").with_stream(true);
    let named = hi().with_model("tunedModels/mine");
    let sent = Wire::<Chat>::encode(&Gemini::new(), &named, &stream).unwrap();
    assert_eq!(sent.path, "/tunedModels/mine:streamGenerateContent?alt=sse");
    assert_eq!(sent.body, encode(OLD, &named).unwrap().body, "the body is the same");

    let error = encode("", &hi()).unwrap_err();
    assert!(error.message().contains("no model is set"));
    check_rejected(&hi().with_model("../files"), "`../files` is not the name of a model");
}

#[test]
fn embeds_several_texts_at_once() {
    let request = EmbedRequest::new(["a", "b"]).with_dimensions(256);
    let mut request = request.with_extra_body("taskType", "RETRIEVAL_QUERY");
    request.extra_headers.push(("x-a".into(), "b".into()));
    let sent = Wire::<Embed>::encode(&Gemini::new(), &request, &EncodeOptions::new("models/e")).unwrap();
    assert_eq!(sent.path, "/models/e:batchEmbedContents");
    assert_eq!(sent.headers["x-a"], "b");
    let one = |text: &str| {
        json!({"model": "models/e", "content": {"parts": [{"text": text}]}, "outputDimensionality": 256,
            "taskType": "RETRIEVAL_QUERY"})
    };
    let body: Value = serde_json::from_slice(&sent.body).unwrap();
    assert_eq!(body, json!({"requests": [one("a"), one("b")]}));
    let clash = EmbedRequest::new(["a"]).with_extra_body("model", "x");
    let error = Wire::<Embed>::encode(&Gemini::new(), &clash, &EncodeOptions::new("e")).unwrap_err();
    assert!(error.message().contains("`model`"), "{}", error.message());
}

fn decode_embeddings(body: &str) -> Result<Vec<EmbedItem>, LlmError> {
    let (mut decoder, mut items) = (
        Wire::<Embed>::decoder(&Gemini::new(), &ReplyHead::default()),
        Vec::new(),
    );
    decoder.feed(body.as_bytes(), &mut items)?;
    decoder.finish(Close::Clean, &mut items)?;
    Ok(items)
}

#[test]
fn decodes_embeddings() {
    let items = decode_embeddings(
        r#"{"embeddings": [{"values": [1]}, {"values": [0.5]}], "usageMetadata": {"promptTokenCount": 4}}"#,
    );
    let items = items.unwrap();
    assert_eq!(items.len(), 3);
    assert_eq!(
        items[1],
        EmbedItem::Vector {
            index: 1,
            vector: vec![0.5]
        }
    );
    assert!(matches!(&items[2], EmbedItem::Usage(usage) if usage.prompt_tokens == Some(4)));
    let check =
        |body: &str, kind: LlmErrorKind| assert_eq!(decode_embeddings(body).unwrap_err().kind(), kind, "{body}");
    check(
        r#"{"error": {"code": 429, "status": "RESOURCE_EXHAUSTED"}}"#,
        LlmErrorKind::RateLimit,
    );
    check(r#"{"foo": 1}"#, LlmErrorKind::Malformed);
    check("[]", LlmErrorKind::Malformed);
}

fn decode_models(body: &str) -> Result<Vec<ModelEntry>, LlmError> {
    let (mut decoder, mut models) = (
        Wire::<ListModels>::decoder(&Gemini::new(), &ReplyHead::default()),
        Vec::new(),
    );
    decoder.feed(body.as_bytes(), &mut models)?;
    decoder.finish(Close::Clean, &mut models)?;
    Ok(models)
}

#[test]
fn lists_models() {
    let sent = Wire::<ListModels>::encode(&Gemini::new(), &(), &EncodeOptions::new("")).unwrap();
    assert_eq!(
        (sent.method.as_str(), sent.path.as_str()),
        ("GET", "/models?pageSize=1000")
    );
    let models = decode_models(
        r#"{"models": [{"name": "models/g", "displayName": "G", "inputTokenLimit": 100, "version": "1"}, {"name": "tunedModels/x"}, {}],
            "nextPageToken": "abc"}"#,
    );
    let models = models.unwrap();
    assert_eq!(models.len(), 2);
    assert_eq!((models[0].id.as_str(), models[0].name.as_deref()), ("g", Some("G")));
    assert_eq!((models[0].context_window, models[1].context_window), (Some(100), None));
    assert_eq!(models[0].extra.get("version"), Some(&json!("1")));
    assert_eq!(models[1].id, "tunedModels/x");
    assert_eq!(models[1].extra.get("nextPageToken"), Some(&json!("abc")));
    let vertex = decode_models(r#"{"publisherModels": [{"name": "publishers/google/models/v"}]}"#).unwrap();
    assert_eq!(vertex[0].id, "v");
    assert!(decode_models("{}").unwrap().is_empty(), "empty lists are left out");
    let check = |body: &str, kind: LlmErrorKind| assert_eq!(decode_models(body).unwrap_err().kind(), kind, "{body}");
    check(
        r#"{"error": {"code": 403, "status": "PERMISSION_DENIED"}}"#,
        LlmErrorKind::Permission,
    );
    check(r#"{"data": []}"#, LlmErrorKind::Malformed);
}

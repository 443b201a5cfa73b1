//! Embeddings: requests and replies of both wires, and the embedder over loopback.

mod layers;
#[cfg(feature = "ollama")]
mod ollama;

use std::sync::Arc;

use agcore_chat::{Embedder, FaultKind};
use agcore_llm::{
    LlmError, LlmErrorKind, ModelEmbedder, ProviderInfo,
    dialect::{self, Dialect},
    transport::http::{HttpOptions, HttpTransport},
    wire::{
        Close, EncodeOptions, ReplyHead, Wire, WireRequest,
        openai_chat::OpenAiChat,
        operation::{Embed, EmbedItem, EmbedRequest},
    },
};
use agcore_testkit::mock_server::{MockServer, Operation, RecordedRequest, Reply, embed};
use http::StatusCode;
use serde_json::{Value, json};

/// Decodes a reply, and checks that the result is the same in one read and byte by byte.
pub(crate) fn decode(
    wire: &dyn Wire<Embed>,
    status: u16,
    body: &str,
    close: Close,
) -> Result<Vec<EmbedItem>, LlmError> {
    let head = ReplyHead {
        status: StatusCode::from_u16(status).unwrap(),
        ..ReplyHead::default()
    };
    let read = |size: usize| {
        let (mut decoder, mut items) = (wire.decoder(&head), Vec::new());
        for bytes in body.as_bytes().chunks(size) {
            decoder.feed(bytes, &mut items)?;
        }
        decoder.finish(close, &mut items).map(|()| items)
    };
    let (whole, bytewise) = (read(body.len().max(1)), read(1));
    assert_eq!(whole.as_ref().ok(), bytewise.as_ref().ok());
    whole
}

pub(crate) fn vector(index: usize, vector: &[f32]) -> EmbedItem {
    EmbedItem::Vector {
        index,
        vector: vector.to_vec(),
    }
}

pub(crate) fn tokens(items: &[EmbedItem]) -> Option<u64> {
    items.iter().find_map(|item| match item {
        EmbedItem::Usage(usage) => usage.prompt_tokens,
        EmbedItem::Vector { .. } => None,
    })
}

/// Checks how a wire decodes replies without embeddings.
pub(crate) fn check_failures(wire: &dyn Wire<Embed>) {
    let check = |status: u16, body: &str, close: Close, expected: LlmErrorKind| {
        let error = decode(wire, status, body, close).unwrap_err();
        assert_eq!(error.kind(), expected, "{status} {body}: {error}");
    };
    check(
        404,
        r#"{"error":"model 'm' not found"}"#,
        Close::Clean,
        LlmErrorKind::NotFound,
    );
    check(
        200,
        r#"{"error":{"message":"rate limit reached"}}"#,
        Close::Clean,
        LlmErrorKind::RateLimit,
    );
    check(200, r#"{"object":"list"}"#, Close::Clean, LlmErrorKind::Malformed);
    check(
        200,
        r#"{"data":[{"embedding":"?"}],"embeddings":["?"]}"#,
        Close::Clean,
        LlmErrorKind::Malformed,
    );
    check(200, "<title>Sign in</title>", Close::Clean, LlmErrorKind::Malformed);
    check(200, "", Close::Clean, LlmErrorKind::Malformed);
    check(200, r#"{"data":[{"em"#, Close::Clean, LlmErrorKind::Truncated);
    check(200, r#"{"data":[{"em"#, Close::Reset, LlmErrorKind::Connect);
}

fn chat(dialect: Dialect) -> OpenAiChat {
    OpenAiChat::new(dialect)
}

fn encode(dialect: Dialect, request: &EmbedRequest) -> Result<WireRequest, LlmError> {
    Wire::<Embed>::encode(&chat(dialect), request, &EncodeOptions::new("m"))
}

#[test]
fn encodes_model_texts_and_dimensions() {
    let request = EmbedRequest::new(["a", "b"])
        .with_dimensions(8)
        .with_extra_body("encoding_format", "base64")
        .with_extra_header("x-a", "1");
    let sent = encode(dialect::openai(), &request).unwrap();
    assert_eq!((sent.method.as_str(), sent.path.as_str()), ("POST", "/embeddings"));
    assert_eq!(sent.headers["x-a"], "1");
    assert_eq!(
        sent.body,
        r#"{"model":"m","input":["a","b"],"dimensions":8,"encoding_format":"base64"}"#
    );
    let other = encode(dialect::openai(), &EmbedRequest::new(["a"]).with_model("other")).unwrap();
    assert_eq!(other.body, r#"{"model":"other","input":["a"]}"#);
    let azure = chat(dialect::azure()).with_query("api-version=1");
    let sent = Wire::<Embed>::encode(&azure, &EmbedRequest::new(["a"]), &EncodeOptions::new("m")).unwrap();
    assert_eq!(sent.path, "/embeddings?api-version=1");
}

#[test]
fn rejects_unsupported_requests() {
    let check = |dialect: Dialect, request: &EmbedRequest, expected: &str| {
        let error = encode(dialect, request).unwrap_err();
        assert_eq!(error.kind(), LlmErrorKind::InvalidRequest);
        assert!(error.message().contains(expected), "{error}");
    };
    check(
        dialect::deepseek(),
        &EmbedRequest::new(["a"]),
        "deepseek does not support embeddings",
    );
    let clash = EmbedRequest::new(["a"]).with_extra_body("input", "b");
    check(dialect::openai(), &clash, "`input`");
    let without_model = Wire::<Embed>::encode(
        &chat(dialect::openai()),
        &EmbedRequest::new(["a"]),
        &EncodeOptions::new(""),
    );
    assert!(without_model.unwrap_err().message().contains("no model is set"));
}

#[test]
fn knows_the_vendors_limits_of_texts() {
    let check = |dialect: Dialect, expected| assert_eq!(chat(dialect).max_embed_inputs(), expected);
    check(dialect::openai(), 2048);
    check(dialect::qwen(), 10);
}

#[test]
fn decodes_vectors_as_numbers_or_base64_in_any_order() {
    let wire = chat(dialect::openai());
    let read = |body: Value| decode(&wire, 200, &body.to_string(), Close::Clean).unwrap();
    let items = read(json!({
        "object": "list", "model": "m", "usage": {"prompt_tokens": 5, "total_tokens": 5},
        "data": [
            {"object": "embedding", "index": 1, "embedding": "AAAAPwAAgL8="},
            {"object": "embedding", "index": 0, "embedding": [1, 0.25]},
        ],
    }));
    assert_eq!(items[..2], [vector(1, &[0.5, -1.0]), vector(0, &[1.0, 0.25])]);
    assert_eq!(tokens(&items), Some(5));
    let bare = read(json!({"data": [{"embedding": [1]}, {"embedding": [2]}], "usage": null}));
    assert_eq!(bare, [vector(0, &[1.0]), vector(1, &[2.0])]);
    check_failures(&wire);
}

/// Returns an embedder for a server on loopback.
pub(crate) fn embedder(wire: Arc<dyn Wire<Embed>>, base_url: &str) -> ModelEmbedder {
    let transport = HttpTransport::new(HttpOptions::new(base_url)).unwrap();
    ModelEmbedder::new(ProviderInfo::new("mock", "mock-model"), wire, Arc::new(transport))
}

/// Checks an embedder over loopback.
pub(crate) async fn check_embedder(wire: Arc<dyn Wire<Embed>>, base_url: impl Fn(&MockServer) -> String) {
    let server = MockServer::start(|_: &RecordedRequest| Reply::text("ok"))
        .await
        .unwrap();
    let embedder = embedder(wire, &base_url(&server))
        .with_max_inputs(2)
        .with_dimensions(16);
    let texts = ["a cat", "a dog", "the cat and the dog"];
    let found = embedder.embed(&texts).await.unwrap();
    assert_eq!(found.vectors, texts.map(|text| embed(text, 16)));
    assert!(found.usage.unwrap().prompt_tokens > Some(0));
    assert_eq!(server.requests().len(), 2, "one request for two texts");
    assert!(
        server
            .requests()
            .iter()
            .all(|request| request.operation() == Operation::Embed)
    );

    for (texts, expected) in [(&[][..], "no texts"), (&["a", ""], "text 1 is empty")] {
        let error = embedder.embed_texts(texts).await.unwrap_err();
        assert_eq!(error.kind(), LlmErrorKind::InvalidRequest);
        assert!(error.message().contains(expected), "{error}");
    }
    assert_eq!(server.requests().len(), 2, "nothing was sent");
    let fault = embedder.with_dimensions(5000).embed(&["a"]).await.unwrap_err();
    assert_eq!((fault.kind, fault.status), (FaultKind::InvalidRequest, Some(400)));
    assert!(fault.message.starts_with("mock: "), "{}", fault.message);
}

#[tokio::test]
async fn embeds_with_the_chat_wire() {
    let wire = Arc::new(chat(dialect::openai()));
    check_embedder(wire, MockServer::base_url).await;
}

#[tokio::test]
async fn errors_contain_provider_and_model() {
    let server = MockServer::start(|_: &RecordedRequest| Reply::text("ok"))
        .await
        .unwrap();
    let embedder = embedder(
        Arc::new(chat(dialect::openai())),
        &format!("{}/nowhere", server.root_url()),
    );
    let error = embedder.embed_texts(&["a"]).await.unwrap_err();
    assert_eq!((error.provider(), error.model()), (Some("mock"), Some("mock-model")));
    assert_eq!(error.kind(), LlmErrorKind::NotFound);
}

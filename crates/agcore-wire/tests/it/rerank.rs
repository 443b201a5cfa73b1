//! Requests and replies of models that rate documents.

use agcore_wire::{
    Close, EncodeOptions, LlmError, LlmErrorKind, ResponseShape, Wire, WireRequest,
    operation::{Rerank, RerankItem, RerankRequest},
    rerank::RerankWire,
};
use serde_json::{Value, json};

use crate::shapes::{decode, json_body};

fn wire(shape: ResponseShape) -> RerankWire {
    RerankWire::new(shape).unwrap()
}

fn encode(shape: ResponseShape, request: &RerankRequest) -> Result<WireRequest, LlmError> {
    Wire::<Rerank>::encode(&wire(shape), request, &EncodeOptions::new("m"))
}

fn score(index: usize, score: f64) -> RerankItem {
    RerankItem::Score { index, score }
}

#[test]
fn encodes_both_forms() {
    let request = RerankRequest::new("pets", ["a cat", "a car"])
        .with_top_n(1)
        .with_extra_body("max_tokens_per_doc", 512)
        .with_extra_header("x-a", "1");
    let sent = encode(ResponseShape::openai(), &request).unwrap();
    assert_eq!((sent.method.as_str(), sent.path.as_str()), ("POST", "/rerank"));
    assert_eq!(sent.headers["x-a"], "1");
    assert_eq!(
        json_body(&sent),
        json!({"model": "m", "query": "pets", "documents": ["a cat", "a car"], "top_n": 1, "max_tokens_per_doc": 512})
    );
    let request = RerankRequest::new("pets", ["a cat"]).with_model("gte-rerank-v2");
    let native = request
        .clone()
        .with_top_n(2)
        .with_extra_body("parameters", json!({"return_documents": true}));
    let sent = encode(ResponseShape::dashscope(), &native).unwrap();
    assert_eq!(sent.path, "/services/rerank/text-rerank/text-rerank");
    assert_eq!(
        json_body(&sent),
        json!({
            "model": "gte-rerank-v2", "input": {"query": "pets", "documents": ["a cat"]},
            "parameters": {"top_n": 2, "return_documents": true},
        })
    );
    let sent = encode(ResponseShape::dashscope().with_path("/reranks"), &request).unwrap();
    assert_eq!(sent.path, "/reranks");
    assert_eq!(json_body(&sent).get("parameters"), None);
}

#[test]
fn refuses_requests_that_cannot_be_sent() {
    let check = |request: RerankRequest, expected: &str| {
        for shape in [ResponseShape::openai(), ResponseShape::dashscope()] {
            let error = encode(shape, &request).unwrap_err();
            assert_eq!(error.kind(), LlmErrorKind::InvalidRequest);
            assert!(error.message().contains(expected), "{error}");
        }
    };
    check(RerankRequest::new("q", Vec::<String>::new()), "no documents");
    check(RerankRequest::new("q", ["d"]).with_extra_body("top_n", 1), "`top_n`");
    check(RerankRequest::new("q", ["d"]).with_extra_body("input", 1), "`input`");
    check(RerankRequest::new("q", ["d"]).with_extra_header("host", "x"), "`host`");
    let no_model = Wire::<Rerank>::encode(
        &wire(ResponseShape::openai()),
        &RerankRequest::new("q", ["d"]),
        &EncodeOptions::new(""),
    );
    assert!(no_model.unwrap_err().message().contains("no model"));
}

#[test]
fn decodes_the_replies_of_each_server() {
    let check = |shape: ResponseShape, body: Value, expected: &[RerankItem], tokens: Option<u64>| {
        let mut items = decode::<Rerank>(&wire(shape), 200, &body.to_string(), Close::Clean).unwrap();
        let usage = items.iter().position(|item| matches!(item, RerankItem::Usage(_)));
        let usage = usage.map(|at| items.remove(at));
        assert_eq!(items, expected, "{body}");
        let found = usage.and_then(|usage| match usage {
            RerankItem::Usage(usage) => usage.prompt_tokens,
            RerankItem::Score { .. } => None,
        });
        assert_eq!(found, tokens, "{body}");
    };
    // Cohere, v2.
    check(
        ResponseShape::openai(),
        json!({
            "results": [{"index": 3, "relevance_score": 0.999071}, {"index": 0, "relevance_score": 0.32713068}],
            "id": "07734bd2", "meta": {"api_version": {"version": "2"}, "billed_units": {"search_units": 1}},
        }),
        &[score(3, 0.999071), score(0, 0.32713068)],
        None,
    );
    // Jina and vLLM.
    check(
        ResponseShape::openai(),
        json!({
            "model": "jina-reranker-v2", "usage": {"total_tokens": 815},
            "results": [{"index": 0, "relevance_score": -0.78, "document": {"text": "x"}}],
        }),
        &[score(0, -0.78)],
        Some(815),
    );
    // SiliconFlow.
    check(
        ResponseShape::openai(),
        json!({"id": "1", "results": [{"index": 0, "relevance_score": 1}], "meta": {"tokens": {"input_tokens": 9}}}),
        &[score(0, 1.0)],
        Some(9),
    );
    check(
        ResponseShape::dashscope(),
        json!({
            "output": {"results": [{"index": 1, "relevance_score": 0.73, "document": {"text": "x"}}]},
            "usage": {"total_tokens": 79}, "request_id": "4b0805c0",
        }),
        &[score(1, 0.73)],
        Some(79),
    );
    // Voyage, described by pointers.
    let voyage = ResponseShape::openai().with_pointer("results", "/data/*");
    check(
        voyage,
        json!({"object": "list", "data": [{"relevance_score": 0.4, "index": 2}], "usage": {"total_tokens": 26}}),
        &[score(2, 0.4)],
        Some(26),
    );
}

#[test]
fn decodes_failures() {
    let check = |shape: ResponseShape, status: u16, body: &str, close: Close, expected: LlmErrorKind| {
        let error = decode::<Rerank>(&wire(shape), status, body, close).unwrap_err();
        assert_eq!(error.kind(), expected, "{status} {body}: {error}");
    };
    for shape in [ResponseShape::openai(), ResponseShape::dashscope()] {
        let check = |status, body: &str, close, expected| check(shape.clone(), status, body, close, expected);
        check(
            429,
            r#"{"error":{"message":"slow down"}}"#,
            Close::Clean,
            LlmErrorKind::RateLimit,
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
            r#"{"results":[],"output":{"results":[]}}"#,
            Close::Clean,
            LlmErrorKind::Malformed,
        );
        let no_score = r#"{"results":[{"index":0}],"output":{"results":[{"index":0}]}}"#;
        check(200, no_score, Close::Clean, LlmErrorKind::Malformed);
        let negative = r#"{"results":[{"index":-1,"relevance_score":1}],"output":{"results":[{"index":1.5,"relevance_score":1}]}}"#;
        check(200, negative, Close::Clean, LlmErrorKind::Malformed);
        check(200, "<title>Sign in</title>", Close::Clean, LlmErrorKind::Malformed);
        check(200, "", Close::Clean, LlmErrorKind::Malformed);
        check(200, r#"{"results":[{"in"#, Close::Clean, LlmErrorKind::Truncated);
        check(200, r#"{"results":[{"in"#, Close::Reset, LlmErrorKind::Connect);
    }
    // The errors of DashScope have no member `error`.
    let unauthorized = r#"{"code":"InvalidApiKey","message":"Invalid API-key provided.","request_id":"1"}"#;
    check(
        ResponseShape::dashscope(),
        401,
        unauthorized,
        Close::Clean,
        LlmErrorKind::Authentication,
    );
    let throttled = r#"{"code":"Throttling.RateQuota","message":"Requests rate limit exceeded","request_id":"1"}"#;
    check(
        ResponseShape::dashscope(),
        429,
        throttled,
        Close::Clean,
        LlmErrorKind::RateLimit,
    );
    let detail = r#"{"detail":"model is loading"}"#;
    let error = decode::<Rerank>(&wire(ResponseShape::openai()), 200, detail, Close::Clean).unwrap_err();
    assert!(error.message().contains("model is loading"), "{error}");
}

#[test]
fn shapes_are_checked() {
    let check = |shape: ResponseShape, expected: &str| {
        let error = RerankWire::new(shape).unwrap_err();
        assert_eq!(error.kind(), LlmErrorKind::InvalidRequest);
        assert!(error.message().contains(expected), "{error}");
    };
    let shape = ResponseShape::openai;
    check(
        shape().with_pointer("vector", "/x"),
        "the pointers are results, index, score",
    );
    check(shape().with_pointer("score", "score"), "does not begin with a slash");
    check(shape().with_pointer("score", "/a~b"), "tilde");
    for path in ["rerank", "", "https://example.com/rerank", "/a b", "/a#b", "/a\n"] {
        check(shape().with_path(path), "is not a path");
    }
    assert_eq!(ResponseShape::names().collect::<Vec<_>>(), ["openai", "dashscope"]);
}

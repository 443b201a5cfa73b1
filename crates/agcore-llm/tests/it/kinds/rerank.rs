//! Models that rate documents.

use std::sync::Arc;

use agcore_chat::Usage;
use agcore_llm::{
    LlmErrorKind, ModelReranker, OperationProvider, Ranking, Reranker, SystemClock,
    cassette::{CassetteBuffer, RecordingProvider, ReplayProvider},
    layer::{
        key_pool::{KeyPool, KeyPoolPolicy, PoolKey},
        rate_limit::{RateLimit, RateLimits},
        retry::{Retry, RetryPolicy},
        trace::Trace,
    },
    wire::{
        ResponseShape,
        operation::{Rerank, RerankRequest},
        rerank::RerankWire,
    },
};
use agcore_testkit::{
    clock::ManualClock,
    mock_server::{ApiError, MockServer, Reply},
    spans::SpanLog,
};
use serde_json::json;

use super::support::{self, check_failure, deadline, faults, faulty, server, url};
use crate::support::{always, seconds};

const PATHS: [(&str, &str); 2] = [
    ("openai", "/v1/rerank"),
    ("dashscope", "/api/v1/services/rerank/text-rerank/text-rerank"),
];

fn provider(server: &MockServer, form: &str) -> OperationProvider<Rerank> {
    let shape = ResponseShape::named(form).unwrap();
    support::provider(&url(server, form), RerankWire::new(shape).unwrap())
}

fn request() -> RerankRequest {
    RerankRequest::new("the red fox", ["a blue sea", "a red fox", "the fox"])
}

fn order(ranking: &Ranking) -> Vec<usize> {
    ranking.documents.iter().map(|document| document.index).collect()
}

#[tokio::test]
async fn documents_are_ranked_by_relevance() {
    for (form, path) in PATHS {
        let server = server().await;
        let reranker = ModelReranker::from_provider(provider(&server, form));
        let ranking = reranker.rerank(request()).await.unwrap();
        assert_eq!(order(&ranking), [2, 1, 0], "{form}");
        assert!(ranking.usage.as_ref().and_then(Usage::total) > Some(0));
        let top = reranker
            .rerank(request().with_top_n(1).with_model("other"))
            .await
            .unwrap();
        assert_eq!(order(&top), [2]);
        let sent = server.requests();
        assert_eq!((sent[0].path(), &sent[0].json()["model"]), (path, &json!("mock-model")));
        assert_eq!(sent[1].json()["model"], "other");
    }
}

#[tokio::test]
async fn each_fault_is_an_error_of_its_kind() {
    for (form, path) in PATHS {
        for (name, fault, expected) in faults() {
            let server = faulty(path, move |_, reply| fault(reply)).await;
            let reranker = ModelReranker::from_provider(provider(&server, form)).with_deadline(deadline(name));
            check_failure(name, &reranker.rerank(request()).await.unwrap_err(), expected);
        }
    }
}

#[tokio::test]
async fn scores_that_do_not_fit_are_refused() {
    let check = async |results: serde_json::Value, expected: &str| {
        let server = faulty("/v1/rerank", move |_, _| Reply::json(200, &json!({"results": results}))).await;
        let reranker = ModelReranker::from_provider(provider(&server, "openai"));
        let error = reranker.rerank(request()).await.unwrap_err();
        check_failure(expected, &error, LlmErrorKind::Malformed);
        assert!(error.message().contains(expected), "{error}");
    };
    let score = |index: u64| json!({"index": index, "relevance_score": 0.5});
    check(json!([score(0), score(1)]), "2 scores, but 3").await;
    check(json!([score(0), score(0), score(1)]), "two scores for document 0").await;
    check(json!([score(0), score(1), score(7)]), "document 7, but there are 3").await;
}

#[tokio::test]
async fn invalid_requests_are_not_sent() {
    let server = server().await;
    let reranker = ModelReranker::from_provider(provider(&server, "openai"));
    let nothing: [&str; 0] = [];
    for invalid in [
        RerankRequest::new("", ["a"]),
        RerankRequest::new("q", nothing),
        RerankRequest::new("q", ["a", ""]),
        request().with_top_n(0),
        request().with_extra_body("query", "other"),
    ] {
        let error = reranker.rerank(invalid).await.unwrap_err();
        assert_eq!(error.kind(), LlmErrorKind::InvalidRequest, "{error}");
    }
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn retries_keys_and_limits_apply() {
    let busy = faulty("/v1/rerank", |number, reply| match number {
        0 => Reply::error(ApiError::new(503)),
        1 => Reply::error(ApiError::new(429)),
        _ => reply,
    })
    .await;
    let (fine, clock) = (server().await, Arc::new(ManualClock::jumping()));
    let retried = ModelReranker::from_provider(provider(&busy, "openai"))
        .with_layer(|inner| Retry::new(inner, RetryPolicy::new(), clock.clone(), always(0.5)));
    assert_eq!(order(&retried.rerank(request()).await.unwrap()), [2, 1, 0]);
    assert_eq!(busy.requests().len(), 3);

    let limited = faulty("/v1/rerank", |_, _| Reply::error(ApiError::new(429))).await;
    let keys = [
        PoolKey::new("limited", provider(&limited, "openai")),
        PoolKey::new("fine", provider(&fine, "openai")),
    ];
    let clock = Arc::new(ManualClock::new());
    let pool = KeyPool::new(keys, KeyPoolPolicy::new(), clock.clone()).unwrap();
    let limits = RateLimits::new().with_requests_per_minute(1).with_max_wait(seconds(0));
    let reranker = ModelReranker::from_provider(RateLimit::new(pool, limits, clock).unwrap());
    let ranking = reranker.rerank(request()).await.unwrap();
    assert_eq!(ranking.answered_by.unwrap().key.as_deref(), Some("fine"));
    let error = reranker.rerank(request()).await.unwrap_err();
    assert!(error.message().contains("the local limit of 1 "), "{error}");
}

#[tokio::test]
async fn calls_are_recorded_and_replayed() {
    let (server, buffer) = (server().await, CassetteBuffer::new());
    let reranker = ModelReranker::from_provider(provider(&server, "openai"))
        .with_layer(|inner| RecordingProvider::new(inner, buffer.clone(), Arc::new(ManualClock::new())));
    let recorded = reranker.rerank(request().with_top_n(2)).await.unwrap();
    let replayed = ModelReranker::from_provider(ReplayProvider::new(buffer.cassette()));
    assert_eq!(
        replayed.rerank(request().with_top_n(2)).await.unwrap().documents,
        recorded.documents
    );
    assert!(replayed.rerank(request()).await.is_err(), "only what was recorded");
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn spans_name_the_operation() {
    let log = SpanLog::new();
    log.record(|| {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let server = server().await;
            let reranker = ModelReranker::from_provider(provider(&server, "openai"))
                .with_layer(|inner| Trace::new(inner, Arc::new(SystemClock::new())));
            reranker.rerank(request()).await.unwrap();
        });
    });
    let span = log.only("chat");
    assert_eq!(span.field("otel.name"), Some("rerank mock-model"));
    assert_eq!(span.field("gen_ai.operation.name"), Some("rerank"));
}

#[cfg(feature = "openai-chat")]
#[tokio::test]
async fn settings_choose_the_form() {
    use agcore_llm::ProviderConfig;
    let server = server().await;
    let config = ProviderConfig::parse("qwen:gte-rerank-v2")
        .unwrap()
        .with_api_key("sk-1");
    let native = config.clone().with_base_url(url(&server, "dashscope"));
    native.build_reranker().unwrap().rerank(request()).await.unwrap();
    let shape = ResponseShape::openai().with_path("/rerank");
    let other = config.with_base_url(server.base_url()).with_response_shape(shape);
    other.build_reranker().unwrap().rerank(request()).await.unwrap();
    let paths: Vec<String> = server
        .requests()
        .iter()
        .map(|request| request.path().to_owned())
        .collect();
    assert_eq!(paths, [PATHS[1].1, PATHS[0].1]);
    let missing = ProviderConfig::parse("qwen:gte-rerank-v2")
        .unwrap()
        .build_reranker()
        .unwrap_err();
    assert_eq!(missing.kind(), LlmErrorKind::Authentication);
    let invalid = ProviderConfig::parse("compatible:m")
        .unwrap()
        .with_base_url("http://localhost:1/v1");
    let invalid = invalid.with_response_shape(ResponseShape::openai().with_pointer("text", "/x"));
    assert!(invalid.build_reranker().unwrap_err().message().contains("`text`"));
}

//! Layers around embeddings: each request passes through them on its own.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use agcore_chat::Embedder;
#[cfg(feature = "cassettes")]
use agcore_llm::cassette::{CassetteBuffer, RecordingProvider, ReplayProvider};
use agcore_llm::{
    EmbeddingProvider, LlmErrorKind, LlmProvider, ModelEmbedder, ProviderInfo, SystemClock, dialect,
    layer::{
        key_pool::{KeyPool, KeyPoolPolicy, PoolKey},
        rate_limit::{RateLimit, RateLimits},
        retry::{Retry, RetryPolicy},
        trace::Trace,
    },
    transport::http::{HttpOptions, HttpTransport},
    wire::openai_chat::OpenAiChat,
};
use agcore_testkit::{
    clock::ManualClock,
    mock_server::{ApiError, MockOptions, MockServer, RecordedRequest, Reply, Script, embed},
    spans::SpanLog,
};
use futures_util::FutureExt;
use serde_json::{Value, json};

use crate::support::{always, seconds};

/// Vectors `[n]` for texts that are numbers, and three tokens for each text.
fn answer(body: &Value) -> Reply {
    let texts = body["input"].as_array().unwrap();
    let data = texts.iter().enumerate().map(|(index, text)| {
        let number: f64 = text.as_str().unwrap().parse().unwrap();
        json!({"object": "embedding", "index": index, "embedding": [number, 1.0]})
    });
    let data: Vec<Value> = data.collect();
    let tokens = 3 * data.len();
    let usage = json!({"prompt_tokens": tokens, "total_tokens": tokens});
    Reply::json(
        200,
        &json!({"object": "list", "data": data, "model": "m", "usage": usage}),
    )
}

fn provider(server: &MockServer) -> EmbeddingProvider {
    let transport = HttpTransport::new(HttpOptions::new(server.base_url())).unwrap();
    let wire = Arc::new(OpenAiChat::new(dialect::openai()));
    EmbeddingProvider::new(ProviderInfo::new("mock", "mock-model"), wire, Arc::new(transport))
}

/// Starts a server that refuses the requests with these numbers, counted from 0, with a status.
async fn server(refused: &'static [usize], status: u16) -> MockServer {
    let number = AtomicUsize::new(0);
    let script = Script::new([]).then_with(move |request| {
        let number = number.fetch_add(1, Ordering::SeqCst);
        match refused.contains(&number) {
            true => Reply::error(ApiError::new(status)),
            false => answer(request.json()),
        }
    });
    let options = MockOptions::new().with_route("POST", "/v1/embeddings", script.repeating());
    MockServer::start_with(options, |_: &RecordedRequest| Reply::text("ok"))
        .await
        .unwrap()
}

fn numbers(count: usize) -> Vec<String> {
    (0..count).map(|number| number.to_string()).collect()
}

fn refs(texts: &[String]) -> Vec<&str> {
    texts.iter().map(String::as_str).collect()
}

#[tokio::test]
async fn a_refused_batch_is_repeated_alone() {
    let server = server(&[9], 429).await;
    let clock = Arc::new(ManualClock::jumping());
    let embedder = ModelEmbedder::from_provider(provider(&server))
        .with_layer(|inner| Retry::new(inner, RetryPolicy::new(), clock, always(0.5)))
        .with_max_inputs(10)
        .with_max_concurrent(1);
    let texts = numbers(100);
    let found = embedder.embed_texts(&refs(&texts)).await.unwrap();
    let expected: Vec<Vec<f32>> = (0..100_u16).map(|number| vec![f32::from(number), 1.0]).collect();
    assert_eq!(found.vectors, expected);
    assert_eq!(found.usage.unwrap().prompt_tokens, Some(300));
    let sizes: Vec<usize> = server.requests().iter().map(inputs).collect();
    assert_eq!(sizes, [10; 11], "ten batches, and the tenth once more");
    let first: Vec<String> = server
        .requests()
        .iter()
        .map(|request| request.json()["input"][0].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(&first[8..], ["80", "90", "90"]);
}

fn inputs(request: &RecordedRequest) -> usize {
    request.json()["input"].as_array().unwrap().len()
}

#[tokio::test]
async fn without_a_retry_the_error_has_the_usage_that_was_paid() {
    let server = server(&[2], 429).await;
    let embedder = ModelEmbedder::from_provider(provider(&server))
        .with_max_inputs(10)
        .with_max_concurrent(1);
    let texts = numbers(50);
    let error = embedder.embed_texts(&refs(&texts)).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.provider()),
        (LlmErrorKind::RateLimit, Some("mock"))
    );
    let paid = error.partial().unwrap().usage.as_ref().unwrap();
    assert_eq!(paid.prompt_tokens, Some(60), "two batches of ten texts");
    assert_eq!(server.requests().len(), 3, "nothing is sent after a failure");
}

#[tokio::test]
async fn batches_are_sent_side_by_side_up_to_the_limit() {
    let server = MockServer::start(|_: &RecordedRequest| Reply::text("ok"))
        .await
        .unwrap();
    let running = Arc::new(AtomicUsize::new(0));
    let most = Arc::new(AtomicUsize::new(0));
    let embedder = ModelEmbedder::from_provider(provider(&server))
        .with_layer(|inner| Gauge {
            inner,
            running: Arc::clone(&running),
            most: Arc::clone(&most),
        })
        .with_dimensions(8)
        .with_max_inputs(1)
        .with_max_concurrent(3);
    let texts = numbers(12);
    let found = embedder.embed(&refs(&texts)).await.unwrap();
    let expected: Vec<Vec<f32>> = texts.iter().map(|text| embed(text, 8)).collect();
    assert_eq!(found.vectors, expected, "in the order of the texts");
    assert_eq!((running.load(Ordering::SeqCst), most.load(Ordering::SeqCst)), (0, 3));
}

/// Counts the calls that run at the same time.
#[derive(Debug)]
struct Gauge<P> {
    inner: P,
    running: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
}

impl<P: LlmProvider> LlmProvider for Gauge<P> {
    fn open(&self, call: agcore_llm::Call) -> agcore_llm::ReplyStream {
        use futures_util::StreamExt;
        let running = self.running.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(running, Ordering::SeqCst);
        let count = Arc::clone(&self.running);
        agcore_llm::ReplyStream::new(self.inner.open(call).inspect(move |item| {
            if matches!(item, agcore_llm::ReplyItem::End(_)) {
                count.fetch_sub(1, Ordering::SeqCst);
            }
        }))
    }
}

#[tokio::test]
async fn limits_and_keys_apply_to_each_request() {
    let (busy, fine) = (server(&[0], 429).await, server(&[], 0).await);
    let clock: Arc<ManualClock> = Arc::new(ManualClock::new());
    let keys = [
        PoolKey::new("busy", provider(&busy)),
        PoolKey::new("fine", provider(&fine)),
    ];
    let pool = KeyPool::new(keys, KeyPoolPolicy::new(), clock.clone()).unwrap();
    let limits = RateLimits::new().with_requests_per_minute(2).with_max_wait(seconds(0));
    let limited = RateLimit::new(pool.clone(), limits, clock).unwrap();
    let embedder = ModelEmbedder::from_provider(limited)
        .with_max_inputs(1)
        .with_max_concurrent(1);
    let texts = numbers(2);
    assert_eq!(embedder.embed_texts(&refs(&texts)).await.unwrap().vectors.len(), 2);
    assert!(pool.status()[0].cooldown.is_some(), "the refused key cools down");
    let error = embedder.embed_texts(&["2"]).await.unwrap_err();
    assert!(
        error.message().contains("the local limit of 2 requests per minute"),
        "{error}"
    );
}

#[cfg(feature = "cassettes")]
#[tokio::test]
async fn requests_are_recorded_and_replayed() {
    let server = server(&[], 0).await;
    let buffer = CassetteBuffer::new();
    let embedder = ModelEmbedder::from_provider(provider(&server))
        .with_layer(|inner| RecordingProvider::new(inner, buffer.clone(), Arc::new(ManualClock::new())))
        .with_max_inputs(2);
    let texts = numbers(5);
    let recorded = embedder.embed_texts(&refs(&texts)).await.unwrap();

    let replayed = ModelEmbedder::from_provider(ReplayProvider::new(buffer.cassette())).with_max_inputs(2);
    assert_eq!(replayed.embed_texts(&refs(&texts)).await.unwrap(), recorded);
    assert!(
        replayed.embed_texts(&["another"]).await.is_err(),
        "only what was recorded"
    );
    assert_eq!(server.requests().len(), 3);
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
            let server = server(&[], 0).await;
            let embedder = ModelEmbedder::from_provider(provider(&server))
                .with_layer(|inner| Trace::new(inner, Arc::new(SystemClock::new())));
            embedder.embed_texts(&["1"]).await.unwrap();
        });
    });
    let span = log.only("chat");
    assert_eq!(span.field("otel.name"), Some("embeddings mock-model"));
    assert_eq!(span.field("gen_ai.operation.name"), Some("embeddings"));
    assert_eq!(span.field("gen_ai.usage.input_tokens"), Some("3"));
}

#[tokio::test]
async fn dropping_the_future_drops_all_requests() {
    let server = MockServer::start(|_: &RecordedRequest| Reply::text("ok"))
        .await
        .unwrap();
    let embedder = ModelEmbedder::from_provider(provider(&server)).with_max_inputs(1);
    let texts = numbers(3);
    let texts = refs(&texts);
    let mut running = Box::pin(embedder.embed_texts(&texts));
    assert!((&mut running).now_or_never().is_none());
    drop(running);
    assert!(embedder.embed_texts(&texts).await.is_ok());
}

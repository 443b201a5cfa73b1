//! What the layers cost in allocations when nothing happens; they are exact, so they are limits.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    missing_docs,
    reason = "tests may fail loudly"
)]

use std::sync::Arc;

use agcore_chat::{ChatRequest, Clock, Message, Text, Usage};
use agcore_llm::{
    Call, LlmProvider, LlmProviderExt, ProviderInfo, ReplyDelta, ReplyItem, ReplyStream, SystemClock,
    layer::{
        breaker::{Breaker, BreakerPolicy},
        fallback::{Candidate, Fallback, FallbackPolicy},
        key_pool::{KeyPool, KeyPoolPolicy, PoolKey},
        rate_limit::{RateLimit, RateLimits},
        retry::{Retry, RetryPolicy},
        router::{Route, Router},
    },
};
use futures_util::{FutureExt, stream};

/// Calls that are counted, after some that warm everything up.
const CALLS: u32 = 100;

/// Answers at once, with a text and its usage.
#[derive(Debug)]
struct Ready(ProviderInfo);

impl LlmProvider for Ready {
    fn open(&self, _: Call) -> ReplyStream {
        let text = ReplyDelta::Text {
            choice: 0,
            text: "Hi.".into(),
        };
        let usage = ReplyDelta::Usage(Box::new(Usage::new(10, 5)));
        ReplyStream::new(stream::iter([
            ReplyItem::Delta(text),
            ReplyItem::Delta(usage),
            ReplyItem::End(Ok(())),
        ]))
    }

    fn info(&self) -> &ProviderInfo {
        &self.0
    }
}

fn ready() -> Ready {
    Ready(ProviderInfo::new("openai", "gpt-5-mini-2026-01-01-with-a-long-name"))
}

fn clock() -> Arc<dyn Clock> {
    Arc::new(SystemClock::new())
}

fn limits() -> RateLimits {
    RateLimits::new()
        .with_requests_per_minute(1_000_000)
        .with_tokens_per_minute(1_000_000_000)
}

/// Allocations for each call, the request's own apart; the answer says who gave it.
fn per_call(provider: &dyn LlmProvider) -> f64 {
    let request = Arc::new(ChatRequest::new([Message::user("Hello")]));
    let call = || {
        let answer = provider.chat_call(Call::new(Arc::clone(&request))).now_or_never();
        let response = answer.expect("it answers at once").unwrap();
        response.answered_by.map(|who| who.provider)
    };
    // The log of sent requests grows to its size.
    let who: Option<Text> = (0..2_100).fold(None, |_, _| call());
    let info = allocation_counter::measure(|| {
        for _ in 0..CALLS {
            assert_eq!(call(), who);
        }
    });
    info.count_total as f64 / f64::from(CALLS)
}

#[track_caller]
fn check(layered: &dyn LlmProvider, most: f64) {
    let (bare, layered) = (per_call(&ready()), per_call(layered));
    assert!(bare > 0.0, "the measure counts something");
    let cost = layered - bare;
    assert!(cost <= most, "{cost} allocations for each call, {most} are allowed");
}

fn keys(count: usize) -> impl Iterator<Item = PoolKey> {
    (0..count).map(|number| PoolKey::new(format!("key-{number}"), ready()))
}

#[test]
fn each_layer_costs_its_own_stream() {
    check(&RateLimit::new(ready(), limits(), clock()).unwrap(), 1.0);
    check(&Breaker::new(ready(), BreakerPolicy::new(), clock()).unwrap(), 1.0);
    check(&KeyPool::new(keys(3), KeyPoolPolicy::new(), clock()).unwrap(), 1.0);
    let candidates = [1.0, 2.0].map(|weight| Candidate::new(ready()).with_weight(weight));
    let fallback = Fallback::new(candidates, FallbackPolicy::new(), clock(), Arc::new(|| 0.5)).unwrap();
    check(&fallback, 1.0);
}

#[test]
fn a_router_with_everything_on_costs_little() {
    let route = |name: &str| Route::of_keys(name, keys(3)).with_limits(limits());
    let builder = Router::builder(clock(), Arc::new(|| 0.5));
    let router = builder
        .route(route("a").with_weight(2.0))
        .route(route("b").with_weight(1.0))
        .route(route("c"))
        .build()
        .unwrap();
    check(&router, 4.0);
    check(&Retry::new(router, RetryPolicy::new(), clock(), Arc::new(|| 0.5)), 5.0);
}

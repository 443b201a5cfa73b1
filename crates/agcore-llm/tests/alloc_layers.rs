//! The allocations of each layer in calls that succeed at once. The counts are exact, so they serve as limits.
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
use futures_util::FutureExt;

/// The number of measured calls, after some for warming up.
const CALLS: u32 = 100;

/// A provider that answers at once with text and usage.
#[derive(Debug)]
struct Ready(ProviderInfo);

impl LlmProvider for Ready {
    fn open(&self, _: Call) -> ReplyStream {
        let text = ReplyDelta::Text {
            choice: 0,
            text: "Hi.".into(),
        };
        let usage = ReplyDelta::Usage(Box::new(Usage::new(10, 5)));
        ReplyStream::from_items([ReplyItem::Delta(text), ReplyItem::Delta(usage), ReplyItem::End(Ok(()))])
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

/// Returns the allocations per call, without those of the request. The response states who answered.
fn per_call(provider: &dyn LlmProvider) -> f64 {
    let request = Arc::new(ChatRequest::new([Message::user("Hello")]));
    let call = || {
        let response = provider.chat_call(Call::new(Arc::clone(&request))).now_or_never();
        let response = response.expect("the provider answers at once").unwrap();
        response.answered_by.map(|answered_by| answered_by.provider)
    };
    // The log of sent requests grows to its final size.
    let answered_by: Option<Text> = (0..2_100).fold(None, |_, _| call());
    let info = allocation_counter::measure(|| {
        for _ in 0..CALLS {
            assert_eq!(call(), answered_by);
        }
    });
    info.count_total as f64 / f64::from(CALLS)
}

#[track_caller]
fn check(layered: &dyn LlmProvider, limit: f64) {
    let (bare, layered) = (per_call(&ready()), per_call(layered));
    assert!(bare > 0.0, "nothing was counted");
    let cost = layered - bare;
    assert!(cost <= limit, "{cost} allocations per call, {limit} are allowed");
}

fn keys(count: usize) -> impl Iterator<Item = PoolKey> {
    (0..count).map(|number| PoolKey::new(format!("key-{number}"), ready()))
}

#[test]
fn each_layer_allocates_only_its_stream() {
    check(&Retry::new(ready(), RetryPolicy::new(), clock(), Arc::new(|| 0.5)), 1.0);
    check(&RateLimit::new(ready(), limits(), clock()).unwrap(), 1.0);
    check(&Breaker::new(ready(), BreakerPolicy::new(), clock()).unwrap(), 1.0);
    check(&KeyPool::new(keys(3), KeyPoolPolicy::new(), clock()).unwrap(), 1.0);
    let candidates = [1.0, 2.0].map(|weight| Candidate::new(ready()).with_weight(weight));
    let fallback = Fallback::new(candidates, FallbackPolicy::new(), clock(), Arc::new(|| 0.5)).unwrap();
    check(&fallback, 1.0);
}

#[test]
fn a_router_with_all_layers_allocates_four_streams() {
    let route = |name: &str| Route::from_keys(name, keys(3)).with_limits(limits());
    let builder = Router::builder(clock(), Arc::new(|| 0.5));
    let router = builder
        .with_route(route("a").with_weight(2.0))
        .with_route(route("b").with_weight(1.0))
        .with_route(route("c"))
        .build()
        .unwrap();
    check(&router, 4.0);
    check(&Retry::new(router, RetryPolicy::new(), clock(), Arc::new(|| 0.5)), 5.0);
}

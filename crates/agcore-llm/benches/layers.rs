//! The CPU time that each layer adds to a call that succeeds at once.
//!
//! Run it with `cargo bench -p agcore-llm --bench layers`. A router with all layers should add at most 2 µs. The rounds of
//! all rows are interleaved, and each row is compared with the bare provider of the same round. The row with a stopped clock
//! shows how expensive it is to read the time on this machine.
#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs, reason = "a bench prints")]

use std::{
    hint::black_box,
    sync::Arc,
    time::{Duration, SystemTime},
};

use agcore_chat::{ChatRequest, Clock, Message, Usage};
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
    system_random,
};
use futures_util::FutureExt;
use rustix::time::{ClockId, clock_gettime};

const ROUNDS: usize = 31;
const CALLS: u32 = 2_000;

/// A provider that answers at once with text and usage.
#[derive(Debug, Clone)]
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

/// A clock that does not move.
#[derive(Debug)]
struct StoppedClock;

#[async_trait::async_trait]
impl Clock for StoppedClock {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH
    }

    fn monotonic(&self) -> Duration {
        Duration::ZERO
    }

    async fn sleep(&self, _: Duration) {
        std::future::pending::<()>().await;
    }
}

fn ready() -> Ready {
    Ready(ProviderInfo::new("openai", "gpt-5-mini"))
}

fn keys() -> impl Iterator<Item = PoolKey> {
    (0..3).map(|number| PoolKey::new(format!("key-{number}"), ready()))
}

fn limits() -> RateLimits {
    RateLimits::new()
        .with_requests_per_minute(u32::MAX)
        .with_tokens_per_minute(u64::MAX)
}

fn router(clock: &Arc<dyn Clock>) -> Router {
    let route = |name: &str| Route::from_keys(name, keys()).with_limits(limits());
    Router::builder(Arc::clone(clock), system_random())
        .with_route(route("a").with_weight(2.0))
        .with_route(route("b").with_weight(1.0))
        .with_route(route("c"))
        .build()
        .unwrap()
}

fn rows() -> Vec<(&'static str, Arc<dyn LlmProvider>)> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let stopped: Arc<dyn Clock> = Arc::new(StoppedClock);
    let candidates = [1.0, 2.0].map(|weight| Candidate::new(ready()).with_weight(weight));
    let fallback = Fallback::new(candidates, FallbackPolicy::new(), Arc::clone(&clock), system_random()).unwrap();
    let retry = Retry::new(router(&clock), RetryPolicy::new(), Arc::clone(&clock), system_random());
    vec![
        ("bare provider", Arc::new(ready())),
        (
            "rate limit",
            Arc::new(RateLimit::new(ready(), limits(), Arc::clone(&clock)).unwrap()),
        ),
        (
            "breaker",
            Arc::new(Breaker::new(ready(), BreakerPolicy::new(), Arc::clone(&clock)).unwrap()),
        ),
        (
            "key pool",
            Arc::new(KeyPool::new(keys(), KeyPoolPolicy::new(), Arc::clone(&clock)).unwrap()),
        ),
        ("fallback, weighted", Arc::new(fallback)),
        ("router (limit 2000)", Arc::new(router(&clock))),
        ("router, stopped clock", Arc::new(router(&stopped))),
        ("retry around router", Arc::new(retry)),
    ]
}

/// Returns the CPU time of this thread per call, in nanoseconds.
fn measure(provider: &dyn LlmProvider, request: &Arc<ChatRequest>) -> f64 {
    let cpu = || {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap())
    };
    let start = cpu();
    for _ in 0..CALLS {
        let response = provider.chat_call(Call::new(Arc::clone(request))).now_or_never();
        black_box(response.unwrap().unwrap());
    }
    (cpu() - start).as_secs_f64() * 1e9 / f64::from(CALLS)
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

fn main() {
    let request = Arc::new(ChatRequest::new([Message::user("Name a river in France.")]));
    let rows = rows();
    let rounds: Vec<Vec<f64>> = (0..ROUNDS)
        .map(|_| {
            rows.iter()
                .map(|(_, provider)| measure(&**provider, &request))
                .collect()
        })
        .collect();
    println!(
        "{:<22} {:>10} {:>10}   ns per call, medians of {ROUNDS} rounds",
        "", "call", "added"
    );
    for (at, (name, _)) in rows.iter().enumerate() {
        let call = median(rounds.iter().map(|round| round[at]).collect());
        let added = median(rounds.iter().map(|round| round[at] - round[0]).collect());
        println!("{name:<22} {call:>10.0} {added:>10.0}");
    }
}

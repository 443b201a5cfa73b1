//! Limits of requests and tokens per minute around a provider.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use agcore_chat::{ChatRequest, ChatResponse, Clock, Message, TokenEstimator, Usage};
use agcore_llm::{
    Call, LlmErrorKind, LlmProvider,
    layer::rate_limit::{RateLimit, RateLimits},
    provider_fn,
};
use agcore_testkit::clock::ManualClock;
use futures_util::{FutureExt, StreamExt, future};

use crate::router_support::{ask, clocks, provider, request, seconds, steps, tell};

/// A request is as long as its text says.
struct Said;

impl TokenEstimator for Said {
    fn text(&self, text: &str) -> u64 {
        text.parse().unwrap_or(0)
    }

    fn request(&self, request: &ChatRequest) -> u64 {
        request.messages.iter().map(|message| self.text(&message.text())).sum()
    }
}

fn of_tokens(tokens: u64) -> Call {
    Call::new(ChatRequest::new([Message::user(tokens.to_string())]))
}

/// When each request came, and of how many tokens it was.
type Log = Arc<Mutex<Vec<(u64, u64)>>>;

/// Notes when each request comes, and uses the tokens that `used` makes of its estimate.
fn noting(
    clock: &Arc<ManualClock>,
    used: impl Fn(u64) -> Option<u64> + Send + Sync + 'static,
) -> (impl LlmProvider + 'static, Log) {
    let log = Log::default();
    let (clock, noted) = (Arc::clone(clock), Arc::clone(&log));
    let provider = provider_fn(move |call: Call| {
        let estimate = Said.request(&call.request);
        noted.lock().unwrap().push((clock.monotonic().as_secs(), estimate));
        let usage = used(estimate).map(|used| Usage::new(used, 0));
        async move {
            Ok(ChatResponse {
                usage,
                ..ChatResponse::from_text("Hi.")
            })
        }
    });
    (provider, log)
}

/// Turns the clock second by second until the future is done.
async fn turning<T>(clock: &ManualClock, done: impl Future<Output = T>) -> T {
    let turn = async {
        loop {
            tokio::task::yield_now().await;
            clock.advance(seconds(1));
        }
    };
    tokio::select! {
        biased;
        value = done => value,
        () = turn => unreachable!("it turns forever"),
    }
}

#[tokio::test]
async fn sixty_four_at_once_go_in_order_and_never_too_many_a_minute() {
    let (clock, handed) = clocks();
    let (inner, log) = noting(&clock, |_| None);
    let limits = RateLimits::new()
        .with_requests_per_minute(10)
        .with_max_wait(seconds(1000));
    let limited = RateLimit::new(inner, limits, handed)
        .unwrap()
        .with_estimator(Arc::new(Said));
    let calls = (0..64).map(|number| tell(&limited, of_tokens(number)));
    let told = turning(&clock, future::join_all(calls)).await;
    assert!(told.iter().all(|told| told.answer.is_ok()));
    // Those whose turn is at the same moment go in whatever order they wake up.
    let mut log = log.lock().unwrap();
    log.sort_unstable();
    let expected: Vec<(u64, u64)> = (0..64).map(|number| (number / 10 * 60, number)).collect();
    assert_eq!(*log, expected, "first come, first served, ten a minute");
}

#[tokio::test]
async fn sixty_four_of_many_sizes_keep_to_the_tokens() {
    let (clock, handed) = clocks();
    let (inner, log) = noting(&clock, Some);
    let limits = RateLimits::new()
        .with_tokens_per_minute(100)
        .with_max_wait(Duration::MAX);
    let limited = RateLimit::new(inner, limits, handed)
        .unwrap()
        .with_estimator(Arc::new(Said));
    let sizes: Vec<u64> = (0..64).map(|number| 1 + number * 37 % 100).collect();
    turning(
        &clock,
        future::join_all(sizes.iter().map(|size| tell(&limited, of_tokens(*size)))),
    )
    .await;
    let log = log.lock().unwrap();
    let time = |size: &u64| log.iter().find(|(_, other)| other == size).map(|(at, _)| *at);
    assert!(sizes.iter().map(time).is_sorted(), "first come, first served: {log:?}");
    assert_eq!(log.len(), 64);
    for (end, _) in log.iter() {
        let window = log.iter().filter(|(at, _)| at <= end && at + 60 > *end);
        let sum: u64 = window.map(|(_, size)| size).sum();
        assert!(sum <= 100, "{sum} tokens in the minute before {end}");
    }
}

#[tokio::test]
async fn what_was_not_used_lets_the_next_ones_go() {
    let (clock, handed) = clocks();
    let (inner, log) = noting(&clock, |_| Some(1));
    let limits = RateLimits::new()
        .with_tokens_per_minute(100)
        .with_max_wait(seconds(600));
    let limited = RateLimit::new(inner, limits, handed)
        .unwrap()
        .with_estimator(Arc::new(Said));
    // Each reserves nearly all: the others wait until the first has told what it really used.
    let mut first = limited.open(of_tokens(90));
    first.next().await;
    let others = future::join_all((0..2).map(|_| tell(&limited, of_tokens(90))));
    let (told, ()) = tokio::join!(others, async { while first.next().await.is_some() {} });
    assert_eq!(told[0].notices(), ["waiting 60"]);
    assert_eq!(log.lock().unwrap().len(), 3);
    assert_eq!(clock.monotonic(), Duration::ZERO, "nobody had to wait");
}

#[tokio::test]
async fn tokens_are_those_of_the_prompt_and_the_requests_own_limit() {
    let (clock, handed) = clocks();
    let (inner, log) = noting(&clock, |_| None);
    let limits = RateLimits::new()
        .with_tokens_per_minute(100)
        .with_max_wait(Duration::ZERO);
    let limited = RateLimit::new(inner, limits, handed)
        .unwrap()
        .with_estimator(Arc::new(Said));
    let mut call = of_tokens(40);
    call.request = Arc::new(ChatRequest::clone(&call.request).with_max_tokens(50));
    assert!(tell(&limited, call).await.answer.is_ok());
    assert!(tell(&limited, of_tokens(20)).await.answer.is_err());
    assert!(tell(&limited, of_tokens(10)).await.answer.is_ok());
    assert_eq!(log.lock().unwrap().len(), 2);
}

fn one_a_minute(
    wait: Duration,
    inner: impl LlmProvider + 'static,
    clock: Arc<dyn Clock>,
) -> RateLimit<impl LlmProvider> {
    let limits = RateLimits::new().with_requests_per_minute(1).with_max_wait(wait);
    RateLimit::new(inner, limits, clock).unwrap()
}

#[tokio::test]
async fn who_would_wait_too_long_fails_at_once_and_is_told_when() {
    let inner = provider("a", steps("ok"));
    let (clock, handed) = clocks();
    let limited = one_a_minute(seconds(30), inner, handed);
    assert!(ask(&limited).await.answer.is_ok());
    clock.advance(seconds(20));
    let told = ask(&limited).await;
    assert_eq!(
        told.error().to_string(),
        "a: our own limit of 1 requests per minute is reached: this call could go in 40.0 s, but may wait for 30.0 s"
    );
    assert_eq!(*told.error().kind(), LlmErrorKind::RateLimit);
    assert_eq!(told.error().retry_after(), Some(seconds(40)));
    assert!(clock.sleeps().is_empty() && told.notices.is_empty());
}

#[tokio::test]
async fn a_deadline_bounds_the_wait_and_what_is_left_is_handed_on() {
    let inner = crate::support::RawProvider::new([]);
    let clock = Arc::new(ManualClock::jumping());
    let limited = one_a_minute(seconds(90), inner.clone(), clock);
    let call = |deadline| Call::new(request()).with_deadline(seconds(deadline));
    tell(&limited, call(100)).await;
    let told = tell(&limited, call(59)).await;
    assert!(
        told.error().message().contains("may wait for 59.0 s"),
        "{}",
        told.error()
    );
    let told = tell(&limited, call(70)).await;
    assert_eq!(told.notices(), ["waiting 60"]);
    assert_eq!(inner.deadlines(), [Some(seconds(100)), Some(seconds(10))]);
}

#[tokio::test]
async fn a_wait_is_cancellable_and_leaves_its_place() {
    let inner = provider("a", steps("ok ok"));
    let (clock, handed) = clocks();
    let limited = one_a_minute(seconds(600), inner.clone(), handed);
    ask(&limited).await;
    let (cancelled, mut dropped) = (Call::new(request()), limited.open(Call::new(request())));
    let token = cancelled.token.clone();
    let mut waiting = Box::pin(tell(&limited, cancelled));
    assert!((&mut waiting).now_or_never().is_none());
    assert!(dropped.next().now_or_never().is_some(), "the notice");
    assert!(dropped.next().now_or_never().is_none());
    token.cancel();
    assert_eq!(*waiting.await.error().kind(), LlmErrorKind::Cancelled);
    drop(dropped);
    let told = turning(&clock, ask(&limited)).await;
    assert_eq!(told.notices(), ["waiting 60"], "not 180: two have left");
    assert_eq!(inner.requests().len(), 2);
}

#[tokio::test]
async fn who_is_pushed_back_too_far_is_told_so() {
    let (clock, handed) = clocks();
    let (inner, _) = noting(&clock, |estimate| (estimate == 50).then_some(1000));
    let limits = RateLimits::new().with_tokens_per_minute(100).with_max_wait(seconds(61));
    let limited = RateLimit::new(inner, limits, handed)
        .unwrap()
        .with_estimator(Arc::new(Said));
    tell(&limited, of_tokens(40)).await;
    clock.advance(seconds(30));
    // Is begun, and uses far more than it has reserved, while another one waits for the first to leave the window.
    let mut greedy = limited.open(of_tokens(50));
    greedy.next().await;
    let mut waiting = Box::pin(tell(&limited, of_tokens(30)));
    assert!((&mut waiting).now_or_never().is_none());
    while greedy.next().await.is_some() {}
    let told = turning(&clock, waiting).await;
    assert_eq!(told.notices(), ["waiting 30"]);
    assert!(told.answer.is_ok(), "it waits 60 instead: {:?}", told.answer);
    assert_eq!(clock.monotonic(), seconds(90));
}

#[tokio::test]
async fn a_limit_of_zero_is_refused() {
    let (_, clock) = clocks();
    let error = RateLimit::new(provider("a", []), RateLimits::new().with_tokens_per_minute(0), clock).unwrap_err();
    assert!(error.message().contains("`tokens_per_minute` is 0"), "{error}");
}

#[tokio::test]
async fn without_limits_nobody_waits() {
    let (_, clock) = clocks();
    let limited = RateLimit::new(provider("a", steps("ok ok ok")), RateLimits::new(), clock).unwrap();
    for _ in 0..3 {
        assert!(ask(&limited).await.notices.is_empty());
    }
}

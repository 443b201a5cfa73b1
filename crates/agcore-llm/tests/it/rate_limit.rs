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
use futures_util::{FutureExt, future};

use crate::support::{RawProvider, manual_clock, provider, request, run, seconds, send, steps};

/// Takes the text of a request as its number of tokens.
struct NumberInText;

impl TokenEstimator for NumberInText {
    fn text(&self, text: &str) -> u64 {
        text.parse().unwrap_or(0)
    }

    fn request(&self, request: &ChatRequest) -> u64 {
        request.messages.iter().map(|message| self.text(&message.text())).sum()
    }
}

fn call_with_tokens(tokens: u64) -> Call {
    Call::new(ChatRequest::new([Message::user(tokens.to_string())]))
}

/// The time and the estimated tokens of each request.
type Log = Arc<Mutex<Vec<(u64, u64)>>>;

/// A provider that logs each request, and reports the tokens that `used` returns for its estimate.
fn logging_provider(
    clock: &Arc<ManualClock>,
    used: impl Fn(u64) -> Option<u64> + Send + Sync + 'static,
) -> (impl LlmProvider + 'static, Log) {
    let log = Log::default();
    let (clock, shared_log) = (Arc::clone(clock), Arc::clone(&log));
    let provider = provider_fn(move |call: Call| {
        let estimate = NumberInText.request(&call.request);
        shared_log.lock().unwrap().push((clock.monotonic().as_secs(), estimate));
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

/// Advances the clock second by second until the future is ready.
async fn while_advancing<T>(clock: &ManualClock, future: impl Future<Output = T>) -> T {
    let advance = async {
        loop {
            tokio::task::yield_now().await;
            clock.advance(seconds(1));
        }
    };
    tokio::select! {
        biased;
        value = future => value,
        () = advance => unreachable!("the loop has no end"),
    }
}

#[tokio::test]
async fn concurrent_requests_are_sent_in_order_and_within_the_limit() {
    let (clock, shared) = manual_clock();
    let (inner, log) = logging_provider(&clock, |_| None);
    let limits = RateLimits::new()
        .with_requests_per_minute(10)
        .with_max_wait(seconds(1000));
    let limited = RateLimit::new(inner, limits, shared)
        .unwrap()
        .with_estimator(Arc::new(NumberInText));
    let calls = (0..64).map(|number| run(&limited, call_with_tokens(number)));
    let outcomes = while_advancing(&clock, future::join_all(calls)).await;
    assert!(outcomes.iter().all(|outcome| outcome.response.is_ok()));
    // Calls that may be sent at the same moment are sent in the order in which they are woken.
    let mut log = log.lock().unwrap();
    log.sort_unstable();
    let expected: Vec<(u64, u64)> = (0..64).map(|number| (number / 10 * 60, number)).collect();
    assert_eq!(*log, expected, "ten per minute, in order of arrival");
}

#[tokio::test]
async fn concurrent_requests_of_different_sizes_stay_within_the_token_limit() {
    let (clock, shared) = manual_clock();
    let (inner, log) = logging_provider(&clock, Some);
    let limits = RateLimits::new()
        .with_tokens_per_minute(100)
        .with_max_wait(Duration::MAX);
    let limited = RateLimit::new(inner, limits, shared)
        .unwrap()
        .with_estimator(Arc::new(NumberInText));
    let sizes: Vec<u64> = (0..64).map(|number| 1 + number * 37 % 100).collect();
    let calls = sizes.iter().map(|size| run(&limited, call_with_tokens(*size)));
    while_advancing(&clock, future::join_all(calls)).await;
    let log = log.lock().unwrap();
    let time = |size: &u64| log.iter().find(|(_, other)| other == size).map(|(at, _)| *at);
    assert!(
        sizes.iter().map(time).is_sorted(),
        "requests are sent in order of arrival: {log:?}"
    );
    assert_eq!(log.len(), 64);
    for (end, _) in log.iter() {
        let window = log.iter().filter(|(at, _)| at <= end && at + 60 > *end);
        let sum: u64 = window.map(|(_, size)| size).sum();
        assert!(sum <= 100, "{sum} tokens in the minute before {end}");
    }
}

#[tokio::test]
async fn unused_tokens_let_waiting_calls_start() {
    let (clock, shared) = manual_clock();
    let (inner, log) = logging_provider(&clock, |_| Some(1));
    let limits = RateLimits::new()
        .with_tokens_per_minute(100)
        .with_max_wait(seconds(600));
    let limited = RateLimit::new(inner, limits, shared)
        .unwrap()
        .with_estimator(Arc::new(NumberInText));
    // Each call reserves nearly all tokens, so the others wait until the first has reported its usage.
    let mut first = limited.open(call_with_tokens(90));
    first.next().await;
    let others = future::join_all((0..2).map(|_| run(&limited, call_with_tokens(90))));
    let (outcomes, ()) = tokio::join!(others, async { while first.next().await.is_some() {} });
    assert_eq!(outcomes[0].notices(), ["waiting 60"]);
    assert_eq!(log.lock().unwrap().len(), 3);
    assert_eq!(clock.monotonic(), Duration::ZERO, "no call had to wait");
}

#[tokio::test]
async fn reserves_the_prompt_and_the_token_limit_of_the_request() {
    let (clock, shared) = manual_clock();
    let (inner, log) = logging_provider(&clock, |_| None);
    let limits = RateLimits::new()
        .with_tokens_per_minute(100)
        .with_max_wait(Duration::ZERO);
    let limited = RateLimit::new(inner, limits, shared)
        .unwrap()
        .with_estimator(Arc::new(NumberInText));
    let mut call = call_with_tokens(40);
    call.request = Arc::new(ChatRequest::clone(&call.request).with_max_tokens(50));
    assert!(run(&limited, call).await.response.is_ok());
    assert!(run(&limited, call_with_tokens(20)).await.response.is_err());
    assert!(run(&limited, call_with_tokens(10)).await.response.is_ok());
    assert_eq!(log.lock().unwrap().len(), 2);
}

fn one_per_minute(
    max_wait: Duration,
    inner: impl LlmProvider + 'static,
    clock: Arc<dyn Clock>,
) -> RateLimit<impl LlmProvider> {
    let limits = RateLimits::new().with_requests_per_minute(1).with_max_wait(max_wait);
    RateLimit::new(inner, limits, clock).unwrap()
}

#[tokio::test]
async fn a_call_that_would_wait_too_long_fails_at_once() {
    let inner = provider("a", steps("ok"));
    let (clock, shared) = manual_clock();
    let limited = one_per_minute(seconds(30), inner, shared);
    assert!(send(&limited).await.response.is_ok());
    clock.advance(seconds(20));
    let outcome = send(&limited).await;
    assert_eq!(
        outcome.error().to_string(),
        "a: the local limit of 1 requests per minute is reached: this call could be sent in 40.0 s, but may wait only 30.0 s"
    );
    assert_eq!(outcome.error().kind(), LlmErrorKind::RateLimit);
    assert_eq!(outcome.error().retry_after(), Some(seconds(40)));
    assert!(clock.sleeps().is_empty() && outcome.notices.is_empty());
}

#[tokio::test]
async fn the_deadline_limits_the_wait_and_the_rest_is_passed_on() {
    let inner = RawProvider::new([]);
    let clock = Arc::new(ManualClock::jumping());
    let limited = one_per_minute(seconds(90), inner.clone(), clock);
    let call = |deadline| Call::new(request()).with_deadline(seconds(deadline));
    run(&limited, call(100)).await;
    let outcome = run(&limited, call(59)).await;
    assert!(
        outcome.error().message().contains("may wait only 59.0 s"),
        "{}",
        outcome.error()
    );
    let outcome = run(&limited, call(70)).await;
    assert_eq!(outcome.notices(), ["waiting 60"]);
    assert_eq!(inner.deadlines(), [Some(seconds(100)), Some(seconds(10))]);
}

#[tokio::test]
async fn cancelled_and_dropped_calls_leave_the_queue() {
    let inner = provider("a", steps("ok ok"));
    let (clock, shared) = manual_clock();
    let limited = one_per_minute(seconds(600), inner.clone(), shared);
    send(&limited).await;
    let (cancelled, mut dropped) = (Call::new(request()), limited.open(Call::new(request())));
    let token = cancelled.token.clone();
    let mut waiting = Box::pin(run(&limited, cancelled));
    assert!((&mut waiting).now_or_never().is_none());
    assert!(dropped.next().now_or_never().is_some(), "the first item is the notice");
    assert!(dropped.next().now_or_never().is_none());
    token.cancel();
    assert_eq!(waiting.await.error().kind(), LlmErrorKind::Cancelled);
    drop(dropped);
    let outcome = while_advancing(&clock, send(&limited)).await;
    assert_eq!(
        outcome.notices(),
        ["waiting 60"],
        "not 180 s, because two calls have left"
    );
    assert_eq!(inner.requests().len(), 2);
}

#[tokio::test]
async fn a_waiting_call_is_delayed_if_another_uses_more_than_it_reserved() {
    let (clock, shared) = manual_clock();
    let (inner, _) = logging_provider(&clock, |estimate| (estimate == 50).then_some(1000));
    let limits = RateLimits::new().with_tokens_per_minute(100).with_max_wait(seconds(61));
    let limited = RateLimit::new(inner, limits, shared)
        .unwrap()
        .with_estimator(Arc::new(NumberInText));
    run(&limited, call_with_tokens(40)).await;
    clock.advance(seconds(30));
    // Starts and uses far more than it reserved, while another call waits for the first to leave the window.
    let mut greedy = limited.open(call_with_tokens(50));
    greedy.next().await;
    let mut waiting = Box::pin(run(&limited, call_with_tokens(30)));
    assert!((&mut waiting).now_or_never().is_none());
    while greedy.next().await.is_some() {}
    let outcome = while_advancing(&clock, waiting).await;
    assert_eq!(outcome.notices(), ["waiting 30"]);
    assert!(
        outcome.response.is_ok(),
        "it waits 60 s instead: {:?}",
        outcome.response
    );
    assert_eq!(clock.monotonic(), seconds(90));
}

#[tokio::test]
async fn rejects_a_limit_of_zero() {
    let (_, clock) = manual_clock();
    let error = RateLimit::new(provider("a", []), RateLimits::new().with_tokens_per_minute(0), clock).unwrap_err();
    assert!(error.message().contains("`tokens_per_minute` is 0"), "{error}");
}

#[tokio::test]
async fn no_call_waits_without_limits() {
    let (_, clock) = manual_clock();
    let limited = RateLimit::new(provider("a", steps("ok ok ok")), RateLimits::new(), clock).unwrap();
    for _ in 0..3 {
        assert!(send(&limited).await.notices.is_empty());
    }
}

//! The circuit breaker around a provider.

use agcore_chat::FaultKind;
use agcore_llm::{
    Call, LlmErrorKind, LlmProvider, ReplyItem,
    layer::breaker::{Breaker, BreakerPolicy, CircuitState},
};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use futures_util::{FutureExt, StreamExt};

use crate::router_support::{ask, clocks, provider, request, seconds, steps, tell};

fn policy() -> BreakerPolicy {
    BreakerPolicy::new()
        .with_failures_in_row(2)
        .with_open_for(seconds(30), seconds(60))
}

fn of(
    provider: &ScriptedProvider,
) -> (
    Breaker<ScriptedProvider>,
    std::sync::Arc<agcore_testkit::clock::ManualClock>,
) {
    let (clock, handed) = clocks();
    (Breaker::new(provider.clone(), policy(), handed).unwrap(), clock)
}

#[tokio::test]
async fn an_open_circuit_asks_nobody_and_says_until_when_and_why() {
    let inner = provider("a", steps("500 503"));
    let (breaker, clock) = of(&inner);
    ask(&breaker).await;
    ask(&breaker).await;
    clock.advance(seconds(10));
    let told = ask(&breaker).await;
    let error = told.error();
    assert_eq!(
        error.to_string(),
        "a: not asked: the circuit is open after failures, the next call may try in 20.0 s"
    );
    assert!(error.is_retryable() && error.retry_after() == Some(seconds(20)));
    assert!(
        error.chain().ends_with("it went wrong"),
        "the last failure is its source: {}",
        error.chain()
    );
    assert_eq!(error.fault().kind, FaultKind::Overloaded);
    assert_eq!(inner.requests().len(), 2);
}

#[tokio::test]
async fn only_what_speaks_against_the_server_opens_it() {
    for script in [
        "400 400 400",
        "429 429 429",
        "401 401 401",
        "413 413 413",
        "500 400 500 400 500",
    ] {
        let inner = provider("a", steps(script));
        let (breaker, _) = of(&inner);
        for _ in script.split_whitespace() {
            ask(&breaker).await;
        }
        assert_eq!(breaker.state(), CircuitState::Closed, "{script}");
        inner.assert_done();
    }
}

#[tokio::test]
async fn a_stream_that_is_cut_speaks_against_the_server() {
    let cut = || ScriptStep::text("half").then_cut();
    let (breaker, _) = of(&provider("a", [cut(), cut()]));
    assert_eq!(*ask(&breaker).await.error().kind(), LlmErrorKind::Truncated);
    ask(&breaker).await;
    assert!(matches!(breaker.state(), CircuitState::Open { .. }));
}

#[tokio::test]
async fn of_many_at_once_one_tries() {
    let inner = provider("a", steps("500 500 ok"));
    let (breaker, clock) = of(&inner);
    ask(&breaker).await;
    ask(&breaker).await;
    clock.advance(seconds(30));
    let mut first = breaker.open(Call::new(request()));
    assert!(
        matches!(first.next().await, Some(ReplyItem::Delta(_))),
        "it begins, and has no content yet"
    );
    let told = futures_util::future::join_all((0..64).map(|_| ask(&breaker))).await;
    assert!(
        told.iter()
            .all(|told| told.error().message().contains("another call tries right now"))
    );
    assert_eq!(inner.requests().len(), 3);
    while first.next().await.is_some() {}
    assert_eq!(breaker.state(), CircuitState::Closed);
}

#[tokio::test]
async fn the_first_piece_of_an_answer_closes_it() {
    let long = ScriptStep::text("a long answer").then_hang();
    let inner = provider("a", steps("500 500").into_iter().chain([long]));
    let (breaker, clock) = of(&inner);
    ask(&breaker).await;
    ask(&breaker).await;
    clock.advance(seconds(30));
    let mut stream = breaker.open(Call::new(request()).with_stream(true));
    stream.next().await;
    assert_eq!(breaker.state(), CircuitState::HalfOpen);
    stream.next().await;
    assert_eq!(breaker.state(), CircuitState::Closed);
}

#[tokio::test]
async fn a_try_that_is_dropped_lets_the_next_one_try() {
    let inner = provider(
        "a",
        steps("500 500")
            .into_iter()
            .chain([ScriptStep::hang()])
            .chain(steps("ok")),
    );
    let (breaker, clock) = of(&inner);
    ask(&breaker).await;
    ask(&breaker).await;
    clock.advance(seconds(30));
    let mut attempt = breaker.open(Call::new(request()));
    assert!(attempt.next().now_or_never().is_none());
    assert_eq!(breaker.state(), CircuitState::HalfOpen);
    drop(attempt);
    assert_eq!(ask(&breaker).await.answer.unwrap().text(), "Hi.");
    assert_eq!(breaker.state(), CircuitState::Closed);
}

#[tokio::test]
async fn cancelled_calls_say_nothing() {
    let (breaker, _) = of(&provider("a", []));
    for _ in 0..5 {
        let call = Call::new(request());
        call.token.cancel();
        assert_eq!(*tell(&breaker, call).await.error().kind(), LlmErrorKind::Cancelled);
    }
    assert_eq!(breaker.state(), CircuitState::Closed);
}

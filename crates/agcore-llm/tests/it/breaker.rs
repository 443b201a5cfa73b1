//! The circuit breaker around a provider.

use std::sync::Arc;

use agcore_chat::FaultKind;
use agcore_llm::{
    Call, LlmErrorKind, LlmProvider, ReplyItem,
    layer::breaker::{Breaker, BreakerPolicy, CircuitState},
};
use agcore_testkit::{
    clock::ManualClock,
    scripted::{ScriptStep, ScriptedProvider},
};
use futures_util::{FutureExt, future};

use crate::support::{manual_clock, provider, request, run, seconds, send, steps};

fn policy() -> BreakerPolicy {
    BreakerPolicy::new()
        .with_failures_in_row(2)
        .with_open_for(seconds(30), seconds(60))
}

fn breaker(provider: &ScriptedProvider) -> (Breaker<ScriptedProvider>, Arc<ManualClock>) {
    let (clock, shared) = manual_clock();
    (Breaker::new(provider.clone(), policy(), shared).unwrap(), clock)
}

#[tokio::test]
async fn an_open_circuit_sends_nothing_and_states_why_and_until_when() {
    let inner = provider("a", steps("500 503"));
    let (breaker, clock) = breaker(&inner);
    send(&breaker).await;
    send(&breaker).await;
    clock.advance(seconds(10));
    let outcome = send(&breaker).await;
    let error = outcome.error();
    assert_eq!(
        error.to_string(),
        "a: not sent: the circuit breaker is open after failures; the next call may probe the server in 20.0 s"
    );
    assert!(error.is_retryable() && error.retry_after() == Some(seconds(20)));
    assert!(
        error.chain().ends_with("it went wrong"),
        "the last failure is the source: {}",
        error.chain()
    );
    assert_eq!(error.fault().kind, FaultKind::Overloaded);
    assert_eq!(inner.requests().len(), 2);
}

#[tokio::test]
async fn only_failures_of_the_server_open_it() {
    for script in [
        "400 400 400",
        "429 429 429",
        "401 401 401",
        "413 413 413",
        "500 400 500 400 500",
    ] {
        let inner = provider("a", steps(script));
        let (breaker, _) = breaker(&inner);
        for _ in script.split_whitespace() {
            send(&breaker).await;
        }
        assert_eq!(breaker.state(), CircuitState::Closed, "{script}");
        inner.assert_done();
    }
}

#[tokio::test]
async fn a_truncated_stream_is_a_failure_of_the_server() {
    let truncated = || ScriptStep::text("half").then_cut();
    let (breaker, _) = breaker(&provider("a", [truncated(), truncated()]));
    assert_eq!(send(&breaker).await.error().kind(), LlmErrorKind::Truncated);
    send(&breaker).await;
    assert!(matches!(breaker.state(), CircuitState::Open { .. }));
}

#[tokio::test]
async fn one_of_many_concurrent_calls_is_the_probe() {
    let inner = provider("a", steps("500 500 ok"));
    let (breaker, clock) = breaker(&inner);
    send(&breaker).await;
    send(&breaker).await;
    clock.advance(seconds(30));
    let mut probe = breaker.open(Call::new(request()));
    assert!(
        matches!(probe.next().await, Some(ReplyItem::Delta(_))),
        "the reply starts, but has no content yet"
    );
    let outcomes = future::join_all((0..64).map(|_| send(&breaker))).await;
    let expected = "another call is probing the server now";
    assert!(
        outcomes
            .iter()
            .all(|outcome| outcome.error().message().contains(expected))
    );
    assert_eq!(inner.requests().len(), 3);
    while probe.next().await.is_some() {}
    assert_eq!(breaker.state(), CircuitState::Closed);
}

#[tokio::test]
async fn the_first_content_of_a_probe_closes_it() {
    let long = ScriptStep::text("a long answer").then_hang();
    let inner = provider("a", steps("500 500").into_iter().chain([long]));
    let (breaker, clock) = breaker(&inner);
    send(&breaker).await;
    send(&breaker).await;
    clock.advance(seconds(30));
    let mut stream = breaker.open(Call::new(request()).with_stream(true));
    stream.next().await;
    assert_eq!(breaker.state(), CircuitState::HalfOpen);
    stream.next().await;
    assert_eq!(breaker.state(), CircuitState::Closed);
}

#[tokio::test]
async fn after_a_dropped_probe_the_next_call_is_the_probe() {
    let inner = provider(
        "a",
        steps("500 500")
            .into_iter()
            .chain([ScriptStep::hang()])
            .chain(steps("ok")),
    );
    let (breaker, clock) = breaker(&inner);
    send(&breaker).await;
    send(&breaker).await;
    clock.advance(seconds(30));
    let mut probe = breaker.open(Call::new(request()));
    assert!(probe.next().now_or_never().is_none());
    assert_eq!(breaker.state(), CircuitState::HalfOpen);
    drop(probe);
    assert_eq!(send(&breaker).await.response.unwrap().text(), "Hi.");
    assert_eq!(breaker.state(), CircuitState::Closed);
}

#[tokio::test]
async fn cancelled_calls_do_not_count() {
    let (breaker, _) = breaker(&provider("a", []));
    for _ in 0..5 {
        let call = Call::new(request());
        call.token.cancel();
        assert_eq!(run(&breaker, call).await.error().kind(), LlmErrorKind::Cancelled);
    }
    assert_eq!(breaker.state(), CircuitState::Closed);
}

//! The retry layer under a clock that jumps.

use std::{sync::Arc, time::Duration};

use agcore_chat::{ChatRequest, Clock, Message, Usage};
use agcore_llm::{
    Call, LlmError, LlmErrorKind, LlmProvider, LlmProviderExt, Notice, ReplyDelta, ReplyItem,
    layer::retry::{MidStream, Retry, RetryPolicy},
    wire::{Place, ReplyStart},
};
use agcore_testkit::{
    clock::ManualClock,
    scripted::{ScriptStep, ScriptedProvider},
};
use futures_util::StreamExt;

use crate::support::RawProvider;

fn error(kind: LlmErrorKind) -> LlmError {
    LlmError::new(kind, "no")
}

fn hinted(seconds: u64) -> ScriptStep {
    ScriptStep::error(error(LlmErrorKind::RateLimit).with_retry_after(Some(Duration::from_secs(seconds))))
}

fn request() -> ChatRequest {
    ChatRequest::new([Message::user("Hello")])
}

/// Plays the steps; gives the answer or the kind of error, and the waits in milliseconds.
async fn play(
    steps: impl IntoIterator<Item = ScriptStep>,
    policy: RetryPolicy,
) -> (Result<String, LlmError>, Vec<u128>) {
    let clock = Arc::new(ManualClock::jumping());
    let provider = ScriptedProvider::new(steps);
    let retry = Retry::new(
        provider.clone(),
        policy,
        Arc::<ManualClock>::clone(&clock) as Arc<dyn Clock>,
        Arc::new(|| 1.0),
    );
    let answer = retry.chat(request()).await.map(|response| response.text().into_owned());
    provider.assert_done();
    (answer, clock.sleeps().iter().map(Duration::as_millis).collect())
}

#[tokio::test]
async fn backs_off_and_succeeds() {
    let failures = [LlmErrorKind::Server, LlmErrorKind::Overloaded, LlmErrorKind::Connect];
    let steps = failures
        .map(|kind| ScriptStep::error(error(kind)))
        .into_iter()
        .chain([ScriptStep::text("Hi.")]);
    let (answer, waits) = play(steps, RetryPolicy::new()).await;
    assert_eq!(answer.unwrap(), "Hi.");
    assert_eq!(waits, [1000, 2000, 4000]);
}

#[tokio::test]
async fn gives_up_after_the_last_retry() {
    let steps = (0..4).map(|_| ScriptStep::error(error(LlmErrorKind::Server)));
    let (answer, waits) = play(steps, RetryPolicy::new()).await;
    assert_eq!(*answer.unwrap_err().kind(), LlmErrorKind::Server);
    assert_eq!(waits.len(), 3);
}

#[tokio::test]
async fn never_retries_what_waiting_does_not_help() {
    for kind in [
        LlmErrorKind::Authentication,
        LlmErrorKind::QuotaExhausted,
        LlmErrorKind::InvalidRequest,
        LlmErrorKind::ContextLength {
            limit: None,
            requested: None,
        },
        LlmErrorKind::Malformed,
    ] {
        let (answer, waits) = play([ScriptStep::error(error(kind.clone()))], RetryPolicy::new()).await;
        assert_eq!(*answer.unwrap_err().kind(), kind);
        assert!(waits.is_empty(), "{kind:?}");
    }
}

#[tokio::test]
async fn a_hint_wins_over_the_back_off() {
    let (answer, waits) = play([hinted(42), ScriptStep::text("Hi.")], RetryPolicy::new()).await;
    assert_eq!((answer.unwrap().as_str(), waits), ("Hi.", vec![42_000]));
}

#[tokio::test]
async fn a_hint_longer_than_the_budget_fails_at_once_and_says_so() {
    let (answer, waits) = play([hinted(60), hinted(61)], RetryPolicy::new()).await;
    let error = answer.unwrap_err();
    assert_eq!(waits, [60_000]);
    assert_eq!(*error.kind(), LlmErrorKind::RateLimit);
    assert!(
        error
            .to_string()
            .contains("would have to wait 61.0 s, but only 60.0 s are left"),
        "{error}"
    );
}

#[tokio::test]
async fn a_deadline_bounds_the_waits() {
    let clock = Arc::new(ManualClock::jumping());
    let retry = Retry::new(
        ScriptedProvider::new([hinted(10)]),
        RetryPolicy::new(),
        clock,
        Arc::new(|| 1.0),
    );
    let error = retry
        .chat_call(Call::new(request()).with_deadline(Duration::from_secs(5)))
        .await
        .unwrap_err();
    assert!(error.to_string().contains("only 5.0 s"), "{error}");
}

#[tokio::test]
async fn the_wait_is_cancellable() {
    let clock = Arc::new(ManualClock::new());
    let provider = ScriptedProvider::new([hinted(30)]);
    let retry = Retry::new(
        provider,
        RetryPolicy::new(),
        Arc::<ManualClock>::clone(&clock) as Arc<dyn Clock>,
        Arc::new(|| 1.0),
    );
    let call = Call::new(request());
    let token = call.token.clone();
    let cancel = async {
        clock.waited(1).await;
        token.cancel();
    };
    let (answer, ()) = tokio::join!(retry.chat_call(call), cancel);
    assert_eq!(*answer.unwrap_err().kind(), LlmErrorKind::Cancelled);
}

#[tokio::test]
async fn a_stream_that_dies_after_output_fails_with_the_partial() {
    let dies = ScriptStep::text("half").then_error(error(LlmErrorKind::Connect));
    let (answer, waits) = play([dies], RetryPolicy::new()).await;
    assert_eq!(answer.unwrap_err().partial().unwrap().text(), "half");
    assert!(waits.is_empty());
}

#[tokio::test]
async fn a_stream_that_dies_may_be_restarted() {
    let dies = ScriptStep::text("half").then_error(error(LlmErrorKind::Connect));
    let policy = RetryPolicy::new().with_mid_stream(MidStream::Restart);
    let clock = Arc::new(ManualClock::jumping());
    let provider = ScriptedProvider::new([dies, ScriptStep::text("whole")]);
    let retry = Retry::new(provider, policy, clock, Arc::new(|| 0.0));
    let mut items = retry.chat_stream(request());
    let mut told = Vec::new();
    let mut fold = agcore_llm::Fold::new();
    let mut answer = None;
    while let Some(item) = items.next().await {
        if let ReplyItem::Notice(Notice::Restarted { fault, .. }) = &item {
            told.push(fault.kind);
        }
        answer = answer.or(fold.absorb(item));
    }
    assert_eq!(told, [agcore_chat::FaultKind::Connection]);
    assert_eq!(
        answer.unwrap().unwrap().text(),
        "whole",
        "what came before the restart is void"
    );
}

#[tokio::test]
async fn attempts_are_counted_and_told() {
    let clock = Arc::new(ManualClock::jumping());
    let steps = [ScriptStep::error(error(LlmErrorKind::Server)), ScriptStep::text("Hi.")];
    let retry = Retry::new(
        ScriptedProvider::new(steps),
        RetryPolicy::new(),
        clock,
        Arc::new(|| 0.5),
    );
    let notices: Vec<Notice> = retry
        .chat_stream(request())
        .filter_map(async |item| match item {
            ReplyItem::Notice(notice) => Some(notice),
            _ => None,
        })
        .collect()
        .await;
    let [Notice::RetryScheduled { attempt: 1, delay, .. }] = &notices[..] else {
        panic!("{notices:?}")
    };
    assert_eq!(*delay, Duration::from_millis(500));
    assert_eq!(retry.info().name.as_ref(), "scripted", "a layer forwards what it wraps");
}

fn retry_of<P: LlmProvider + 'static>(provider: P, policy: RetryPolicy) -> Retry<P> {
    Retry::new(provider, policy, Arc::new(ManualClock::jumping()), Arc::new(|| 1.0))
}

fn start(id: &str) -> ReplyItem {
    ReplyItem::Delta(ReplyDelta::Start(Box::new(ReplyStart {
        id: Some(id.to_owned()),
        ..ReplyStart::default()
    })))
}

fn text(text: &str) -> ReplyItem {
    ReplyItem::Delta(ReplyDelta::Text {
        choice: 0,
        text: text.into(),
    })
}

fn failed(kind: LlmErrorKind) -> ReplyItem {
    ReplyItem::End(Err(error(kind)))
}

fn usage() -> ReplyItem {
    ReplyItem::Delta(ReplyDelta::Usage(Box::new(Usage::new(10, 5))))
}

#[tokio::test]
async fn a_stream_without_an_end_is_made_again() {
    let provider = RawProvider::new([vec![start("a")], vec![text("whole"), ReplyItem::End(Ok(()))]]);
    let answer = retry_of(provider, RetryPolicy::new()).chat(request()).await.unwrap();
    assert_eq!(answer.text(), "whole");
    let provider = RawProvider::new([vec![text("half")]]);
    let error = retry_of(provider, RetryPolicy::new())
        .chat(request())
        .await
        .unwrap_err();
    assert_eq!(
        (error.kind(), error.partial().unwrap().text().as_ref()),
        (&LlmErrorKind::Truncated, "half")
    );
}

#[tokio::test]
async fn a_retried_attempt_leaves_no_trace() {
    let value = serde_json::json!(["old"]);
    let member = ReplyItem::Delta(ReplyDelta::Member {
        place: Place::Response,
        name: "provider".into(),
        value,
    });
    let provider = RawProvider::new([
        vec![start("old"), member, failed(LlmErrorKind::Overloaded)],
        vec![start("new"), text("whole"), ReplyItem::End(Ok(()))],
    ]);
    let answer = retry_of(provider, RetryPolicy::new()).chat(request()).await.unwrap();
    assert_eq!((answer.id.as_deref(), answer.text().as_ref()), (Some("new"), "whole"));
    assert!(answer.extra.is_empty(), "{:?}", answer.extra);
}

#[tokio::test]
async fn an_attempt_that_told_only_its_usage_is_made_again_and_counted() {
    let provider = RawProvider::new([
        vec![start("old"), usage(), failed(LlmErrorKind::Overloaded)],
        vec![text("whole"), ReplyItem::End(Ok(()))],
    ]);
    let mut cycle = crate::support::cycle(&Arc::new(retry_of(provider, RetryPolicy::new())));
    assert_eq!(cycle.submit("Hello").await.unwrap().text(), "whole");
    assert_eq!((cycle.usage().calls, cycle.usage().usage.total()), (2, Some(15)));
}

#[tokio::test]
async fn a_retried_attempt_has_what_is_left_of_the_deadline() {
    let provider = RawProvider::new([vec![failed(LlmErrorKind::Server)], vec![ReplyItem::End(Ok(()))]]);
    let retry = retry_of(provider.clone(), RetryPolicy::new());
    retry
        .chat_call(Call::new(request()).with_deadline(Duration::from_secs(10)))
        .await
        .unwrap();
    assert_eq!(
        provider.deadlines(),
        [10, 9].map(|seconds| Some(Duration::from_secs(seconds)))
    );
}

#[tokio::test]
async fn without_time_left_nothing_is_made_again() {
    let provider = RawProvider::new([vec![failed(LlmErrorKind::Server)], vec![ReplyItem::End(Ok(()))]]);
    let policy = RetryPolicy::new()
        .with_backoff(Duration::ZERO, Duration::ZERO)
        .with_budget(Duration::ZERO);
    retry_of(provider, policy).chat(request()).await.unwrap_err();
}

#[tokio::test]
async fn the_budget_counts_from_the_first_poll() {
    let clock = Arc::new(ManualClock::jumping());
    let provider = RawProvider::new([
        vec![failed(LlmErrorKind::Server)],
        vec![text("whole"), ReplyItem::End(Ok(()))],
    ]);
    let retry = Retry::new(
        provider,
        RetryPolicy::new(),
        Arc::clone(&clock) as Arc<dyn Clock>,
        Arc::new(|| 1.0),
    );
    let items = retry.chat_stream(request());
    clock.advance(Duration::from_secs(300));
    let items: Vec<ReplyItem> = items.collect().await;
    assert!(matches!(items.last(), Some(ReplyItem::End(Ok(())))), "{items:?}");
}

#[tokio::test]
async fn usage_of_a_lost_attempt_counts_once_through_two_layers() {
    let restart = |retries| {
        RetryPolicy::new()
            .with_mid_stream(MidStream::Restart)
            .with_max_retries(retries)
    };
    let provider = RawProvider::new([
        vec![text("half"), usage(), failed(LlmErrorKind::Server)],
        vec![failed(LlmErrorKind::Server)],
        vec![text("whole"), usage(), ReplyItem::End(Ok(()))],
    ]);
    let retry = retry_of(retry_of(provider, restart(1)), restart(2));
    let mut cycle = crate::support::cycle(&Arc::new(retry));
    assert_eq!(cycle.submit("Hello").await.unwrap().text(), "whole");
    assert_eq!((cycle.usage().calls, cycle.usage().usage.total()), (2, Some(30)));
}

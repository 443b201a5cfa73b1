//! The retry layer, on a clock that jumps over waits.

use std::{sync::Arc, time::Duration};

use agcore_chat::{Clock, FaultKind, StopCheck, Usage};
use agcore_llm::{
    Call, Fold, LlmError, LlmErrorKind, LlmProvider, LlmProviderExt, Notice, ReplyDelta, ReplyItem,
    layer::retry::{MidStream, Retry, RetryPolicy},
    wire::{Place, ReplyStart},
};
use agcore_testkit::{
    clock::ManualClock,
    scripted::{ScriptStep, ScriptedProvider},
};
use futures_util::StreamExt;

use crate::support::{RawProvider, error, failing, rate_limited, request, run, seconds};

/// Runs a script. Returns the text or the error, and the waits in milliseconds.
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
    let text = retry.chat(request()).await.map(|response| response.text().into_owned());
    provider.assert_done();
    (text, clock.sleeps().iter().map(Duration::as_millis).collect())
}

#[tokio::test]
async fn backs_off_and_succeeds() {
    let failures = [LlmErrorKind::Server, LlmErrorKind::Overloaded, LlmErrorKind::Connect];
    let steps = failures.map(failing).into_iter().chain([ScriptStep::text("Hi.")]);
    let (text, waits) = play(steps, RetryPolicy::new()).await;
    assert_eq!(text.unwrap(), "Hi.");
    assert_eq!(waits, [1000, 2000, 4000]);
}

#[tokio::test]
async fn gives_up_after_the_last_retry() {
    let steps = (0..4).map(|_| failing(LlmErrorKind::Server));
    let (text, waits) = play(steps, RetryPolicy::new()).await;
    assert_eq!(text.unwrap_err().kind(), LlmErrorKind::Server);
    assert_eq!(waits.len(), 3);
}

#[tokio::test]
async fn does_not_retry_what_waiting_cannot_fix() {
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
        let (text, waits) = play([failing(kind)], RetryPolicy::new()).await;
        assert_eq!(text.unwrap_err().kind(), kind);
        assert!(waits.is_empty(), "{kind:?}");
    }
}

#[tokio::test]
async fn a_hint_takes_precedence_over_the_backoff() {
    let (text, waits) = play([rate_limited(42), ScriptStep::text("Hi.")], RetryPolicy::new()).await;
    assert_eq!((text.unwrap().as_str(), waits), ("Hi.", vec![42_000]));
}

#[tokio::test]
async fn a_hint_longer_than_the_budget_fails_at_once_and_the_error_says_so() {
    let (text, waits) = play([rate_limited(60), rate_limited(61)], RetryPolicy::new()).await;
    let error = text.unwrap_err();
    assert_eq!(waits, [60_000]);
    assert_eq!(error.kind(), LlmErrorKind::RateLimit);
    assert!(
        error
            .to_string()
            .contains("would have to wait 61.0 s, but only 60.0 s are left"),
        "{error}"
    );
}

#[tokio::test]
async fn the_sentence_of_the_server_is_continued() {
    let slow_down = LlmError::new(LlmErrorKind::RateLimit, "Please slow down.").with_retry_after(Some(seconds(3600)));
    let (text, _) = play([ScriptStep::error(slow_down)], RetryPolicy::new()).await;
    let error = text.unwrap_err();
    assert!(
        error.message().starts_with("Please slow down; not retried: "),
        "{error}"
    );
}

#[cfg(feature = "_http")]
#[tokio::test]
async fn a_port_without_a_server_on_this_machine_is_tried_twice() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    drop(listener);
    let check = async |policy: RetryPolicy, expected: usize| {
        let clock = Arc::new(ManualClock::jumping());
        let config = agcore_llm::ProviderConfig::parse("openai:m")
            .unwrap()
            .with_base_url(&*url);
        let provider = config.build().unwrap();
        let retry = Retry::new(provider, policy, Arc::clone(&clock) as Arc<dyn Clock>, Arc::new(|| 1.0));
        assert_eq!(retry.chat(request()).await.unwrap_err().kind(), LlmErrorKind::Connect);
        assert_eq!(clock.sleeps().len(), expected);
    };
    check(RetryPolicy::new(), 1).await;
    check(RetryPolicy::new().with_local_retries(9), 3).await;
    check(RetryPolicy::never(), 0).await;
}

#[tokio::test]
async fn the_deadline_limits_the_waits() {
    let clock = Arc::new(ManualClock::jumping());
    let retry = Retry::new(
        ScriptedProvider::new([rate_limited(10)]),
        RetryPolicy::new(),
        clock,
        Arc::new(|| 1.0),
    );
    let call = Call::new(request()).with_deadline(seconds(5));
    let error = retry.chat_call(call).await.unwrap_err();
    assert!(error.to_string().contains("only 5.0 s"), "{error}");
}

#[tokio::test]
async fn the_wait_can_be_cancelled() {
    let clock = Arc::new(ManualClock::new());
    let provider = ScriptedProvider::new([rate_limited(30)]);
    let retry = Retry::new(
        provider,
        RetryPolicy::new(),
        Arc::<ManualClock>::clone(&clock) as Arc<dyn Clock>,
        Arc::new(|| 1.0),
    );
    let call = Call::new(request());
    let token = call.token.clone();
    let cancel = async {
        clock.wait_for_sleeps(1).await;
        token.cancel();
    };
    let (response, ()) = tokio::join!(retry.chat_call(call), cancel);
    assert_eq!(response.unwrap_err().kind(), LlmErrorKind::Cancelled);
}

#[tokio::test]
async fn the_check_is_asked_before_each_attempt() {
    for limit in 0..3 {
        let provider = ScriptedProvider::new([rate_limited(1), rate_limited(1), ScriptStep::text("whole")]);
        let clock = Arc::new(ManualClock::jumping());
        let retry = Retry::new(
            provider.clone(),
            RetryPolicy::new(),
            Arc::<ManualClock>::clone(&clock) as Arc<dyn Clock>,
            Arc::new(|| 1.0),
        );
        // In the wait after an attempt.
        let call = Call::new(request()).with_stop_check(StopCheck::new(move || clock.sleeps().len() >= limit));
        let error = retry.chat_call(call).await.unwrap_err();
        assert_eq!((error.kind(), provider.unused()), (LlmErrorKind::Cancelled, 3 - limit));
    }
}

#[tokio::test]
async fn a_cancelled_call_is_not_sent() {
    let provider = RawProvider::new([vec![text("whole"), ReplyItem::End(Ok(()))]]);
    let call = Call::new(request());
    call.token.cancel();
    let outcome = run(&retry(provider.clone(), RetryPolicy::new()), call).await;
    assert_eq!(outcome.error().kind(), LlmErrorKind::Cancelled);
    assert!(provider.deadlines().is_empty());
}

#[tokio::test]
async fn a_stream_that_fails_after_content_fails_with_the_partial_reply() {
    let fails = ScriptStep::text("half").then_error(error(LlmErrorKind::Connect));
    let (text, waits) = play([fails], RetryPolicy::new()).await;
    assert_eq!(text.unwrap_err().partial().unwrap().text(), "half");
    assert!(waits.is_empty());
}

#[tokio::test]
async fn a_stream_that_fails_after_content_can_be_restarted() {
    let fails = ScriptStep::text("half").then_error(error(LlmErrorKind::Connect));
    let policy = RetryPolicy::new().with_mid_stream(MidStream::Restart);
    let clock = Arc::new(ManualClock::jumping());
    let provider = ScriptedProvider::new([fails, ScriptStep::text("whole")]);
    let retry = Retry::new(provider, policy, clock, Arc::new(|| 0.0));
    let mut items = retry.chat_stream(request());
    let mut faults = Vec::new();
    let mut fold = Fold::new();
    let mut response = None;
    while let Some(item) = items.next().await {
        if let ReplyItem::Notice(Notice::Restarted { fault, .. }) = &item {
            faults.push(fault.kind);
        }
        response = response.or(item.fold_into(&mut fold));
    }
    assert_eq!(faults, [FaultKind::Connection]);
    assert_eq!(
        response.unwrap().unwrap().text(),
        "whole",
        "the text before the restart is discarded"
    );
}

#[tokio::test]
async fn attempts_are_counted_and_reported() {
    let clock = Arc::new(ManualClock::jumping());
    let steps = [failing(LlmErrorKind::Server), ScriptStep::text("Hi.")];
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
    assert_eq!(retry.info().name.as_ref(), "scripted", "a layer forwards the info");
}

fn retry<P: LlmProvider + 'static>(provider: P, policy: RetryPolicy) -> Retry<P> {
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
async fn a_stream_without_an_end_is_retried_unless_it_had_content() {
    let provider = RawProvider::new([vec![start("a")], vec![text("whole"), ReplyItem::End(Ok(()))]]);
    let response = retry(provider, RetryPolicy::new()).chat(request()).await.unwrap();
    assert_eq!(response.text(), "whole");
    let provider = RawProvider::new([vec![text("half")]]);
    let error = retry(provider, RetryPolicy::new()).chat(request()).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.partial().unwrap().text().as_ref()),
        (LlmErrorKind::Truncated, "half")
    );
}

#[tokio::test]
async fn nothing_of_a_failed_attempt_is_in_the_response() {
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
    let response = retry(provider, RetryPolicy::new()).chat(request()).await.unwrap();
    assert_eq!(
        (response.id.as_deref(), response.text().as_ref()),
        (Some("new"), "whole")
    );
    assert!(response.extra.is_empty(), "{:?}", response.extra);
}

/// Returns the total tokens that each notice reports for a failed attempt.
fn lost_tokens(notices: &[Notice]) -> Vec<Option<u64>> {
    let tokens = notices.iter().map(|notice| match notice {
        Notice::Restarted { usage, .. } => usage.as_deref().and_then(Usage::total),
        _ => None,
    });
    tokens.collect()
}

#[tokio::test]
async fn an_attempt_with_usage_but_no_content_is_retried_and_its_usage_reported() {
    let provider = RawProvider::new([
        vec![start("old"), usage(), failed(LlmErrorKind::Overloaded)],
        vec![text("whole"), ReplyItem::End(Ok(()))],
    ]);
    let outcome = run(&retry(provider, RetryPolicy::new()), Call::new(request())).await;
    assert_eq!(lost_tokens(&outcome.notices), [Some(15)]);
    let response = outcome.response.unwrap();
    assert_eq!(response.text(), "whole");
    assert_eq!(
        response.usage, None,
        "the response has only the usage of its own attempt"
    );
}

#[tokio::test]
async fn a_retry_gets_the_rest_of_the_deadline() {
    let provider = RawProvider::new([vec![failed(LlmErrorKind::Server)], vec![ReplyItem::End(Ok(()))]]);
    let retry = retry(provider.clone(), RetryPolicy::new());
    let call = Call::new(request()).with_deadline(seconds(10));
    retry.chat_call(call).await.unwrap();
    assert_eq!(provider.deadlines(), [10, 9].map(|left| Some(seconds(left))));
}

#[tokio::test]
async fn does_not_retry_without_time_left() {
    let provider = RawProvider::new([vec![failed(LlmErrorKind::Server)], vec![ReplyItem::End(Ok(()))]]);
    let policy = RetryPolicy::new()
        .with_backoff(Duration::ZERO, Duration::ZERO)
        .with_budget(Duration::ZERO);
    retry(provider, policy).chat(request()).await.unwrap_err();
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
    clock.advance(seconds(300));
    let items: Vec<ReplyItem> = items.collect().await;
    assert!(matches!(items.last(), Some(ReplyItem::End(Ok(())))), "{items:?}");
}

#[tokio::test]
async fn two_layers_report_the_usage_of_a_failed_attempt_once() {
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
    let outcome = run(&retry(retry(provider, restart(1)), restart(2)), Call::new(request())).await;
    assert_eq!(outcome.notices(), ["restarted", "retry 2 in 1"]);
    assert_eq!(lost_tokens(&outcome.notices), [Some(15), None]);
    let response = outcome.response.unwrap();
    assert_eq!(
        (response.text().as_ref(), response.usage.as_ref().and_then(Usage::total)),
        ("whole", Some(15))
    );
}

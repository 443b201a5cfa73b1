//! Compactions that the caller requests, including those that change nothing.

use std::sync::Arc;

use agcore_chat::{CompactionMethod, Question, QuestionKind, ToolOutcome, validate_messages};
use agcore_cycle::{CompactionSettings, CycleErrorKind, TurnOptions};
use agcore_llm::ProviderInfo;
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use tokio_util::sync::CancellationToken;

use crate::{
    compaction::{context_events, history, tokens, window, with_window},
    support::{FnExecutor, call, cycle},
};

#[tokio::test]
async fn a_compaction_without_effect_changes_nothing() {
    let provider = ScriptedProvider::new([ScriptStep::text("Fine.")]);
    let mut cycle = with_window(cycle(&provider), window(1, 6));
    let report = cycle.compact(TurnOptions::new()).await.unwrap();
    assert!(report.is_unchanged() && report.freed() == 0);
    let (events, _) = context_events(cycle.turn("Hello").stream()).await;
    assert!(
        events.is_empty(),
        "over the threshold, but nothing can be removed: {events:?}"
    );
    let before = cycle.machine().clone();
    let report = cycle.compact(TurnOptions::new()).await.unwrap();
    assert!(report.is_unchanged(), "{report:?}");
    assert_eq!(cycle.machine(), &before);
}

#[tokio::test]
async fn a_requested_summary_is_written_and_its_call_counted() {
    let provider = ScriptedProvider::new([ScriptStep::text("They read eight pages.")]);
    let mut cycle = cycle(&provider);
    cycle.settings_mut().compaction = CompactionSettings::new().with_prompt("Summarize!").with_enabled(false);
    cycle.settings_mut().request.model = "big".into();
    cycle.set_messages(history(8, 150)).unwrap();
    let before = cycle.messages().to_vec();
    let report = cycle.compact(TurnOptions::new()).await.unwrap();
    assert_eq!((report.method, &report.fault), (Some(CompactionMethod::Summary), &None));
    assert_eq!(report.freed(), tokens(&before) - tokens(cycle.messages()));
    assert_eq!(cycle.usage().calls, 1);
    let request = provider.requests()[0].clone();
    assert_eq!(
        (&*request.model, request.messages[0].text().as_ref()),
        ("big", "Summarize!")
    );
    assert!(request.tools.is_empty() && request.messages[1].text().contains("Read all pages."));
    assert!(Arc::ptr_eq(&cycle.messages()[0], &before[0]), "instructions are kept");
    assert!(
        cycle.messages()[1].text().starts_with("Read all pages."),
        "the goal is kept"
    );
    assert!(Arc::ptr_eq(cycle.messages().last().unwrap(), before.last().unwrap()));
}

#[tokio::test]
async fn another_model_can_write_the_summary() {
    let small = ProviderInfo::new("small", "small-1");
    let other = ScriptedProvider::new([ScriptStep::text("They read.")]).with_info(small);
    let provider = ScriptedProvider::new([]);
    let mut cycle = cycle(&provider);
    cycle.settings_mut().request.model = "big".into();
    cycle.settings_mut().compaction = CompactionSettings::new().with_provider(other.clone());
    cycle.set_messages(history(8, 150)).unwrap();
    assert!(!cycle.compact(TurnOptions::new()).await.unwrap().is_unchanged());
    assert_eq!(other.requests()[0].model, "", "the default model of its provider");
}

#[tokio::test]
async fn a_cancelled_or_dropped_compaction_keeps_the_conversation() {
    let provider = ScriptedProvider::new([ScriptStep::hang()]);
    let mut cycle = cycle(&provider);
    cycle.set_messages(history(8, 150)).unwrap();
    let before = cycle.messages().to_vec();
    let token = CancellationToken::new();
    let cancel = token.clone();
    let calls = provider.clone();
    let (result, ()) = tokio::join!(cycle.compact(TurnOptions::new().with_token(token)), async move {
        while calls.unused() > 0 {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
    });
    assert_eq!(result.unwrap_err().kind(), CycleErrorKind::Cancelled);
    assert_eq!(cycle.messages(), before);
    assert!(cycle.machine().pending_summary().is_none());
    assert_eq!(cycle.usage().calls, 1, "the request had been sent");

    // The same in the middle of the summary.
    let token = CancellationToken::new();
    let options = TurnOptions::new().with_token(token.clone()).with_stream(true);
    provider.push(ScriptStep::text("They re").then_hang());
    let mut waiting = Box::pin(cycle.compact(options));
    assert!(futures_util::FutureExt::now_or_never(waiting.as_mut()).is_none());
    token.cancel();
    assert_eq!(waiting.await.unwrap_err().kind(), CycleErrorKind::Cancelled);
    assert_eq!((cycle.messages(), cycle.usage().calls), (&before[..], 2));

    provider.push(ScriptStep::hang());
    let dropped = futures_util::FutureExt::now_or_never(cycle.compact(TurnOptions::new()));
    assert!(dropped.is_none() && cycle.machine().pending_summary().is_some());
    assert_eq!(cycle.usage().calls, 3);
    provider.push(ScriptStep::text("Fine."));
    assert_eq!(cycle.turn("And?").await.unwrap().text(), "Fine.");
    assert_eq!(cycle.messages()[..before.len()], before);
}

#[tokio::test]
async fn a_suspended_turn_is_compacted_and_resumed() {
    let asks = FnExecutor::new(&["send"], |work| match work.resumed {
        None => ToolOutcome::ask(Question::new("s", 1, QuestionKind::Approval, "Send?")),
        Some(_) => ToolOutcome::done("sent"),
    });
    let provider = ScriptedProvider::new([
        ScriptStep::calls([call("s", "send", "{}")]),
        ScriptStep::hang(),
        ScriptStep::text("They read."),
        ScriptStep::text("Sent."),
    ]);
    let mut cycle = cycle(&provider);
    cycle.set_messages(history(8, 150)).unwrap();
    let outcome = cycle.turn("Send it").with_tools(asks.clone()).await.unwrap();
    let question = outcome.questions()[0].id.clone();
    // An abandoned compaction does not affect the turn.
    assert!(futures_util::FutureExt::now_or_never(cycle.compact(TurnOptions::new())).is_none());
    let report = cycle.compact(TurnOptions::new()).await.unwrap();
    assert_eq!(report.method, Some(CompactionMethod::Summary));
    assert_eq!(cycle.machine().questions().count(), 1);
    let options = TurnOptions::new().with_tools(asks);
    let outcome = cycle
        .resume([(question, agcore_chat::Answer::approve())])
        .with_options(options)
        .await
        .unwrap();
    assert_eq!(outcome.text(), "Sent.");
    validate_messages(cycle.messages()).unwrap();
}

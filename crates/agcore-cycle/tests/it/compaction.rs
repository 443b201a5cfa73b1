//! Compaction in the agent loop: at the threshold, between rounds, after an overflow, and with unusable summaries.

use std::sync::{Arc, Mutex};

use agcore_chat::{
    AssistantMessage, CompactionMethod, ContextEvent, EventKind, FaultKind, FinishReason, HeuristicEstimator, Message,
    Origin, TokenEstimator, ToolOutcome, WindowSettings, summary_of, validate_messages,
};
use agcore_cycle::{
    CompactionSettings, Hook, HookContext, Hooks, LlmCycle, RequestVerdict, TurnStream, machine::Limits,
};
use agcore_llm::{LlmError, LlmErrorKind, ProviderInfo};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use async_trait::async_trait;

use crate::support::{FnExecutor, call, cycle};

/// Returns a context window of this size, all of it for the conversation.
pub(crate) fn window(tokens: u64, keep: usize) -> WindowSettings {
    WindowSettings::new()
        .with_context_window(tokens)
        .with_reserved_tokens(0)
        .with_buffer(0)
        .with_keep_recent(keep)
}

pub(crate) fn with_window(mut cycle: LlmCycle, window: WindowSettings) -> LlmCycle {
    cycle.settings_mut().compaction = CompactionSettings::new().with_window(window).with_summary_tokens(200);
    cycle.settings_mut().limits = Limits::new().with_max_tool_turns(100);
    cycle
}

fn read(round: usize) -> ScriptStep {
    ScriptStep::calls([call(&format!("c{round}"), "read", &format!("{{\"page\":{round}}}"))])
}

/// Returns a tool that returns pages of this many words.
fn pages(words: usize) -> Arc<FnExecutor> {
    FnExecutor::new(&["read"], move |work| {
        ToolOutcome::done(format!("{} {}", work.call.raw_input(), "word ".repeat(words)))
    })
}

/// Returns a conversation with rounds in which pages of this many words were read.
pub(crate) fn history(rounds: usize, words: usize) -> Vec<Arc<Message>> {
    let mut messages = vec![Message::system("Be brief."), Message::user("Read all pages.")];
    for round in 0..rounds {
        let id = format!("c{round}");
        messages.push(AssistantMessage::new("").with_call(call(&id, "read", "{}")).into());
        messages.push(Message::tool(id, "word ".repeat(words)));
    }
    messages.push(Message::assistant("Read."));
    messages.into_iter().map(Arc::new).collect()
}

pub(crate) fn tokens(messages: &[Arc<Message>]) -> u64 {
    HeuristicEstimator::default().messages(messages)
}

pub(crate) async fn context_events<R: Unpin>(mut turn: TurnStream<'_, R>) -> (Vec<ContextEvent>, R) {
    let mut events = Vec::new();
    while let Some(event) = turn.next().await {
        if let EventKind::Context(event) = event.kind {
            events.push(event);
        }
    }
    (events, turn.finish().await)
}

fn too_long() -> ScriptStep {
    ScriptStep::error(LlmError::new(
        LlmErrorKind::ContextLength {
            limit: None,
            requested: None,
        },
        "the conversation is too long",
    ))
}

#[tokio::test]
async fn removes_old_results_for_good_at_the_threshold() {
    let provider = ScriptedProvider::new([ScriptStep::text("One."), ScriptStep::text("Two.")]);
    let mut cycle = with_window(cycle(&provider), window(1_000, 3));
    cycle.set_messages(history(8, 150)).unwrap();
    let (events, _) = context_events(cycle.turn("And?").stream()).await;
    let [
        ContextEvent::Compacted {
            method,
            tokens_before,
            tokens_after,
        },
    ] = events[..]
    else {
        panic!("{events:?}")
    };
    assert_eq!(method, CompactionMethod::Prune);
    assert!(
        tokens_before >= 1_000 && tokens_after < 800,
        "{tokens_before} {tokens_after}"
    );
    let sent = provider.requests()[0].clone();
    assert_eq!(tokens(&sent.messages), tokens_after);
    let pruned = |messages: &[Arc<Message>]| {
        let is_marked = |message: &&Arc<Message>| matches!(&***message, Message::Tool(tool) if tool.marks.origin == Some(Origin::Pruned));
        messages.iter().filter(is_marked).count()
    };
    assert_eq!(
        (pruned(&sent.messages), pruned(cycle.messages())),
        (7, 7),
        "the history shows it"
    );
    // The change is permanent: the next request starts with the same messages.
    let (events, _) = context_events(cycle.turn("And now?").stream()).await;
    assert!(events.is_empty());
    let next = &provider.requests()[1].messages;
    assert!(
        sent.messages
            .iter()
            .zip(next)
            .all(|(before, after)| Arc::ptr_eq(before, after))
    );
}

#[tokio::test]
async fn summarizes_between_rounds_within_the_window() {
    let rounds = 40;
    let mut steps: Vec<ScriptStep> = Vec::new();
    let provider = ScriptedProvider::new([]);
    steps.extend((0..rounds).map(read));
    // It is not known in advance which request is for a summary, so the provider inspects each one.
    let steps = Arc::new(Mutex::new(steps.into_iter()));
    let requests: Arc<Mutex<Vec<Arc<agcore_chat::ChatRequest>>>> = Arc::default();
    let (recorded, inner) = (Arc::clone(&requests), provider.clone());
    let routing = agcore_llm::provider_fn(move |call| {
        let summary = call.request.tools.is_empty();
        recorded.lock().unwrap().push(Arc::clone(&call.request));
        let step = if summary {
            ScriptStep::text("Pages so far were read; nothing was found.")
        } else {
            let next = steps.lock().unwrap().next();
            next.unwrap_or_else(|| ScriptStep::text("Done."))
        };
        inner.push(step);
        let inner = inner.clone();
        async move { agcore_llm::LlmProviderExt::chat_call(&inner, call).await }
    });
    let mut cycle = LlmCycle::new(routing, Arc::new(agcore_testkit::clock::ManualClock::jumping()));
    cycle.settings_mut().compaction = CompactionSettings::new()
        .with_window(window(2_000, 4))
        .with_summary_tokens(200);
    cycle.settings_mut().limits = Limits::new().with_max_tool_turns(100);
    cycle.settings_mut().prelude = vec![Arc::new(Message::system("You read."))];
    let (events, outcome) = context_events(cycle.turn("Find the word.").with_tools(pages(250)).stream()).await;
    let report = outcome.unwrap();
    assert_eq!(report.report().unwrap().rounds as usize, rounds);
    let summaries = events.iter().filter(|event| {
        matches!(
            event,
            ContextEvent::Compacted {
                method: CompactionMethod::Summary,
                ..
            }
        )
    });
    let summaries = summaries.count();
    assert!(summaries > 0, "{events:?}");
    let requests = requests.lock().unwrap();
    let calls = u64::try_from(requests.len()).unwrap();
    assert_eq!(report.report().unwrap().usage.calls, calls, "calls for summaries count");
    assert_eq!(
        requests.iter().filter(|request| request.tools.is_empty()).count(),
        summaries
    );
    for request in requests.iter() {
        validate_messages(&request.messages).unwrap();
        let all = HeuristicEstimator::default().request(request) + request.token_limit().unwrap_or(0);
        // A round may exceed the threshold before it is measured. A request for a summary never does.
        assert!(all <= 2_000, "{all} with {} tools", request.tools.len());
    }
    validate_messages(cycle.messages()).unwrap();
    let goal = &cycle.messages()[0];
    assert!(goal.text().starts_with("Find the word."));
    assert!(summary_of(goal).unwrap().contains("nothing was found"));
    assert!(cycle.messages()[1].as_assistant().is_some());
    // The second summary includes the first.
    let last = requests.iter().rfind(|request| request.tools.is_empty()).unwrap();
    assert!(summaries < 2 || last.messages[1].text().contains("nothing was found"));
}

#[tokio::test]
async fn an_overflow_compacts_and_retries_once() {
    let provider = ScriptedProvider::new([
        too_long(),
        ScriptStep::text("They read pages."),
        ScriptStep::text("Fine."),
    ]);
    let mut rescued = with_window(cycle(&provider), window(1_000_000, 3));
    rescued.set_messages(history(8, 3)).unwrap();
    let (events, outcome) = context_events(rescued.turn("And?").stream()).await;
    assert_eq!(outcome.unwrap().text(), "Fine.");
    assert!(
        matches!(
            events[..],
            [ContextEvent::Compacted {
                method: CompactionMethod::Summary,
                ..
            }]
        ),
        "{events:?}"
    );
    provider.assert_done();

    let provider = ScriptedProvider::new([too_long(), ScriptStep::text("They read pages."), too_long()]);
    let mut failing = with_window(cycle(&provider), window(1_000_000, 3));
    failing.set_messages(history(8, 3)).unwrap();
    let error = failing.turn("And?").await.unwrap_err();
    assert!(matches!(
        error.llm_error().unwrap().kind(),
        LlmErrorKind::ContextLength { .. }
    ));
    provider.assert_done();
    validate_messages(failing.messages()).unwrap();
    assert!(!failing.machine().is_open());

    // If nothing can be removed, or compaction is disabled, the turn fails at once.
    for enabled in [true, false] {
        let provider = ScriptedProvider::new([too_long()]);
        let mut cycle = cycle(&provider);
        cycle.settings_mut().compaction.enabled = enabled;
        if !enabled {
            cycle.set_messages(history(8, 30)).unwrap();
        }
        let before = cycle.messages().to_vec();
        let (events, outcome) = context_events(cycle.turn("Hello").stream()).await;
        assert!(matches!(
            outcome.unwrap_err().llm_error().unwrap().kind(),
            LlmErrorKind::ContextLength { .. }
        ));
        assert!(events.is_empty());
        assert_eq!(cycle.messages(), before);
    }
}

#[tokio::test]
async fn an_overflow_of_new_results_removes_only_the_results() {
    let provider = ScriptedProvider::new([read(0), too_long(), ScriptStep::text("It was too much.")]);
    let mut cycle = cycle(&provider);
    let outcome = cycle.turn("Go").with_tools(pages(20_000)).await.unwrap();
    assert_eq!(outcome.text(), "It was too much.");
    assert!(tokens(cycle.messages()) < 200);
}

/// Returns unusable summaries, with a part of the reported reason.
fn unusable() -> Vec<(ScriptStep, &'static str)> {
    vec![
        (ScriptStep::text("blah ".repeat(9_000)), "not shorter"),
        (ScriptStep::text(" \n "), "empty"),
        (
            ScriptStep::message(AssistantMessage::new("They re"), FinishReason::Length),
            "cut off at its token limit",
        ),
        (
            ScriptStep::message(AssistantMessage::new("They re"), FinishReason::ContentFilter),
            "content filter",
        ),
        (read(77), "called tools"),
        (
            ScriptStep::error(LlmError::new(LlmErrorKind::Server, "the server is down")),
            "the server is down",
        ),
        (too_long(), "too long"),
    ]
}

#[tokio::test]
async fn an_unusable_summary_leaves_only_the_removal_of_results() {
    for (step, reason) in unusable() {
        let provider = ScriptedProvider::new([step, ScriptStep::text("Fine.")]);
        let mut cycle = with_window(cycle(&provider), window(160, 3));
        cycle.set_messages(history(8, 150)).unwrap();
        let before = tokens(cycle.messages());
        let (events, outcome) = context_events(cycle.turn("And?").stream()).await;
        assert_eq!(outcome.unwrap().text(), "Fine.", "{reason}");
        let [
            ContextEvent::CompactionFailed { fault },
            ContextEvent::Compacted { method, .. },
        ] = &events[..]
        else {
            panic!("{reason}: {events:?}")
        };
        assert!(fault.message.contains(reason), "{reason}: {fault}");
        assert_eq!(*method, CompactionMethod::Prune);
        assert!(tokens(cycle.messages()) < before);
        assert_eq!(cycle.messages().len(), 2 + 16 + 1 + 2, "no message was removed");
        assert!(cycle.messages().iter().all(|message| summary_of(message).is_none()));
        validate_messages(cycle.messages()).unwrap();
        provider.assert_done();
    }
}

#[tokio::test]
async fn the_breaker_pauses_threshold_compactions_for_a_turn() {
    let fails = || ScriptStep::error(LlmError::new(LlmErrorKind::Server, "down"));
    let fine = || ScriptStep::text("Fine.");
    let provider = ScriptedProvider::new([fails(), fine(), fails(), fine(), fails(), fine()]);
    let mut cycle = with_window(cycle(&provider), window(100, 1));
    let talk = [
        "Tell me a long story.",
        &"Once upon a time. ".repeat(60),
        "More.",
        "The end.",
    ];
    let talk = talk.iter().enumerate().map(|(at, text)| match at % 2 {
        0 => Message::user(*text),
        _ => Message::assistant(*text),
    });
    cycle.set_messages(talk.map(Arc::new).collect()).unwrap();
    for _ in 0..3 {
        assert!(!cycle.machine().is_compaction_paused());
        let (events, _) = context_events(cycle.turn("And?").stream()).await;
        assert!(
            matches!(events[..], [ContextEvent::CompactionFailed { .. }]),
            "{events:?}"
        );
    }
    provider.assert_done();
    assert!(cycle.machine().is_compaction_paused());
    // The next turn does not try at the threshold, but still after an overflow.
    for step in [too_long(), ScriptStep::text("A story."), fine()] {
        provider.push(step);
    }
    let (events, outcome) = context_events(cycle.turn("And?").stream()).await;
    assert_eq!(outcome.unwrap().text(), "Fine.");
    assert!(matches!(events[..], [ContextEvent::Compacted { .. }]), "{events:?}");
    provider.assert_done();
    assert!(!cycle.machine().is_compaction_paused());
}

struct NoSummaries;

#[async_trait]
impl Hook for NoSummaries {
    async fn pre_request(&self, _: &HookContext<'_>, request: &Arc<agcore_chat::ChatRequest>) -> RequestVerdict {
        if request.messages[0].text().starts_with("You keep the memory") {
            RequestVerdict::Block("not with my data".into())
        } else {
            RequestVerdict::Continue
        }
    }
}

#[tokio::test]
async fn a_hook_that_blocks_a_summary_does_not_stop_the_turn() {
    let provider = ScriptedProvider::new([ScriptStep::text("Fine.")]);
    let mut cycle = with_window(cycle(&provider), window(160, 3)).with_hooks(Hooks::new([Arc::new(NoSummaries) as _]));
    cycle.set_messages(history(8, 150)).unwrap();
    let (events, outcome) = context_events(cycle.turn("And?").stream()).await;
    assert_eq!(outcome.unwrap().text(), "Fine.");
    assert!(
        matches!(&events[0], ContextEvent::CompactionFailed { fault } if fault.kind == FaultKind::HookBlocked),
        "{events:?}"
    );
}

#[tokio::test]
async fn uses_the_context_window_of_the_model() {
    let info = ProviderInfo::new("small", "small-1");
    let capabilities = info.capabilities.clone().with_context_window(2_000);
    let provider = ScriptedProvider::new([ScriptStep::text("Fine.")]).with_info(info.with_capabilities(capabilities));
    let mut cycle = cycle(&provider);
    cycle.set_messages(history(8, 150)).unwrap();
    let (events, _) = context_events(cycle.turn("And?").stream()).await;
    assert_eq!(events.len(), 1, "{events:?}");
}

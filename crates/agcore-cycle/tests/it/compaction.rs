//! Compaction through the driver: at the threshold, inside the tool loop, after an overflow, by hand; and summaries of no use.

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

/// A window of so many tokens, all of it for the conversation.
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

/// Gives pages of so many words.
fn pages(words: usize) -> Arc<FnExecutor> {
    FnExecutor::new(&["read"], move |work| {
        ToolOutcome::done(format!("{} {}", work.call.raw_input(), "word ".repeat(words)))
    })
}

/// A conversation of rounds in which pages of so many words were read.
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
    let mut told = Vec::new();
    while let Some(event) = turn.next().await {
        if let EventKind::Context(event) = event.kind {
            told.push(event);
        }
    }
    (told, turn.finish().await)
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
async fn at_the_threshold_old_results_are_taken_out_for_good() {
    let provider = ScriptedProvider::new([ScriptStep::text("One."), ScriptStep::text("Two.")]);
    let mut cycle = with_window(cycle(&provider), window(1_000, 3));
    cycle.set_messages(history(8, 150)).unwrap();
    let (told, _) = context_events(cycle.turn("And?").stream()).await;
    let [
        ContextEvent::Compacted {
            method,
            tokens_before,
            tokens_after,
        },
    ] = told[..]
    else {
        panic!("{told:?}")
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
    // It sticks: the next request begins with the very same messages.
    let (told, _) = context_events(cycle.turn("And now?").stream()).await;
    assert!(told.is_empty());
    let next = &provider.requests()[1].messages;
    assert!(
        sent.messages
            .iter()
            .zip(next)
            .all(|(before, after)| Arc::ptr_eq(before, after))
    );
}

#[tokio::test]
async fn inside_the_tool_loop_the_model_sums_up_with_room_for_itself() {
    let rounds = 40;
    let mut steps: Vec<ScriptStep> = Vec::new();
    let provider = ScriptedProvider::new([]);
    steps.extend((0..rounds).map(read));
    // Which request is for a summary is not known beforehand: a provider that looks at the request.
    let steps = Arc::new(Mutex::new(steps.into_iter()));
    let seen: Arc<Mutex<Vec<Arc<agcore_chat::ChatRequest>>>> = Arc::default();
    let (asked, inner) = (Arc::clone(&seen), provider.clone());
    let routing = agcore_llm::provider_fn(move |call| {
        let summary = call.request.tools.is_empty();
        asked.lock().unwrap().push(Arc::clone(&call.request));
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
    let (told, outcome) = context_events(cycle.turn("Find the word.").with_tools(pages(250)).stream()).await;
    let report = outcome.unwrap();
    assert_eq!(report.report().unwrap().rounds as usize, rounds);
    let summaries = told.iter().filter(|event| {
        matches!(
            event,
            ContextEvent::Compacted {
                method: CompactionMethod::Summary,
                ..
            }
        )
    });
    let summaries = summaries.count();
    assert!(summaries > 0, "{told:?}");
    let seen = seen.lock().unwrap();
    let calls = u64::try_from(seen.len()).unwrap();
    assert_eq!(report.report().unwrap().usage.calls, calls, "calls for summaries count");
    assert_eq!(
        seen.iter().filter(|request| request.tools.is_empty()).count(),
        summaries
    );
    for request in seen.iter() {
        validate_messages(&request.messages).unwrap();
        let all = HeuristicEstimator::default().request(request) + request.token_limit().unwrap_or(0);
        // One round may reach beyond the threshold before it is seen; a request for a summary never does.
        assert!(all <= 2_000, "{all} with {} tools", request.tools.len());
    }
    validate_messages(cycle.messages()).unwrap();
    let goal = &cycle.messages()[0];
    assert!(goal.text().starts_with("Find the word."));
    assert!(summary_of(goal).unwrap().contains("nothing was found"));
    assert!(cycle.messages()[1].as_assistant().is_some());
    // The second summary was made of the first.
    let asked = seen.iter().rfind(|request| request.tools.is_empty()).unwrap();
    assert!(summaries < 2 || asked.messages[1].text().contains("nothing was found"));
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
    let (told, outcome) = context_events(rescued.turn("And?").stream()).await;
    assert_eq!(outcome.unwrap().text(), "Fine.");
    assert!(
        matches!(
            told[..],
            [ContextEvent::Compacted {
                method: CompactionMethod::Summary,
                ..
            }]
        ),
        "{told:?}"
    );
    provider.assert_done();

    let provider = ScriptedProvider::new([too_long(), ScriptStep::text("They read pages."), too_long()]);
    let mut failing = with_window(cycle(&provider), window(1_000_000, 3));
    failing.set_messages(history(8, 3)).unwrap();
    let error = failing.turn("And?").await.unwrap_err();
    assert!(matches!(error.llm_error().unwrap().kind(), LlmErrorKind::ContextLength { .. }));
    provider.assert_done();
    validate_messages(failing.messages()).unwrap();
    assert!(!failing.machine().is_open());

    // Without anything to take out, or switched off, it fails at once.
    for enabled in [true, false] {
        let provider = ScriptedProvider::new([too_long()]);
        let mut cycle = cycle(&provider);
        cycle.settings_mut().compaction.enabled = enabled;
        if !enabled {
            cycle.set_messages(history(8, 30)).unwrap();
        }
        let before = cycle.messages().to_vec();
        let (told, outcome) = context_events(cycle.turn("Hello").stream()).await;
        assert!(matches!(
            outcome.unwrap_err().llm_error().unwrap().kind(),
            LlmErrorKind::ContextLength { .. }
        ));
        assert!(told.is_empty());
        assert_eq!(cycle.messages(), before);
    }
}

#[tokio::test]
async fn an_overflow_of_new_results_costs_the_results_and_not_the_conversation() {
    let provider = ScriptedProvider::new([read(0), too_long(), ScriptStep::text("It was too much.")]);
    let mut cycle = cycle(&provider);
    let outcome = cycle.turn("Go").with_tools(pages(20_000)).await.unwrap();
    assert_eq!(outcome.text(), "It was too much.");
    assert!(tokens(cycle.messages()) < 200);
}

/// What the model gives for a summary, and what people are told.
fn useless() -> Vec<(ScriptStep, &'static str)> {
    vec![
        (ScriptStep::text("blah ".repeat(9_000)), "no shorter"),
        (ScriptStep::text(" \n "), "empty"),
        (
            ScriptStep::message(AssistantMessage::new("They re"), FinishReason::Length),
            "cut at its token limit",
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
async fn a_summary_of_no_use_leaves_what_taking_results_out_gives() {
    for (step, why) in useless() {
        let provider = ScriptedProvider::new([step, ScriptStep::text("Fine.")]);
        let mut cycle = with_window(cycle(&provider), window(160, 3));
        cycle.set_messages(history(8, 150)).unwrap();
        let before = tokens(cycle.messages());
        let (told, outcome) = context_events(cycle.turn("And?").stream()).await;
        assert_eq!(outcome.unwrap().text(), "Fine.", "{why}");
        let [
            ContextEvent::CompactionFailed { fault },
            ContextEvent::Compacted { method, .. },
        ] = &told[..]
        else {
            panic!("{why}: {told:?}")
        };
        assert!(fault.message.contains(why), "{why}: {fault}");
        assert_eq!(*method, CompactionMethod::Prune);
        assert!(tokens(cycle.messages()) < before);
        assert_eq!(cycle.messages().len(), 2 + 16 + 1 + 2, "no message is gone");
        assert!(cycle.messages().iter().all(|message| summary_of(message).is_none()));
        validate_messages(cycle.messages()).unwrap();
        provider.assert_done();
    }
}

#[tokio::test]
async fn the_breaker_opens_at_three_rests_for_a_turn_and_a_rescue_passes_it() {
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
        let (told, _) = context_events(cycle.turn("And?").stream()).await;
        assert!(matches!(told[..], [ContextEvent::CompactionFailed { .. }]), "{told:?}");
    }
    provider.assert_done();
    assert!(cycle.machine().is_compaction_paused());
    // The next turn makes no attempt, but a rescue does.
    for step in [too_long(), ScriptStep::text("A story."), fine()] {
        provider.push(step);
    }
    let (told, outcome) = context_events(cycle.turn("And?").stream()).await;
    assert_eq!(outcome.unwrap().text(), "Fine.");
    assert!(matches!(told[..], [ContextEvent::Compacted { .. }]), "{told:?}");
    provider.assert_done();
    assert!(!cycle.machine().is_compaction_paused());
}

struct NoSummaries;

#[async_trait]
impl Hook for NoSummaries {
    async fn pre_request(&self, _: &HookContext<'_>, request: &Arc<agcore_chat::ChatRequest>) -> RequestVerdict {
        if request.messages[0].text().starts_with("You keep the memory") {
            RequestVerdict::Block("not over my data".into())
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
    let (told, outcome) = context_events(cycle.turn("And?").stream()).await;
    assert_eq!(outcome.unwrap().text(), "Fine.");
    assert!(
        matches!(&told[0], ContextEvent::CompactionFailed { fault } if fault.kind == FaultKind::HookBlocked),
        "{told:?}"
    );
}

#[tokio::test]
async fn the_window_of_the_model_counts() {
    let info = ProviderInfo::new("small", "small-1");
    let capabilities = info.capabilities.clone().with_context_window(2_000);
    let provider = ScriptedProvider::new([ScriptStep::text("Fine.")]).with_info(info.with_capabilities(capabilities));
    let mut cycle = cycle(&provider);
    cycle.set_messages(history(8, 150)).unwrap();
    let (told, _) = context_events(cycle.turn("And?").stream()).await;
    assert_eq!(told.len(), 1, "{told:?}");
}

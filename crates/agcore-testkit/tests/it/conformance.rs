//! The conformance suite: correct providers pass, and each check detects the faults that it is meant for.

mod faulty;
mod items;
mod calls;

use std::{collections::HashSet, sync::Arc, time::Duration};

use agcore_chat::FaultKind;
use agcore_llm::{LlmError, LlmProvider, ProviderConfig};
use agcore_testkit::{
    conformance::{Behavior, Mode, ScriptSubject, ServerSubject, Suite, Verdict},
    mock_server::MockServer,
};

use faulty::{Fault, Faulty};

/// The timeout of checks in which the provider is expected to hang.
const SHORT_TIMEOUT: Duration = Duration::from_millis(200);

fn chat_completions(server: &MockServer) -> Result<Arc<dyn LlmProvider>, LlmError> {
    ProviderConfig::parse("openai:mock-model")?
        .with_base_url(server.base_url())
        .build()
}

#[tokio::test]
async fn the_scripted_provider_conforms() {
    let grid = Suite::new().run(&ScriptSubject::new("scripted")).await;
    grid.assert_passed();
    let skipped: HashSet<Behavior> = grid.skips().map(|cell| cell.behavior).collect();
    let expected = [
        Behavior::NoTimeLeft,
        Behavior::DeadlineWaiting,
        Behavior::DeadlineMidway,
        Behavior::ConfiguredModel,
        Behavior::SameBytes,
    ];
    assert_eq!(skipped, HashSet::from(expected), "behaviors that a script cannot show");
}

#[tokio::test]
async fn the_grid_contains_every_behavior_once() {
    let grid = Suite::new().run(&ScriptSubject::new("scripted")).await;
    let found: Vec<_> = grid.cells().iter().map(|cell| (cell.behavior, cell.mode)).collect();
    let both = |behavior: &Behavior| {
        behavior
            .modes()
            .iter()
            .map(move |mode| (*behavior, *mode))
            .collect::<Vec<_>>()
    };
    let expected: Vec<_> = Behavior::ALL.iter().flat_map(both).collect();
    assert_eq!(found, expected);
    let names: HashSet<String> = Behavior::ALL.iter().map(ToString::to_string).collect();
    assert_eq!(names.len(), Behavior::ALL.len(), "names are unique");
}

/// The behavior and mode that a fault breaks, the fault, and the reason in the grid.
type Case = (Behavior, Mode, Fault, &'static str);

#[tokio::test]
async fn detects_violations_of_the_rules_for_every_reply() {
    use Mode::{Streamed, Whole};
    let cases: [Case; 7] = [
        (
            Behavior::PlainText,
            Whole,
            items::two_ends,
            "the end is followed by End(Ok(()))",
        ),
        (
            Behavior::PlainText,
            Streamed,
            items::delta_after_end,
            "the end is followed by",
        ),
        (
            Behavior::ErrorInStream,
            Streamed,
            items::two_ends,
            "the end is followed by",
        ),
        (
            Behavior::PlainText,
            Whole,
            items::no_end,
            "the stream stopped without an end",
        ),
        (
            Behavior::PlainText,
            Streamed,
            items::endless,
            "no end after 100000 items",
        ),
        (
            Behavior::PlainText,
            Streamed,
            items::panicking,
            "panicked: a faulty provider",
        ),
        (Behavior::PlainText, Whole, calls::silent, "timed out after 0.2 s"),
    ];
    for case in cases {
        check(case).await;
    }
}

#[tokio::test]
async fn detects_violations_of_every_behavior() {
    let cases = [answer_cases(), failure_cases(), interrupt_cases(), request_cases()].concat();
    let covered: HashSet<Behavior> = cases.iter().map(|(behavior, ..)| *behavior).collect();
    let missing: Vec<_> = Behavior::ALL
        .iter()
        .filter(|behavior| !covered.contains(behavior))
        .collect();
    assert!(missing.is_empty(), "no faulty provider for {missing:?}");
    for case in cases {
        check(case).await;
    }
}

fn answer_cases() -> Vec<Case> {
    use Mode::{Streamed, Whole};
    vec![
        (Behavior::PlainText, Streamed, items::lost_text, "text: found"),
        (Behavior::PlainText, Streamed, items::swapped_text, "text: found"),
        (Behavior::PlainText, Whole, items::swallowed_answer, "number of choices"),
        (Behavior::UnicodeText, Streamed, items::ascii_only, "text: found"),
        (Behavior::UnicodeText, Whole, items::ascii_only, "text: found"),
        (
            Behavior::EmptyAnswer,
            Whole,
            items::refuses_empty,
            "expected an answer, got an error",
        ),
        (
            Behavior::LengthLimit,
            Streamed,
            items::always_stop,
            "finish reason: found",
        ),
        (Behavior::Refusal, Whole, items::refusal_as_text, "text: found"),
        (
            Behavior::UsageDetails,
            Streamed,
            items::no_details,
            "cached tokens: found None",
        ),
        (
            Behavior::UsageDetails,
            Whole,
            items::no_usage,
            "the token usage is missing",
        ),
        (
            Behavior::UnknownUsage,
            Streamed,
            items::zero_usage,
            "the server reported no token usage",
        ),
        (
            Behavior::SameInBothForms,
            Streamed,
            calls::no_usage_in_streams,
            "usage: found None",
        ),
        (Behavior::OneCall, Whole, items::no_call_ids, "calls: found"),
        (
            Behavior::ParallelCalls,
            Streamed,
            items::one_place_for_calls,
            "calls: found",
        ),
        (Behavior::TextThenCalls, Streamed, items::text_last, "order: found"),
        (
            Behavior::ReasoningApart,
            Streamed,
            items::reasoning_as_text,
            "text: found",
        ),
        (
            Behavior::ReasoningSentBack,
            Whole,
            calls::reasoning_as_text,
            "text of the reply: found",
        ),
        (
            Behavior::ReasoningSentBack,
            Streamed,
            calls::other_ids,
            "calls of the reply: found",
        ),
    ]
}

fn failure_cases() -> Vec<Case> {
    use Mode::{Streamed, Whole};
    let refused = Behavior::ALL
        .iter()
        .filter(|behavior| matches!(behavior, Behavior::Refused(_)));
    let unknown = refused.map(|behavior| {
        (
            *behavior,
            Streamed,
            items::unknown_errors as Fault,
            "kind: found Unknown",
        )
    });
    let mut cases: Vec<Case> = unknown.collect();
    let rate_limited = Behavior::Refused(FaultKind::RateLimit);
    cases.extend([
        (
            rate_limited,
            Whole,
            items::never_retryable as Fault,
            "retryable: found false",
        ),
        (rate_limited, Streamed, items::no_hint, "retry hint: found None"),
        (rate_limited, Whole, items::no_status, "status: found None"),
        (rate_limited, Streamed, items::no_request_id, "request id: found None"),
        (
            rate_limited,
            Whole,
            items::text_before_error,
            "the error contains a partial answer",
        ),
        (
            rate_limited,
            Whole,
            items::swallowed_error,
            "expected an error, got an answer",
        ),
        (
            Behavior::ErrorInStream,
            Streamed,
            items::swallowed_error,
            "expected an error, got an answer",
        ),
        (
            Behavior::ErrorInStream,
            Streamed,
            items::no_text,
            "partial answer: found None",
        ),
        (
            Behavior::CutInTheMiddle,
            Streamed,
            items::swallowed_error,
            "expected an error, got an answer",
        ),
        (
            Behavior::CutInTheMiddle,
            Streamed,
            items::never_retryable,
            "the error is not retryable",
        ),
        (
            Behavior::CutInTheMiddle,
            Streamed,
            items::no_text,
            "partial answer: found None",
        ),
        (Behavior::HungUp, Whole, items::unknown_errors, "kind: found Unknown"),
        (
            Behavior::HungUp,
            Streamed,
            items::swallowed_error,
            "expected an error, got an answer",
        ),
        (
            Behavior::Garbled,
            Whole,
            items::swallowed_error,
            "expected an error, got an answer",
        ),
        (Behavior::Garbled, Streamed, items::lost_text, "partial answer: found"),
    ]);
    cases
}

fn interrupt_cases() -> Vec<Case> {
    use Mode::{Streamed, Whole};
    vec![
        (
            Behavior::CancelledBeforehand,
            Whole,
            calls::ignores_the_token,
            "expected an error, got an answer",
        ),
        (
            Behavior::CancelledBeforehand,
            Streamed,
            calls::sends_although_cancelled,
            "a request reached the server",
        ),
        (
            Behavior::CancelledWaiting,
            Whole,
            calls::ignores_the_token,
            "timed out after",
        ),
        (
            Behavior::CancelledWaiting,
            Streamed,
            calls::stays_connected,
            "timed out after",
        ),
        (
            Behavior::CancelledWaiting,
            Streamed,
            items::unknown_errors,
            "kind: found Unknown",
        ),
        (
            Behavior::CancelledMidway,
            Streamed,
            calls::ignores_the_token,
            "timed out after",
        ),
        (
            Behavior::CancelledMidway,
            Whole,
            calls::stays_connected,
            "timed out after",
        ),
        (
            Behavior::DroppedMidway,
            Streamed,
            calls::stays_connected,
            "timed out after",
        ),
        (
            Behavior::DroppedMidway,
            Whole,
            calls::stays_connected,
            "timed out after",
        ),
        (
            Behavior::NeverPolled,
            Whole,
            calls::eager,
            "number of requests: found 2",
        ),
        (
            Behavior::NoTimeLeft,
            Streamed,
            calls::ignores_the_deadline,
            "expected an error, got an answer",
        ),
        (
            Behavior::DeadlineWaiting,
            Whole,
            calls::ignores_the_deadline,
            "timed out after",
        ),
        (
            Behavior::DeadlineMidway,
            Streamed,
            calls::ignores_the_deadline,
            "timed out after",
        ),
    ]
}

fn request_cases() -> Vec<Case> {
    use Mode::{Streamed, Whole};
    vec![
        (
            Behavior::ConfiguredModel,
            Whole,
            calls::fixed_model,
            "model: found \"fixed\"",
        ),
        (
            Behavior::RequestedModel,
            Streamed,
            calls::ignores_the_requested_model,
            "model: found \"mock-model\"",
        ),
        (
            Behavior::History,
            Whole,
            calls::drops_the_first_message,
            "messages: found",
        ),
        (Behavior::History, Streamed, calls::other_ids, "messages: found"),
        (Behavior::ToolsInOrder, Whole, calls::sorts_tools, "tools: found"),
        (
            Behavior::SameBytes,
            Streamed,
            calls::numbers_requests,
            "the bodies differ",
        ),
        (
            Behavior::StableInfo,
            Whole,
            calls::unchanged as Fault,
            "info after a call",
        ),
        (
            Behavior::ConcurrentCalls,
            Streamed,
            calls::repeats_the_first_request,
            "answer to the second call",
        ),
    ]
}

/// Checks one behavior of a faulty provider for Chat Completions, and compares the reason in the grid.
async fn check((behavior, mode, fault, reason): Case) {
    let connect = move |server: &MockServer| chat_completions(server).map(|inner| Faulty::wrap(inner, fault));
    let hangs = reason.starts_with("timed out after");
    let suite = Suite::new().with_behaviors([behavior]);
    let suite = if hangs {
        suite.with_timeout(SHORT_TIMEOUT)
    } else {
        suite
    };
    let grid = suite.run(&ServerSubject::new("faulty", connect)).await;
    match grid.verdict(behavior, mode) {
        Some(Verdict::Fail(found)) => assert!(
            found.contains(reason),
            "{behavior}, {mode}: found `{found}`, expected `{reason}`"
        ),
        other => panic!("{behavior}, {mode}: found {other:?}, expected `{reason}`"),
    }
}

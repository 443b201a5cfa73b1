//! The conformance suite: sound providers pass, and each check sees the fault it is for.

mod faulty;
mod items;
mod calls;

use std::{collections::HashSet, sync::Arc, time::Duration};

use agcore_chat::FaultKind;
use agcore_llm::{LlmError, LlmProvider, ProviderConfig};
use agcore_testkit::{
    conformance::{Behaviour, Mode, ScriptSubject, ServerSubject, Suite, Verdict},
    mock_server::MockServer,
};

use faulty::{Fault, Faulty};

/// How long a provider that shall hang is waited for.
const MOMENT: Duration = Duration::from_millis(200);

fn chat_wire(server: &MockServer) -> Result<Arc<dyn LlmProvider>, LlmError> {
    ProviderConfig::of("openai:mock-model")?
        .with_base_url(server.base_url())
        .build()
}

#[tokio::test]
async fn the_scripted_provider_conforms() {
    let grid = Suite::new().run(&ScriptSubject::new("scripted")).await;
    grid.assert_passed();
    let skipped: HashSet<Behaviour> = grid.skips().map(|cell| cell.behaviour).collect();
    let expected = [
        Behaviour::NoTimeLeft,
        Behaviour::DeadlineWaiting,
        Behaviour::DeadlineMidway,
        Behaviour::ConfiguredModel,
        Behaviour::SameBytes,
    ];
    assert_eq!(skipped, HashSet::from(expected), "what a script cannot show");
}

#[tokio::test]
async fn every_behaviour_is_in_the_grid_once() {
    let grid = Suite::new().run(&ScriptSubject::new("scripted")).await;
    let found: Vec<_> = grid.cells().iter().map(|cell| (cell.behaviour, cell.mode)).collect();
    let both = |behaviour: &Behaviour| {
        behaviour
            .modes()
            .iter()
            .map(move |mode| (*behaviour, *mode))
            .collect::<Vec<_>>()
    };
    let expected: Vec<_> = Behaviour::ALL.iter().flat_map(both).collect();
    assert_eq!(found, expected);
    let names: HashSet<String> = Behaviour::ALL.iter().map(ToString::to_string).collect();
    assert_eq!(names.len(), Behaviour::ALL.len(), "names are told apart");
}

/// A fault, the behaviour that it breaks, in which form, and what the grid says.
type Case = (Behaviour, Mode, Fault, &'static str);

#[tokio::test]
async fn rules_for_every_reply_are_checked() {
    use Mode::{Streamed, Whole};
    let cases: [Case; 7] = [
        (
            Behaviour::PlainText,
            Whole,
            items::two_ends,
            "End(Ok(())) follows the end",
        ),
        (
            Behaviour::PlainText,
            Streamed,
            items::delta_after_end,
            "follows the end",
        ),
        (Behaviour::ErrorInStream, Streamed, items::two_ends, "follows the end"),
        (
            Behaviour::PlainText,
            Whole,
            items::no_end,
            "the stream stopped without an end",
        ),
        (
            Behaviour::PlainText,
            Streamed,
            items::endless,
            "100000 items and no end",
        ),
        (
            Behaviour::PlainText,
            Streamed,
            items::panicking,
            "it panicked: a faulty provider",
        ),
        (Behaviour::PlainText, Whole, calls::silent, "no end within 0.2 s"),
    ];
    for case in cases {
        check(case).await;
    }
}

#[tokio::test]
async fn every_behaviour_is_really_checked() {
    let cases = [answers(), failures(), leaving(), asking()].concat();
    let covered: HashSet<Behaviour> = cases.iter().map(|(behaviour, ..)| *behaviour).collect();
    let missing: Vec<_> = Behaviour::ALL.iter().filter(|one| !covered.contains(one)).collect();
    assert!(missing.is_empty(), "no faulty provider for {missing:?}");
    for case in cases {
        check(case).await;
    }
}

fn answers() -> Vec<Case> {
    use Mode::{Streamed, Whole};
    vec![
        (Behaviour::PlainText, Streamed, items::lost_text, "text: found"),
        (Behaviour::PlainText, Streamed, items::swapped_text, "text: found"),
        (
            Behaviour::PlainText,
            Whole,
            items::swallowed_answer,
            "number of choices",
        ),
        (Behaviour::UnicodeText, Streamed, items::ascii_only, "text: found"),
        (Behaviour::UnicodeText, Whole, items::ascii_only, "text: found"),
        (
            Behaviour::EmptyAnswer,
            Whole,
            items::refuses_empty,
            "an error instead of the answer",
        ),
        (
            Behaviour::LengthLimit,
            Streamed,
            items::always_stop,
            "finish reason: found",
        ),
        (Behaviour::Refusal, Whole, items::refusal_as_text, "text: found"),
        (
            Behaviour::UsageDetails,
            Streamed,
            items::no_details,
            "cached tokens: found None",
        ),
        (Behaviour::UsageDetails, Whole, items::no_usage, "the tokens were lost"),
        (
            Behaviour::UnknownUsage,
            Streamed,
            items::zero_usage,
            "the server told no tokens",
        ),
        (
            Behaviour::SameInBothForms,
            Streamed,
            calls::no_usage_in_streams,
            "usage: found None",
        ),
        (Behaviour::OneCall, Whole, items::no_call_ids, "calls: found"),
        (
            Behaviour::ParallelCalls,
            Streamed,
            items::one_place_for_calls,
            "calls: found",
        ),
        (Behaviour::TextThenCalls, Streamed, items::text_last, "order: found"),
        (
            Behaviour::ReasoningApart,
            Streamed,
            items::reasoning_as_text,
            "text: found",
        ),
        (
            Behaviour::ReasoningSentBack,
            Whole,
            calls::thinks_aloud,
            "text of the reply: found",
        ),
        (
            Behaviour::ReasoningSentBack,
            Streamed,
            calls::other_ids,
            "calls of the reply: found",
        ),
    ]
}

fn failures() -> Vec<Case> {
    use Mode::{Streamed, Whole};
    let refused = Behaviour::ALL.iter().filter(|one| matches!(one, Behaviour::Refused(_)));
    let unknown = refused.map(|one| (*one, Streamed, items::unknown_errors as Fault, "kind: found Unknown"));
    let mut cases: Vec<Case> = unknown.collect();
    let limited = Behaviour::Refused(FaultKind::RateLimit);
    cases.extend([
        (
            limited,
            Whole,
            items::never_retryable as Fault,
            "retryable: found false",
        ),
        (limited, Streamed, items::no_hint, "hint: found None"),
        (limited, Whole, items::no_status, "status: found None"),
        (limited, Streamed, items::no_request_id, "request id: found None"),
        (limited, Whole, items::text_before_error, "a partial answer"),
        (limited, Whole, items::swallowed_error, "an answer instead of the error"),
        (
            Behaviour::ErrorInStream,
            Streamed,
            items::swallowed_error,
            "an answer instead of the error",
        ),
        (
            Behaviour::ErrorInStream,
            Streamed,
            items::no_text,
            "partial answer: found None",
        ),
        (
            Behaviour::CutInTheMiddle,
            Streamed,
            items::swallowed_error,
            "an answer instead of the error",
        ),
        (
            Behaviour::CutInTheMiddle,
            Streamed,
            items::never_retryable,
            "it is not retryable",
        ),
        (
            Behaviour::CutInTheMiddle,
            Streamed,
            items::no_text,
            "partial answer: found None",
        ),
        (Behaviour::HungUp, Whole, items::unknown_errors, "kind: found Unknown"),
        (
            Behaviour::HungUp,
            Streamed,
            items::swallowed_error,
            "an answer instead of the error",
        ),
        (
            Behaviour::Garbled,
            Whole,
            items::swallowed_error,
            "an answer instead of the error",
        ),
        (Behaviour::Garbled, Streamed, items::lost_text, "partial answer: found"),
    ]);
    cases
}

fn leaving() -> Vec<Case> {
    use Mode::{Streamed, Whole};
    vec![
        (
            Behaviour::CancelledBeforehand,
            Whole,
            calls::deaf_to_the_token,
            "an answer instead of the error",
        ),
        (
            Behaviour::CancelledBeforehand,
            Streamed,
            calls::asks_although_cancelled,
            "a request reached the server",
        ),
        (
            Behaviour::CancelledWaiting,
            Whole,
            calls::deaf_to_the_token,
            "no end within",
        ),
        (
            Behaviour::CancelledWaiting,
            Streamed,
            calls::stays_connected,
            "no end within",
        ),
        (
            Behaviour::CancelledWaiting,
            Streamed,
            items::unknown_errors,
            "kind: found Unknown",
        ),
        (
            Behaviour::CancelledMidway,
            Streamed,
            calls::deaf_to_the_token,
            "no end within",
        ),
        (
            Behaviour::CancelledMidway,
            Whole,
            calls::stays_connected,
            "no end within",
        ),
        (
            Behaviour::DroppedMidway,
            Streamed,
            calls::stays_connected,
            "no end within",
        ),
        (Behaviour::DroppedMidway, Whole, calls::stays_connected, "no end within"),
        (
            Behaviour::NeverPolled,
            Whole,
            calls::eager,
            "number of requests: found 2",
        ),
        (
            Behaviour::NoTimeLeft,
            Streamed,
            calls::timeless,
            "an answer instead of the error",
        ),
        (Behaviour::DeadlineWaiting, Whole, calls::timeless, "no end within"),
        (Behaviour::DeadlineMidway, Streamed, calls::timeless, "no end within"),
    ]
}

fn asking() -> Vec<Case> {
    use Mode::{Streamed, Whole};
    vec![
        (
            Behaviour::ConfiguredModel,
            Whole,
            calls::fixed_model,
            "model: found \"fixed\"",
        ),
        (
            Behaviour::RequestedModel,
            Streamed,
            calls::own_model_only,
            "model: found \"mock-model\"",
        ),
        (Behaviour::History, Whole, calls::forgets_the_first, "messages: found"),
        (Behaviour::History, Streamed, calls::other_ids, "messages: found"),
        (Behaviour::ToolsInOrder, Whole, calls::sorts_tools, "tools: found"),
        (
            Behaviour::SameBytes,
            Streamed,
            calls::numbers_requests,
            "the bodies differ",
        ),
        (
            Behaviour::StableInfo,
            Whole,
            calls::passes as Fault,
            "info after a call",
        ),
        (
            Behaviour::SideBySide,
            Streamed,
            calls::first_request_only,
            "answer to the second call",
        ),
    ]
}

/// Runs one behaviour on a faulty provider around the chat wire, and looks at what the grid says.
async fn check((behaviour, mode, fault, reason): Case) {
    let connect = move |server: &MockServer| chat_wire(server).map(|inner| Faulty::around(inner, fault));
    let hangs = reason.starts_with("no end within");
    let suite = Suite::new().with_behaviours([behaviour]);
    let suite = if hangs { suite.with_patience(MOMENT) } else { suite };
    let grid = suite.run(&ServerSubject::new("faulty", connect)).await;
    match grid.verdict(behaviour, mode) {
        Some(Verdict::Fail(found)) => assert!(found.contains(reason), "{behaviour}, {mode}: {found}, not {reason}"),
        other => panic!("{behaviour}, {mode}: {other:?} where it should say {reason}"),
    }
}

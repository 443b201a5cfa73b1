//! The conformance suite: correct providers pass, and each check detects the faults that it is meant for.

mod faulty;
mod items;
mod calls;
mod cases;

use std::{collections::HashSet, sync::Arc, time::Duration};

use agcore_llm::{LlmError, LlmProvider, ProviderConfig};
use agcore_testkit::{
    conformance::{Behavior, Mode, ScriptSubject, ServerSubject, Suite, Verdict},
    mock_server::MockServer,
};

use cases::{Case, answer_cases, failure_cases, interrupt_cases, request_cases};
use faulty::Faulty;

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

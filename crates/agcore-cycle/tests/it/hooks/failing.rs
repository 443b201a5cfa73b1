//! Hooks that panic: they are skipped, unless they fail closed.

use std::{pin::Pin, sync::Arc};

use agcore_cycle::{CycleErrorKind, Hook, HookContext, Hooks};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};

use super::{Action, TestHook, cycle_of_all_points, hooks, jumping};
use crate::support::{FnExecutor, cycle, lines};

pub(super) const POINTS: [&str; 8] = [
    "turn_start",
    "pre_request",
    "on_error",
    "on_retry",
    "post_request",
    "pre_tool",
    "post_tool",
    "turn_end",
];

#[tokio::test]
async fn a_hook_that_panics_is_skipped() {
    for point in POINTS {
        let first = TestHook::new("1").at(point, Action::Panic);
        let second = first.with_same_log("2");
        let (mut cycle, _) = cycle_of_all_points(&jumping(), hooks([first.clone(), second]));
        let outcome = cycle.turn("Go").with_tools(FnExecutor::echo(&["add"])).await;
        assert_eq!(outcome.unwrap().text(), "Done.", "panic at {point}");
        let log = first.log();
        assert_eq!(log.len(), 20, "panic at {point}: {log:?}");
    }
}

#[tokio::test]
async fn a_hook_that_fails_closed_blocks_when_it_panics() {
    const REASON: &str = "A required check failed, so this was blocked.";
    for point in POINTS {
        let first = TestHook::new("1").at(point, Action::Panic).closed();
        let second = first.with_same_log("2");
        let (mut cycle, _) = cycle_of_all_points(&jumping(), hooks([first.clone(), second]));
        let outcome = cycle.turn("Go").with_tools(FnExecutor::echo(&["add"])).await;
        match point {
            "turn_start" | "pre_request" => {
                let error = outcome.unwrap_err();
                assert_eq!(
                    (error.kind(), error.message()),
                    (CycleErrorKind::HookBlocked, REASON),
                    "{point}"
                );
                assert!(cycle.messages().is_empty());
            }
            "pre_tool" | "post_tool" => {
                assert_eq!(outcome.unwrap().text(), "Done.");
                assert_eq!(lines(&cycle)[2], format!("tool: {REASON}"), "{point}");
            }
            other => assert_eq!(outcome.unwrap().text(), "Done.", "{other} cannot block"),
        }
        assert!(first.log().iter().any(|line| line.starts_with("2 turn_end")), "{point}");
    }
}

/// Panics when it is called, before it returns a future.
struct PanicsOnCall;

impl Hook for PanicsOnCall {
    fn turn_end<'s, 'c, 'h, 'f>(&'s self, _: &'c HookContext<'h>) -> Pin<Box<dyn Future<Output = ()> + Send + 'f>>
    where
        's: 'f,
        'c: 'f,
        'h: 'f,
        Self: 'f,
    {
        panic!("on purpose")
    }
}

#[tokio::test]
async fn a_hook_may_panic_before_it_is_awaited() {
    let hooks = Hooks::new([Arc::new(PanicsOnCall) as Arc<dyn Hook>]);
    let mut cycle = cycle(&ScriptedProvider::new([ScriptStep::text("Hi.")])).with_hooks(hooks);
    assert_eq!(cycle.turn("Go").await.unwrap().text(), "Hi.");
}

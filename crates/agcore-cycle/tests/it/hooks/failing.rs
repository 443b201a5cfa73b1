//! Hooks that panic: passed over, unless nothing may pass without them.

use std::{pin::Pin, sync::Arc};

use agcore_cycle::{CycleErrorKind, Hook, HookContext, Hooks};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};

use super::{Does, Tester, cycle_of_all_points, hooks, jumping};
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
async fn a_hook_that_panics_is_passed_over_and_the_next_is_asked() {
    for point in POINTS {
        let first = Tester::new("1").at(point, Does::Panic);
        let second = first.beside("2");
        let (mut cycle, _) = cycle_of_all_points(&jumping(), hooks([first.clone(), second]));
        let outcome = cycle.turn("Go").with_tools(FnExecutor::echo(&["add"])).await;
        assert_eq!(outcome.unwrap().text(), "Done.", "panic at {point}");
        let log = first.log();
        assert_eq!(log.len(), 20, "panic at {point}: {log:?}");
    }
}

#[tokio::test]
async fn a_hook_that_fails_closed_blocks_what_it_was_asked() {
    const REASON: &str = "A check failed, and nothing may pass without it.";
    for point in POINTS {
        let first = Tester::new("1").at(point, Does::Panic).closed();
        let second = first.beside("2");
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
            told => assert_eq!(outcome.unwrap().text(), "Done.", "{told} has nothing to block"),
        }
        assert!(first.log().iter().any(|line| line.starts_with("2 turn_end")), "{point}");
    }
}

/// Panics when it is called, before there is a future.
struct Rash;

impl Hook for Rash {
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
    let hooks = Hooks::new([Arc::new(Rash) as Arc<dyn Hook>]);
    let mut cycle = cycle(&ScriptedProvider::new([ScriptStep::text("Hi.")])).with_hooks(hooks);
    assert_eq!(cycle.turn("Go").await.unwrap().text(), "Hi.");
}

//! Hooks that hang: the token of the turn, its time budget or a timeout ends them.

use std::{sync::Arc, time::Duration};

use agcore_chat::validate_messages;
use agcore_cycle::{
    Budget, Budgets, CycleErrorKind, Hook, Hooks, TurnOptions,
    hooks::GRACE_PERIOD,
    machine::{Begin, Limits, RoundLimit},
};
use agcore_testkit::clock::ManualClock;
use tokio_util::sync::CancellationToken;

use super::{Action, TestHook, cycle_of_all_points, failing::POINTS, hooks, jumping};
use crate::support::{FnExecutor, lines};

/// The points at which a turn waits for a verdict.
const VERDICT_POINTS: [&str; 4] = ["turn_start", "pre_request", "pre_tool", "post_tool"];

fn options() -> TurnOptions {
    TurnOptions::new().with_tools(FnExecutor::echo(&["add"]))
}

fn go() -> Begin {
    Begin::new([agcore_chat::Message::user("Go")])
}

#[tokio::test]
async fn cancellation_ends_a_hook_that_hangs() {
    for point in POINTS {
        let first = TestHook::new("1").at(point, Action::Hang);
        let second = first.with_same_log("2");
        let clock = Arc::new(ManualClock::new());
        let (mut cycle, _) = cycle_of_all_points(&clock, hooks([first.clone(), second]));
        let token = CancellationToken::new();
        let turn = cycle.turn(go()).with_options(options().with_token(token.clone()));
        let cancel = async {
            first.hangs.notified().await;
            token.cancel();
            // The cancelled attempt ends with an error, which may lead to the same point again.
            for wait in 1.. {
                clock.wait_for_sleeps(wait).await;
                clock.advance(GRACE_PERIOD);
            }
        };
        let outcome = tokio::select! {
            outcome = turn => outcome,
            () = cancel => unreachable!("the clock advances as long as the turn runs"),
        };
        match point {
            // The turn had already ended.
            "turn_end" => assert_eq!(outcome.unwrap().text(), "Done."),
            _ => assert_eq!(outcome.unwrap_err().kind(), CycleErrorKind::Cancelled, "{point}"),
        }
        let log = first.log();
        assert!(
            log.iter().any(|line| line.starts_with("2 turn_end")),
            "{point}: {log:?}"
        );
        let reached_the_next = log.iter().any(|line| line.starts_with(&format!("2 {point}")));
        assert_eq!(reached_the_next, !VERDICT_POINTS.contains(&point), "{point}: {log:?}");
        if !cycle.messages().is_empty() {
            validate_messages(cycle.messages()).unwrap();
        }
        // The turn waited for nothing else.
        assert!(clock.sleeps().iter().all(|wait| *wait == GRACE_PERIOD), "{point}");
        assert_eq!(clock.sleeps().is_empty(), VERDICT_POINTS.contains(&point), "{point}");
    }
}

#[tokio::test]
async fn a_time_budget_ends_a_hook_that_hangs() {
    for (point, wraps_up) in POINTS.iter().flat_map(|point| [(*point, false), (*point, true)]) {
        let hook = TestHook::new("t").at(point, Action::Hang);
        let (mut cycle, provider) = cycle_of_all_points(&jumping(), hooks([hook.clone()]));
        let budget = Budget::new().with_time(Duration::from_secs(10));
        cycle.settings_mut().budgets = Budgets::new().with_turn(budget);
        if wraps_up {
            cycle.settings_mut().limits = Limits::new().with_round_limit(RoundLimit::WrapUp);
        }
        let outcome = cycle.turn(go()).with_options(options()).await;
        match (point, outcome) {
            ("pre_tool" | "post_tool", Ok(outcome)) => {
                assert!(wraps_up && outcome.text() == "Done.", "{point}");
                assert_ne!(
                    lines(&cycle)[2],
                    "tool: {}",
                    "a result that no hook has inspected is not used"
                );
            }
            (_, Err(error)) => assert_eq!(error.kind(), CycleErrorKind::LimitReached, "{point}"),
            // Hooks that are only notified do not end the turn.
            (_, Ok(_)) => assert!(!VERDICT_POINTS.contains(&point), "{point}"),
        }
        if point == "turn_start" {
            assert_eq!(
                provider.unused(),
                3,
                "the model is not called in a turn that did not start"
            );
        }
        assert!(hook.log().iter().any(|line| line.starts_with("t turn_end")), "{point}");
        if !cycle.messages().is_empty() {
            validate_messages(cycle.messages()).unwrap();
        }
    }
}

#[tokio::test]
async fn a_timeout_ends_a_hook_that_hangs_and_the_turn_continues() {
    let (short, long) = (Duration::from_secs(1), Duration::from_secs(60));
    for point in POINTS {
        for (own, waited) in [(None, long), (Some(short), short)] {
            let mut hook = TestHook::new("t").at(point, Action::Hang);
            hook.timeout = own;
            let hooks = Hooks::new([Arc::new(hook) as Arc<dyn Hook>]).with_timeout(long);
            let clock = jumping();
            let (mut cycle, _) = cycle_of_all_points(&clock, hooks);
            let outcome = cycle.turn(go()).with_options(options()).await;
            assert_eq!(outcome.unwrap().text(), "Done.", "{point}");
            assert!(
                !clock.sleeps().is_empty() && clock.sleeps().iter().all(|wait| *wait == waited),
                "{point}"
            );
        }
    }
}

#[tokio::test]
async fn a_hook_that_fails_closed_blocks_when_it_times_out() {
    let mut hook = TestHook::new("t").at("turn_start", Action::Hang).closed();
    hook.timeout = Some(Duration::from_secs(5));
    let (mut cycle, _) = cycle_of_all_points(&jumping(), hooks([hook]));
    let error = cycle.turn(go()).with_options(options()).await.unwrap_err();
    assert_eq!(error.kind(), CycleErrorKind::HookBlocked);
    assert_eq!(error.message(), "A required check took too long, so this was blocked.");
}

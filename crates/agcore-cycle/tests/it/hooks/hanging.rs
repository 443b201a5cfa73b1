//! Hooks that hang: ended by the turn's token, its budget of time, or a timeout of their own.

use std::{sync::Arc, time::Duration};

use agcore_chat::validate_messages;
use agcore_cycle::{CycleErrorKind, 
    Budget, Budgets, Hook, Hooks, TurnOptions,
    hooks::GRACE,
    machine::{Begin, Limits, RoundLimit},
};
use agcore_testkit::clock::ManualClock;
use tokio_util::sync::CancellationToken;

use super::{Does, Tester, cycle_of_all_points, failing::POINTS, hooks, jumping};
use crate::support::{FnExecutor, lines};

/// Points at which a turn waits for a verdict.
const ASKED: [&str; 4] = ["turn_start", "pre_request", "pre_tool", "post_tool"];

fn options() -> TurnOptions {
    TurnOptions::new().with_tools(FnExecutor::echo(&["add"]))
}

fn go() -> Begin {
    Begin::new([agcore_chat::Message::user("Go")])
}

#[tokio::test]
async fn a_cancel_ends_a_hook_that_hangs() {
    for point in POINTS {
        let first = Tester::new("1").at(point, Does::Hang);
        let second = first.beside("2");
        let clock = Arc::new(ManualClock::new());
        let (mut cycle, _) = cycle_of_all_points(&clock, hooks([first.clone(), second]));
        let token = CancellationToken::new();
        let turn = cycle.turn(go()).with_options(options().with_token(token.clone()));
        let cancel = async {
            first.hangs.notified().await;
            token.cancel();
            // The cancelled attempt ends with an error, which may be the point once more.
            for wait in 1.. {
                clock.wait_for_sleeps(wait).await;
                clock.advance(GRACE);
            }
        };
        let outcome = tokio::select! {
            outcome = turn => outcome,
            () = cancel => unreachable!("time goes on for as long as the turn runs"),
        };
        match point {
            // The turn was over before.
            "turn_end" => assert_eq!(outcome.unwrap().text(), "Done."),
            _ => assert_eq!(outcome.unwrap_err().kind(), CycleErrorKind::Cancelled, "{point}"),
        }
        let log = first.log();
        assert!(
            log.iter().any(|line| line.starts_with("2 turn_end")),
            "{point}: {log:?}"
        );
        let told_the_next = log.iter().any(|line| line.starts_with(&format!("2 {point}")));
        assert_eq!(told_the_next, !ASKED.contains(&point), "{point}: {log:?}");
        if !cycle.messages().is_empty() {
            validate_messages(cycle.messages()).unwrap();
        }
        // Nothing else was waited for.
        assert!(clock.sleeps().iter().all(|wait| *wait == GRACE), "{point}");
        assert_eq!(clock.sleeps().is_empty(), ASKED.contains(&point), "{point}");
    }
}

#[tokio::test]
async fn a_budget_of_time_ends_a_hook_that_hangs() {
    for (point, wraps_up) in POINTS.iter().flat_map(|point| [(*point, false), (*point, true)]) {
        let tester = Tester::new("t").at(point, Does::Hang);
        let (mut cycle, provider) = cycle_of_all_points(&jumping(), hooks([tester.clone()]));
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
                    "a result that was not looked at is not told"
                );
            }
            (_, Err(error)) => assert_eq!(error.kind(), CycleErrorKind::LimitReached, "{point}"),
            // Where hooks are only told, the turn goes on as far as it comes.
            (_, Ok(_)) => assert!(!ASKED.contains(&point), "{point}"),
        }
        if point == "turn_start" {
            assert_eq!(
                provider.unused(),
                3,
                "no model is asked in a turn that hooks did not let begin"
            );
        }
        assert!(
            tester.log().iter().any(|line| line.starts_with("t turn_end")),
            "{point}"
        );
        if !cycle.messages().is_empty() {
            validate_messages(cycle.messages()).unwrap();
        }
    }
}

#[tokio::test]
async fn a_timeout_ends_a_hook_that_hangs_and_the_turn_goes_on() {
    let (short, long) = (Duration::from_secs(1), Duration::from_secs(60));
    for point in POINTS {
        for (own, waited) in [(None, long), (Some(short), short)] {
            let mut tester = Tester::new("t").at(point, Does::Hang);
            tester.timeout = own;
            let hooks = Hooks::new([Arc::new(tester) as Arc<dyn Hook>]).with_timeout(long);
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
async fn a_hook_that_fails_closed_blocks_when_it_takes_too_long() {
    let mut tester = Tester::new("t").at("turn_start", Does::Hang).closed();
    tester.timeout = Some(Duration::from_secs(5));
    let (mut cycle, _) = cycle_of_all_points(&jumping(), hooks([tester]));
    let error = cycle.turn(go()).with_options(options()).await.unwrap_err();
    assert_eq!(error.kind(), CycleErrorKind::HookBlocked);
    assert_eq!(
        error.message(),
        "A check took too long, and nothing may pass without it."
    );
}

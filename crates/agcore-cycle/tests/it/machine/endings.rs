//! Ends of turns: handoff, fatal faults, failures, stops in every phase.

use agcore_chat::{Answer, FaultKind, QuestionKind};
use agcore_cycle::machine::{Cause, End, Limits, MachineError, Outcome, Step};

use super::support::{
    TestRun, answers, asks, call_reply, diverts, done, fails, fatal, fault, start_turn, started, text_reply,
};

#[test]
fn a_handoff_waits_for_running_calls_and_starts_none() {
    let mut run = TestRun::acting(&["a", "b", "c", "d"]);
    run.absorb(started(&["a", "b", "c"]));
    run.absorb(asks("c", 1, QuestionKind::Approval));
    run.absorb(diverts("a"));
    assert_eq!(run.step(), "run []", "b runs, c and d do not start");
    assert!(matches!(run.reject(started(&["d"])), MachineError::NotWaitingFor(_)));
    assert_eq!(
        run.reject(answers("c?1", Answer::approve())),
        MachineError::UnknownQuestion("c?1".into())
    );
    run.reload();
    run.absorb(done("b", "b's"));
    assert_eq!(run.step(), "end diverted by a \"billing\"");
    let not_run = "This call was not run: the turn ended before it started.";
    let expected = [
        "a: over to billing".to_owned(),
        "b: b's".into(),
        format!("c failed: {not_run}"),
        format!("d failed: {not_run}"),
    ];
    assert_eq!(run.history()[2..], expected);
    let events = run.event_lines();
    let tail = [
        "completed a",
        "completed c failed",
        "completed d failed",
        "completed b",
        "complete",
    ];
    assert!(events.contains(&"requested d".to_owned()));
    assert_eq!(
        events[events.len() - 5..],
        tail,
        "every call is announced and completed"
    );
}

#[test]
fn the_first_of_two_handoffs_wins() {
    let mut run = TestRun::running(&["a", "b"]);
    run.absorb(diverts("b"));
    run.absorb(diverts("a"));
    assert_eq!(run.step(), "end diverted by b \"billing\"");
}

#[test]
fn a_stop_or_a_fatal_fault_overrides_a_handoff() {
    let mut run = TestRun::running(&["a", "b"]);
    run.absorb(diverts("b"));
    run.absorb(Outcome::Stop(Cause::cancelled()));
    assert_eq!(
        run.step(),
        "end stopped cancelled",
        "a caller who cancels does not want the next agent"
    );

    let mut run = TestRun::running(&["a", "b", "c"]);
    run.absorb(diverts("b"));
    run.absorb(fatal("a"));
    assert_eq!(run.step(), "end failed connection");
}

#[test]
fn a_fatal_fault_ends_the_turn_at_once() {
    let mut run = TestRun::acting(&["a", "b", "c", "d"]);
    run.absorb(started(&["a", "b", "c"]));
    run.absorb(asks("c", 1, QuestionKind::Input));
    run.absorb(fatal("a"));
    assert_eq!(run.machine.next(), Step::End(&End::Failed(fault())));
    let history = run.history();
    assert_eq!(history[2], format!("a failed: {}", fault().message));
    assert!(history[3].starts_with("b failed: The outcome of this call is unknown"));
    assert!(history[4].starts_with("c failed: This call was not run"));
    assert!(history[5].starts_with("d failed: This call was not run"));
    let events = run.event_lines();
    assert_eq!(events[events.len() - 2..], ["error connection", "complete"]);
}

#[test]
fn a_failed_turn_leaves_no_input_in_the_history() {
    let mut run = TestRun::started();
    run.absorb(fails());
    assert_eq!((run.step().as_str(), run.history().len()), ("end failed connection", 0));
    assert_eq!(run.event_lines(), ["turn started", "error connection", "complete"]);
    run.absorb(start_turn("Again"));
    run.absorb(text_reply("Hi"));
    assert_eq!(run.history(), ["user: Again", "assistant: Hi[]"]);
}

#[test]
fn a_failure_after_a_round_keeps_the_round() {
    let mut run = TestRun::running(&["a"]);
    run.absorb(done("a", "ok"));
    run.absorb(fails());
    assert_eq!(run.history(), ["user: Hello", "assistant: [\"a\"]", "a: ok"]);
    run.absorb(start_turn("Again"));
    assert_eq!(run.step(), "call Reply");
}

/// Stops a turn in the phase that `advance` leads to.
#[track_caller]
fn check_stop(advance: &dyn Fn(&mut TestRun), cause: &Cause, expected: &[&str]) {
    let mut run = TestRun::started();
    advance(&mut run);
    let known = run.event_lines().len();
    run.reload();
    run.absorb(Outcome::Stop(cause.clone()));
    assert_eq!(run.machine.next(), Step::End(&End::Stopped(cause.clone())));
    let history = run.history();
    assert_eq!(history.len(), expected.len(), "{history:?}");
    for (line, start) in history.iter().zip(expected) {
        assert!(line.starts_with(start), "{line} does not start with {start}");
    }
    let events = run.event_lines().split_off(known);
    assert_eq!(
        events[events.len() - 2..],
        [format!("error {}", cause.kind), "complete".into()]
    );
    assert_eq!(run.reject(Outcome::Stop(cause.clone())), MachineError::NoTurn);
    run.absorb(start_turn("Go on"));
    run.absorb(text_reply("Here I am"));
    assert_eq!(run.step(), "end answered");
}

#[test]
fn a_stop_leaves_a_valid_history_in_every_phase() {
    let unknown = "a failed: The outcome of this call is unknown";
    let not_run = "a failed: This call was not run";
    let round = |last: &'static str| ["user: Hello", "assistant: [\"a\"]", last];
    for cause in [
        Cause::cancelled(),
        Cause::abandoned(),
        Cause::hook_blocked("no"),
        Cause::new(FaultKind::Limit, "spent"),
    ] {
        check_stop(&|_| {}, &cause, &[]);
        check_stop(&|run| drop(run.absorb(call_reply(&["a"]))), &cause, &round(not_run));
        let running = |run: &mut TestRun| {
            run.absorb(call_reply(&["a"]));
            run.absorb(started(&["a"]));
        };
        check_stop(&running, &cause, &round(unknown));
        let asking = |run: &mut TestRun| {
            running(run);
            run.absorb(asks("a", 1, QuestionKind::Approval));
        };
        check_stop(&asking, &cause, &round(not_run));
        let answered = |run: &mut TestRun| {
            asking(run);
            run.absorb(answers("a?1", Answer::approve()));
        };
        check_stop(&answered, &cause, &round(not_run));
        let again = |run: &mut TestRun| {
            answered(run);
            run.absorb(started(&["a"]));
        };
        check_stop(&again, &cause, &round(unknown));
        let settled = |run: &mut TestRun| {
            running(run);
            run.absorb(done("a", "ok"));
        };
        check_stop(&settled, &cause, &round("a: ok"));
    }
}

#[test]
fn rejects_a_stop_without_an_open_turn() {
    let mut run = TestRun::new(Limits::new());
    assert_eq!(run.reject(Outcome::Stop(Cause::cancelled())), MachineError::NoTurn);
}

#[test]
fn every_unsuccessful_end_has_a_fault() {
    for (end, kind) in [
        (End::Failed(fault()), FaultKind::Connection),
        (End::Stopped(Cause::hook_blocked("no")), FaultKind::HookBlocked),
        (
            End::Limit(agcore_cycle::machine::LimitKind::ToolTurns),
            FaultKind::Limit,
        ),
    ] {
        assert_eq!(end.fault().unwrap().kind, kind);
    }
    assert_eq!(End::Answered.fault(), None);
    assert_eq!(
        End::Diverted {
            call: "a".into(),
            data: 1.into()
        }
        .fault(),
        None
    );
}

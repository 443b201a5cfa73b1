//! How turns end: handoff, fatal faults, failures, stops in every phase.

use agcore_chat::{Answer, FaultKind, QuestionKind};
use agcore_cycle::machine::{Cause, End, Limits, MachineError, Outcome, Step};

use super::support::{Play, answers, asks, begin, calls, diverts, done, fails, fatal, fault, says, started};

#[test]
fn a_handoff_waits_for_what_runs_and_begins_nothing() {
    let mut play = Play::acting(&["a", "b", "c", "d"]);
    play.absorb(started(&["a", "b", "c"]));
    play.absorb(asks("c", 1, QuestionKind::Approval));
    play.absorb(diverts("a"));
    assert_eq!(play.step(), "run []", "b runs, c and d do not begin");
    assert!(matches!(play.refuse(started(&["d"])), MachineError::NotWaitingFor(_)));
    assert_eq!(
        play.refuse(answers("c?1", Answer::approve())),
        MachineError::UnknownQuestion("c?1".into())
    );
    play.reload();
    play.absorb(done("b", "b's"));
    assert_eq!(play.step(), "end diverted by a \"billing\"");
    let not_run = "This call was not run: the turn ended before it began.";
    let expected = [
        "a: over to billing".to_owned(),
        "b: b's".into(),
        format!("c failed: {not_run}"),
        format!("d failed: {not_run}"),
    ];
    assert_eq!(play.history()[2..], expected);
    let told = play.told();
    let tail = [
        "completed a",
        "completed c failed",
        "started d",
        "completed d failed",
        "completed b",
        "complete",
    ];
    assert_eq!(told[told.len() - 6..], tail, "every call is told of from start to end");
}

#[test]
fn the_first_of_two_handoffs_counts() {
    let mut play = Play::running(&["a", "b"]);
    play.absorb(diverts("b"));
    play.absorb(diverts("a"));
    assert_eq!(play.step(), "end diverted by b \"billing\"");
}

#[test]
fn a_handoff_gives_way_to_a_stop_and_to_a_fatal_fault() {
    let mut play = Play::running(&["a", "b"]);
    play.absorb(diverts("b"));
    play.absorb(Outcome::Stop(Cause::cancelled()));
    assert_eq!(
        play.step(),
        "end stopped cancelled",
        "who cancels does not want the next agent"
    );

    let mut play = Play::running(&["a", "b", "c"]);
    play.absorb(diverts("b"));
    play.absorb(fatal("a"));
    assert_eq!(play.step(), "end failed connection");
}

#[test]
fn a_fatal_fault_ends_the_turn_at_once() {
    let mut play = Play::acting(&["a", "b", "c", "d"]);
    play.absorb(started(&["a", "b", "c"]));
    play.absorb(asks("c", 1, QuestionKind::Input));
    play.absorb(fatal("a"));
    assert_eq!(play.machine.next(), Step::End(&End::Failed(fault())));
    let history = play.history();
    assert_eq!(history[2], format!("a failed: {}", fault().message));
    assert!(history[3].starts_with("b failed: The outcome of this call is not known"));
    assert!(history[4].starts_with("c failed: This call was not run"));
    assert!(history[5].starts_with("d failed: This call was not run"));
    let told = play.told();
    assert_eq!(told[told.len() - 2..], ["error connection", "complete"]);
}

#[test]
fn a_failure_leaves_no_input_behind() {
    let mut play = Play::begun();
    play.absorb(fails());
    assert_eq!(
        (play.step().as_str(), play.history().len()),
        ("end failed connection", 0)
    );
    assert_eq!(play.told(), ["turn started", "error connection", "complete"]);
    play.absorb(begin("Again"));
    play.absorb(says("Hi"));
    assert_eq!(play.history(), ["user: Again", "assistant: Hi[]"]);
}

#[test]
fn a_failure_after_a_round_keeps_the_round() {
    let mut play = Play::running(&["a"]);
    play.absorb(done("a", "ok"));
    play.absorb(fails());
    assert_eq!(play.history(), ["user: Hello", "assistant: [\"a\"]", "a: ok"]);
    play.absorb(begin("Again"));
    assert_eq!(play.step(), "call Reply");
}

/// Stops a turn in the phase that `bring` brings it to.
#[track_caller]
fn check_stop(bring: &dyn Fn(&mut Play), cause: &Cause, expected: &[&str]) {
    let mut play = Play::begun();
    bring(&mut play);
    let known = play.told().len();
    play.reload();
    play.absorb(Outcome::Stop(cause.clone()));
    assert_eq!(play.machine.next(), Step::End(&End::Stopped(cause.clone())));
    let history = play.history();
    assert_eq!(history.len(), expected.len(), "{history:?}");
    for (line, start) in history.iter().zip(expected) {
        assert!(line.starts_with(start), "{line} does not start with {start}");
    }
    let told = play.told().split_off(known);
    assert_eq!(
        told[told.len() - 2..],
        [format!("error {}", cause.kind), "complete".into()]
    );
    assert_eq!(play.refuse(Outcome::Stop(cause.clone())), MachineError::NoTurn);
    play.absorb(begin("Go on"));
    play.absorb(says("Here I am"));
    assert_eq!(play.step(), "end answered");
}

#[test]
fn a_stop_leaves_a_valid_history_in_every_phase() {
    let unknown = "a failed: The outcome of this call is not known";
    let not_run = "a failed: This call was not run";
    let round = |last: &'static str| ["user: Hello", "assistant: [\"a\"]", last];
    for cause in [
        Cause::cancelled(),
        Cause::abandoned(),
        Cause::hook_blocked("no"),
        Cause::new(FaultKind::Limit, "spent"),
    ] {
        check_stop(&|_| {}, &cause, &[]);
        check_stop(&|play| drop(play.absorb(calls(&["a"]))), &cause, &round(not_run));
        let running = |play: &mut Play| {
            play.absorb(calls(&["a"]));
            play.absorb(started(&["a"]));
        };
        check_stop(&running, &cause, &round(unknown));
        let asking = |play: &mut Play| {
            running(play);
            play.absorb(asks("a", 1, QuestionKind::Approval));
        };
        check_stop(&asking, &cause, &round(not_run));
        let answered = |play: &mut Play| {
            asking(play);
            play.absorb(answers("a?1", Answer::approve()));
        };
        check_stop(&answered, &cause, &round(not_run));
        let again = |play: &mut Play| {
            answered(play);
            play.absorb(started(&["a"]));
        };
        check_stop(&again, &cause, &round(unknown));
        let settled = |play: &mut Play| {
            running(play);
            play.absorb(done("a", "ok"));
        };
        check_stop(&settled, &cause, &round("a: ok"));
    }
}

#[test]
fn without_an_open_turn_there_is_nothing_to_stop() {
    let mut play = Play::new(Limits::new());
    assert_eq!(play.refuse(Outcome::Stop(Cause::cancelled())), MachineError::NoTurn);
}

#[test]
fn every_bad_end_is_a_fault() {
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

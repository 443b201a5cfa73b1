//! Questions: asked, answered in part, answered twice, and calls whose fate is not known.

use agcore_chat::{Answer, Question, QuestionKind, ToolOutcome};
use agcore_cycle::machine::{Cause, Limits, MachineError, Outcome, Step};
use serde_json::json;

use super::support::{Play, answers, asks, calls, diverts, done, event_line, fatal, says, started, tool};

const KINDS: [QuestionKind; 2] = [QuestionKind::Approval, QuestionKind::Input];

#[test]
fn an_answered_call_goes_on_with_question_and_answer() {
    for kind in KINDS {
        for answer in [
            Answer::approve(),
            Answer::deny("not today"),
            Answer::Value(json!(["x"])),
        ] {
            let mut play = Play::running(&["a"]);
            let question = Question::new("a", 1, kind, "Really?").with_state(json!({"inner": [1]}));
            play.absorb(tool("a", ToolOutcome::Ask(question.clone())));
            assert_eq!(play.step(), "wait [a?1]");
            play.reload();
            play.absorb(answers("a?1", answer.clone()));
            let Step::Run(work) = play.machine.next() else {
                panic!("{}", play.step())
            };
            assert_eq!(work[0].resumed.as_deref(), Some(&(question.clone(), answer.clone())));
            assert_eq!(play.machine.answer_of(&"a?1".into()), Some(&answer));
            play.absorb(started(&["a"]));
            play.absorb(done("a", "went on"));
            assert_eq!(play.history()[2], "a: went on");
            assert_eq!(
                play.told()[2..],
                ["started a", "asked a?1", "answered a?1", "completed a"]
            );
        }
    }
}

#[test]
fn others_go_on_while_one_waits() {
    let mut play = Play::running(&["a", "b", "c"]);
    play.absorb(asks("a", 1, QuestionKind::Approval));
    assert_eq!(play.step(), "run []");
    play.absorb(asks("b", 1, QuestionKind::Input));
    play.absorb(done("c", "c's"));
    assert_eq!(play.step(), "wait [a?1, b?1]");
    play.absorb(answers("b?1", Answer::Value(json!(5))));
    assert!(play.step().starts_with("run [b after b?1 "), "{}", play.step());
    assert_eq!(play.machine.questions().count(), 1);
    play.absorb(started(&["b"]));
    assert_eq!(play.step(), "run []");
    play.absorb(done("b", "b's"));
    assert_eq!(play.step(), "wait [a?1]");
    play.absorb(answers("a?1", Answer::deny("no")));
    play.absorb(started(&["a"]));
    play.absorb(tool("a", ToolOutcome::error("denied: no")));
    assert_eq!(play.history()[2..], ["a failed: denied: no", "b: b's", "c: c's"]);
}

#[test]
fn a_second_answer_is_refused_as_long_as_the_turn_is_the_newest() {
    let mut play = Play::running(&["a", "b"]);
    play.absorb(asks("a", 1, QuestionKind::Approval));
    play.absorb(answers("a?1", Answer::approve()));
    let again = || answers("a?1", Answer::deny("changed my mind"));
    assert_eq!(play.refuse(again()), MachineError::AlreadyAnswered("a?1".into()));
    play.absorb(started(&["a"]));
    assert_eq!(play.refuse(again()), MachineError::AlreadyAnswered("a?1".into()));
    play.absorb(done("a", "ok"));
    play.reload();
    assert_eq!(play.refuse(again()), MachineError::AlreadyAnswered("a?1".into()));
    play.absorb(done("b", "ok"));
    play.absorb(says("Done"));
    assert_eq!(play.refuse(again()), MachineError::AlreadyAnswered("a?1".into()));
    assert_eq!(
        play.refuse(answers("zz?1", Answer::approve())),
        MachineError::UnknownQuestion("zz?1".into())
    );
}

#[test]
fn a_call_may_ask_again_but_only_something_new() {
    let mut play = Play::running(&["a", "b"]);
    play.absorb(asks("a", 1, QuestionKind::Approval));
    play.absorb(answers("a?1", Answer::approve()));
    play.absorb(started(&["a"]));
    // The id of an answered question: its answer could never be given.
    let misuse = play.refuse(asks("a", 1, QuestionKind::Input));
    assert_eq!(misuse, MachineError::InvalidQuestion("a?1".into()));
    play.absorb(asks("a", 2, QuestionKind::Input));
    // The id of a question that waits: the answer would be for both.
    let mut same = Question::new("b", 1, QuestionKind::Input, "Mine?");
    same.id = "a?2".into();
    assert_eq!(
        play.refuse(tool("b", ToolOutcome::Ask(same))),
        MachineError::InvalidQuestion("a?2".into())
    );
    let other = Question::new("a", 3, QuestionKind::Input, "Whose?");
    assert_eq!(
        play.refuse(tool("b", ToolOutcome::Ask(other))),
        MachineError::InvalidQuestion("a?3".into())
    );
    play.absorb(done("b", "ok"));
    assert_eq!(play.step(), "wait [a?2]");
    play.absorb(answers("a?2", Answer::Value(json!(1))));
    assert!(play.step().starts_with("run [a after a?2"));
}

#[test]
fn an_uncertain_call_runs_again_or_is_settled_by_its_answer() {
    let uncertain = || {
        let mut play = Play::running(&["a"]);
        play.reload();
        assert_eq!(
            play.machine
                .uncertain()
                .map(|call| call.id.as_str())
                .collect::<Vec<_>>(),
            ["a"]
        );
        play.absorb(asks("a", 9, QuestionKind::Uncertain));
        assert_eq!(play.machine.uncertain().count(), 0);
        play
    };
    let mut play = uncertain();
    play.absorb(answers("a?9", Answer::approve()));
    assert_eq!(play.step(), "run [a]");
    play.absorb(started(&["a"]));
    play.absorb(done("a", "again"));
    assert_eq!(play.history()[2], "a: again");
    assert_eq!(
        play.told()[2..],
        ["started a", "asked a?9", "answered a?9", "completed a"]
    );

    for (answer, said) in [
        (Answer::deny("the mail went out"), "the mail went out"),
        (Answer::Value(json!("half done")), "half done"),
    ] {
        let mut play = uncertain();
        play.absorb(answers("a?9", answer));
        assert_eq!(play.step(), "call Reply");
        let line = &play.history()[2];
        assert!(
            line.starts_with("a failed: The outcome of this call is not known") && line.ends_with(said),
            "{line}"
        );
        assert_eq!(play.told()[4..], ["answered a?9", "completed a failed"]);
    }
}

#[test]
fn redo_lets_a_call_run_once_more() {
    let mut play = Play::running(&["a", "b"]);
    play.absorb(done("b", "ok"));
    play.reload();
    play.absorb(Outcome::Redo("a".into()));
    assert!(matches!(
        play.refuse(Outcome::Redo("a".into())),
        MachineError::NotWaitingFor(_)
    ));
    assert!(matches!(
        play.refuse(Outcome::Redo("b".into())),
        MachineError::NotWaitingFor(_)
    ));
    assert_eq!(play.step(), "run [a]");
    play.absorb(started(&["a"]));
    play.absorb(done("a", "second try"));
    assert_eq!(play.history()[2..], ["a: second try", "b: ok"]);
    let starts = play.told().iter().filter(|line| *line == "started a").count();
    assert_eq!(starts, 1, "observers hear once of each call");
}

#[test]
fn a_call_that_runs_again_keeps_the_answer_it_was_given() {
    let resumed = |again: &dyn Fn(&mut Play)| {
        let mut play = Play::running(&["a"]);
        play.absorb(asks("a", 1, QuestionKind::Approval));
        play.absorb(answers("a?1", Answer::approve()));
        let before = play.step();
        assert!(before.starts_with("run [a after a?1"), "{before}");
        play.absorb(started(&["a"]));
        play.reload();
        again(&mut play);
        assert_eq!(play.step(), before, "a person is not asked for the same thing twice");
    };
    resumed(&|play| {
        play.absorb(Outcome::Redo("a".into()));
    });
    resumed(&|play| {
        play.absorb(asks("a", 2, QuestionKind::Uncertain));
        play.reload();
        play.absorb(answers("a?2", Answer::approve()));
    });
}

#[test]
fn a_call_that_may_have_taken_effect_is_never_said_not_to_have_run() {
    let ways: [&dyn Fn(&mut Play); 4] = [
        &|_| {},
        &|play| {
            play.absorb(asks("a", 1, QuestionKind::Uncertain));
        },
        &|play| {
            play.absorb(asks("a", 1, QuestionKind::Uncertain));
            play.absorb(answers("a?1", Answer::approve()));
        },
        &|play| {
            play.absorb(Outcome::Redo("a".into()));
        },
    ];
    for (index, way) in ways.iter().enumerate() {
        for end in [Outcome::Stop(Cause::cancelled()), fatal("b")] {
            let mut play = Play::running(&["a", "b"]);
            play.reload();
            way(&mut play);
            play.absorb(end);
            let line = &play.history()[2];
            assert!(
                line.starts_with("a failed: The outcome of this call is not known"),
                "way {index}: {line}"
            );
        }
    }
    // A handoff waits for what runs, and ends the rest.
    for way in &ways[1..] {
        let mut play = Play::running(&["a", "b"]);
        way(&mut play);
        play.absorb(diverts("b"));
        assert!(play.history()[2].starts_with("a failed: The outcome of this call is not known"));
    }
}

#[test]
fn a_question_after_a_handoff_is_not_put_to_anybody() {
    let mut play = Play::running(&["a", "b"]);
    play.absorb(diverts("b"));
    let changes = play.absorb(asks("a", 1, QuestionKind::Approval));
    assert_eq!(play.step(), "end diverted by b \"billing\"");
    let told: Vec<_> = changes.events.iter().map(event_line).collect();
    assert_eq!(told, ["completed a failed", "complete"]);
    assert!(play.history()[2].starts_with("a failed: This call was not run"));
    assert_eq!(
        play.refuse(answers("a?1", Answer::approve())),
        MachineError::UnknownQuestion("a?1".into())
    );
}

#[test]
fn answers_belong_to_their_turn() {
    let mut play = Play::running(&["a"]);
    play.absorb(asks("a", 1, QuestionKind::Input));
    play.absorb(Outcome::Stop(Cause::abandoned()));
    assert_eq!(
        play.refuse(answers("a?1", Answer::approve())),
        MachineError::UnknownQuestion("a?1".into())
    );
    let mut play = Play::new(Limits::new());
    assert_eq!(
        play.refuse(answers("a?1", Answer::approve())),
        MachineError::UnknownQuestion("a?1".into())
    );
    assert!(matches!(play.refuse(calls(&["a"])), MachineError::NotWaitingFor(_)));
}

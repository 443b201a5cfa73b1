//! Questions: asked, partly answered, answered twice, and calls with an unknown outcome.

use agcore_chat::{Answer, Question, QuestionKind, ToolOutcome};
use agcore_cycle::machine::{Cause, Limits, MachineError, Outcome, Step};
use serde_json::json;

use super::support::{TestRun, answers, asks, call_reply, diverts, done, event_line, fatal, started, text_reply, tool};

const KINDS: [QuestionKind; 2] = [QuestionKind::Approval, QuestionKind::Input];

#[test]
fn an_answered_call_resumes_with_question_and_answer() {
    for kind in KINDS {
        for answer in [
            Answer::approve(),
            Answer::deny("not today"),
            Answer::Value(json!(["x"])),
        ] {
            let mut run = TestRun::running(&["a"]);
            let question = Question::new("a", 1, kind, "Really?").with_state(json!({"inner": [1]}));
            run.absorb(tool("a", ToolOutcome::ask(question.clone())));
            assert_eq!(run.step(), "wait [a?1]");
            run.reload();
            run.absorb(answers("a?1", answer.clone()));
            let Step::Run(work) = run.machine.next() else {
                panic!("{}", run.step())
            };
            assert_eq!(work[0].resumed.as_deref(), Some(&(question.clone(), answer.clone())));
            assert_eq!(run.machine.answer_of(&run.id("a?1")), Some(&answer));
            run.absorb(started(&["a"]));
            run.absorb(done("a", "resumed"));
            assert_eq!(run.history()[2], "a: resumed");
            assert_eq!(
                run.event_lines()[2..],
                [
                    "requested a",
                    "started a",
                    "asked a?1",
                    "answered a?1",
                    "started a",
                    "completed a"
                ]
            );
        }
    }
}

#[test]
fn other_calls_continue_while_one_waits() {
    let mut run = TestRun::running(&["a", "b", "c"]);
    run.absorb(asks("a", 1, QuestionKind::Approval));
    assert_eq!(run.step(), "run []");
    run.absorb(asks("b", 1, QuestionKind::Input));
    run.absorb(done("c", "c's"));
    assert_eq!(run.step(), "wait [a?1, b?1]");
    run.absorb(answers("b?1", Answer::Value(json!(5))));
    assert!(run.step().starts_with("run [b after b?1 "), "{}", run.step());
    assert_eq!(run.machine.questions().count(), 1);
    run.absorb(started(&["b"]));
    assert_eq!(run.step(), "run []");
    run.absorb(done("b", "b's"));
    assert_eq!(run.step(), "wait [a?1]");
    run.absorb(answers("a?1", Answer::deny("no")));
    run.absorb(started(&["a"]));
    run.absorb(tool("a", ToolOutcome::error("denied: no")));
    assert_eq!(run.history()[2..], ["a failed: denied: no", "b: b's", "c: c's"]);
}

#[test]
fn rejects_a_second_answer_while_the_turn_is_the_newest() {
    let mut run = TestRun::running(&["a", "b"]);
    run.absorb(asks("a", 1, QuestionKind::Approval));
    run.absorb(answers("a?1", Answer::approve()));
    let again = || answers("a?1", Answer::deny("changed my mind"));
    assert_eq!(run.reject(again()), MachineError::AlreadyAnswered("a?1".into()));
    run.absorb(started(&["a"]));
    assert_eq!(run.reject(again()), MachineError::AlreadyAnswered("a?1".into()));
    run.absorb(done("a", "ok"));
    run.reload();
    assert_eq!(run.reject(again()), MachineError::AlreadyAnswered("a?1".into()));
    run.absorb(done("b", "ok"));
    run.absorb(text_reply("Done"));
    assert_eq!(run.reject(again()), MachineError::AlreadyAnswered("a?1".into()));
    assert_eq!(
        run.reject(answers("zz?1", Answer::approve())),
        MachineError::UnknownQuestion("zz?1".into())
    );
}

#[test]
fn every_question_gets_an_id_of_its_own() {
    let mut run = TestRun::running(&["a", "b"]);
    run.absorb(asks("a", 1, QuestionKind::Approval));
    let first = run.id("a?1");
    run.absorb(answers("a?1", Answer::approve()));
    run.absorb(started(&["a"]));
    // A call that repeats the id of its question, or takes that of another call.
    run.absorb(asks("a", 1, QuestionKind::Approval));
    let mut same = Question::new("b", 1, QuestionKind::Input, "Mine?");
    same.id = "a?1".into();
    run.absorb(tool("b", ToolOutcome::ask(same)));
    let ids: Vec<_> = run.machine.questions().map(|question| question.id.clone()).collect();
    assert!(ids[0] != ids[1] && !ids.contains(&first), "{first} {ids:?}");
    let before = run.machine.clone();
    let again = run.machine.absorb(Outcome::Answer(first.clone(), Answer::deny("no")));
    assert_eq!(again.unwrap_err(), MachineError::AlreadyAnswered(first));
    assert_eq!(run.machine, before);
    run.absorb(Outcome::Answer(ids[1].clone(), Answer::Value(json!(1))));
    let Step::Run(work) = run.machine.next() else {
        panic!("{}", run.step())
    };
    let (question, _) = work[0].resumed.as_deref().unwrap();
    assert_eq!(question.id, "a?1".into(), "the call gets the question that it asked");
}

#[test]
fn rejects_the_question_of_another_call() {
    let mut run = TestRun::running(&["a", "b"]);
    let other = Question::new("a", 3, QuestionKind::Input, "Whose?");
    assert_eq!(
        run.reject(tool("b", ToolOutcome::ask(other))),
        MachineError::InvalidQuestion("a?3".into())
    );
}

#[test]
fn an_uncertain_call_runs_again_or_is_settled_by_its_answer() {
    let uncertain = || {
        let mut run = TestRun::running(&["a"]);
        run.reload();
        assert_eq!(
            run.machine.uncertain().map(|call| call.id.as_str()).collect::<Vec<_>>(),
            ["a"]
        );
        run.absorb(asks("a", 9, QuestionKind::Uncertain));
        assert_eq!(run.machine.uncertain().count(), 0);
        run
    };
    let mut run = uncertain();
    run.absorb(answers("a?9", Answer::approve()));
    // The executor learns that a person has decided on it.
    let step = run.step();
    assert!(step.starts_with("run [a after a?9"), "{step}");
    run.absorb(started(&["a"]));
    run.absorb(done("a", "again"));
    assert_eq!(run.history()[2], "a: again");
    assert_eq!(
        run.event_lines()[2..],
        [
            "requested a",
            "started a",
            "asked a?9",
            "answered a?9",
            "started a",
            "completed a"
        ]
    );

    for (answer, reply) in [
        (Answer::deny("the mail went out"), "the mail went out"),
        (Answer::Value(json!("half done")), "half done"),
    ] {
        let mut run = uncertain();
        run.absorb(answers("a?9", answer));
        assert_eq!(run.step(), "call Reply");
        let line = &run.history()[2];
        assert!(
            line.starts_with("a failed: The outcome of this call is unknown") && line.ends_with(reply),
            "{line}"
        );
        assert_eq!(run.event_lines()[5..], ["answered a?9", "completed a failed"]);
    }
}

#[test]
fn redo_runs_a_call_again() {
    let mut run = TestRun::running(&["a", "b"]);
    run.absorb(done("b", "ok"));
    run.reload();
    run.absorb(Outcome::Redo("a".into()));
    assert!(matches!(
        run.reject(Outcome::Redo("a".into())),
        MachineError::NotWaitingFor(_)
    ));
    assert!(matches!(
        run.reject(Outcome::Redo("b".into())),
        MachineError::NotWaitingFor(_)
    ));
    assert_eq!(run.step(), "run [a]");
    run.absorb(started(&["a"]));
    run.absorb(done("a", "second try"));
    assert_eq!(run.history()[2..], ["a: second try", "b: ok"]);
    let count = |wanted: &str| run.event_lines().iter().filter(|line| *line == wanted).count();
    assert_eq!((count("requested a"), count("started a")), (1, 2));
}

#[test]
fn a_call_that_runs_again_keeps_its_answer() {
    let resumed = |again: &dyn Fn(&mut TestRun)| {
        let mut run = TestRun::running(&["a"]);
        run.absorb(asks("a", 1, QuestionKind::Approval));
        run.absorb(answers("a?1", Answer::approve()));
        let before = run.step();
        assert!(before.starts_with("run [a after a?1"), "{before}");
        run.absorb(started(&["a"]));
        run.reload();
        again(&mut run);
        assert_eq!(run.step(), before, "the person is not asked again");
    };
    resumed(&|run| {
        run.absorb(Outcome::Redo("a".into()));
    });
    resumed(&|run| {
        run.absorb(asks("a", 2, QuestionKind::Uncertain));
        run.reload();
        run.absorb(answers("a?2", Answer::approve()));
    });
}

#[test]
fn an_interrupted_call_is_never_reported_as_not_run() {
    let interruptions: [&dyn Fn(&mut TestRun); 4] = [
        &|_| {},
        &|run| {
            run.absorb(asks("a", 1, QuestionKind::Uncertain));
        },
        &|run| {
            run.absorb(asks("a", 1, QuestionKind::Uncertain));
            run.absorb(answers("a?1", Answer::approve()));
        },
        &|run| {
            run.absorb(Outcome::Redo("a".into()));
        },
    ];
    for (index, interrupt) in interruptions.iter().enumerate() {
        for end in [Outcome::Stop(Cause::cancelled()), fatal("b")] {
            let mut run = TestRun::running(&["a", "b"]);
            run.reload();
            interrupt(&mut run);
            run.absorb(end);
            let line = &run.history()[2];
            assert!(
                line.starts_with("a failed: The outcome of this call is unknown"),
                "interruption {index}: {line}"
            );
        }
    }
    // A handoff waits for running calls, and ends the others.
    for interrupt in &interruptions[1..] {
        let mut run = TestRun::running(&["a", "b"]);
        interrupt(&mut run);
        run.absorb(diverts("b"));
        assert!(run.history()[2].starts_with("a failed: The outcome of this call is unknown"));
    }
}

#[test]
fn a_question_after_a_handoff_is_not_asked() {
    let mut run = TestRun::running(&["a", "b"]);
    run.absorb(diverts("b"));
    let changes = run.absorb(asks("a", 1, QuestionKind::Approval));
    assert_eq!(run.step(), "end diverted by b \"billing\"");
    let events: Vec<_> = changes.events.iter().map(event_line).collect();
    assert_eq!(events, ["completed a failed", "complete"]);
    assert!(run.history()[2].starts_with("a failed: This call was not run"));
    assert_eq!(
        run.reject(answers("a?1", Answer::approve())),
        MachineError::UnknownQuestion("a?1".into())
    );
}

#[test]
fn rejects_answers_to_questions_of_another_turn() {
    let mut run = TestRun::running(&["a"]);
    run.absorb(asks("a", 1, QuestionKind::Input));
    run.absorb(Outcome::Stop(Cause::abandoned()));
    assert_eq!(
        run.reject(answers("a?1", Answer::approve())),
        MachineError::UnknownQuestion("a?1".into())
    );
    let mut run = TestRun::new(Limits::new());
    assert_eq!(
        run.reject(answers("a?1", Answer::approve())),
        MachineError::UnknownQuestion("a?1".into())
    );
    assert!(matches!(run.reject(call_reply(&["a"])), MachineError::NotWaitingFor(_)));
}

//! The start of a turn: valid input, replacing the history, and unique call ids.

use agcore_chat::{AssistantMessage, Message, Origin, SequenceErrorKind};
use agcore_cycle::machine::{Begin, Limits, MachineError, Outcome};

use super::support::{TestRun, call_message, call_reply, done, fails, shared, start_turn, started, text_reply};

fn starting(messages: Vec<Message>) -> Outcome {
    Outcome::TurnStarted(Begin::new(messages))
}

fn replacing(messages: Vec<Message>) -> Outcome {
    Outcome::TurnStarted(Begin::replacing(messages))
}

fn called(ids: &[&str]) -> Message {
    Message::Assistant(call_message(ids))
}

#[test]
fn rejects_messages_that_cannot_be_sent() {
    let invalid = |outcome: Outcome, index: usize, kind: &SequenceErrorKind| {
        for history in [vec![], shared([Message::user("Q"), Message::assistant("A")])] {
            let mut run = TestRun::new(Limits::new());
            run.machine.set_history(history.clone()).unwrap();
            let replaces = matches!(&outcome, Outcome::TurnStarted(begin) if begin.replaces);
            let at = if replaces { index } else { index + history.len() };
            match run.reject(outcome.clone()) {
                MachineError::InvalidMessages(error) => {
                    assert_eq!((error.index, &error.kind), (at, kind));
                }
                other => panic!("{other}"),
            }
            assert_eq!(run.step(), "idle");
        }
    };
    let unknown = SequenceErrorKind::UnknownCall("a".into());
    invalid(
        starting(vec![Message::user("a"), Message::user("b")]),
        1,
        &SequenceErrorKind::Repeated(agcore_chat::Role::User),
    );
    invalid(starting(vec![Message::tool("a", "x")]), 0, &unknown);
    invalid(replacing(vec![Message::tool("a", "x")]), 0, &unknown);
    invalid(
        starting(vec![Message::user("a"), called(&["x"])]),
        1,
        &SequenceErrorKind::Unanswered("x".into()),
    );
    invalid(replacing(vec![]), 0, &SequenceErrorKind::Empty);
}

#[test]
fn rejects_input_without_anything_to_answer() {
    let mut run = TestRun::new(Limits::new());
    assert!(matches!(run.reject(starting(vec![])), MachineError::InvalidMessages(_)));
    assert_eq!(
        run.reject(starting(vec![Message::user("a"), Message::assistant("b")])),
        MachineError::NothingToAnswer
    );
    run.machine.set_history(shared([Message::user("a")])).unwrap();
    assert_eq!(run.reject(starting(vec![])), MachineError::NothingToAnswer);
    let tool_last = vec![Message::user("a"), called(&["x"]), Message::tool("x", "1")];
    run.absorb(replacing(tool_last));
    run.absorb(text_reply("So it is 1"));
    assert_eq!(run.history().len(), 4);
}

#[test]
fn rejects_a_second_open_turn() {
    for run in [
        &mut TestRun::started(),
        &mut TestRun::acting(&["a"]),
        &mut TestRun::running(&["a"]),
    ] {
        assert_eq!(run.reject(start_turn("Me too")), MachineError::TurnOpen);
        assert_eq!(run.machine.set_history(vec![]), Err(MachineError::TurnOpen));
    }
}

#[test]
fn replaces_the_history_when_the_reply_is_accepted() {
    let mut run = TestRun::started();
    run.absorb(text_reply("Hi"));
    let fresh = vec![Message::system("Be brief."), Message::user("Fresh")];
    run.absorb(replacing(fresh.clone()));
    assert_eq!(run.history(), ["user: Hello", "assistant: Hi[]"]);
    let agcore_cycle::machine::Step::Call(plan) = run.machine.next() else {
        panic!()
    };
    assert_eq!(plan.messages(), shared(fresh.clone()), "exactly these are sent");
    run.absorb(fails());
    assert_eq!(
        run.history(),
        ["user: Hello", "assistant: Hi[]"],
        "a failure keeps the old history"
    );

    run.absorb(replacing(fresh));
    let changes = run.absorb(call_reply(&["a"]));
    assert!(changes.replaced);
    assert_eq!(run.history(), ["system: Be brief.", "user: Fresh"]);
    run.absorb(started(&["a"]));
    assert!(!run.absorb(done("a", "ok")).replaced);
    run.absorb(text_reply("Done"));
    assert_eq!(run.history().len(), 5);
}

#[test]
fn sets_the_history_between_turns() {
    let mut run = TestRun::started();
    run.absorb(text_reply("Hi"));
    run.machine
        .set_history(shared([Message::user("a"), Message::assistant("b")]))
        .unwrap();
    assert_eq!(run.history(), ["user: a", "assistant: b[]"]);
    let invalid = shared([Message::user("a"), called(&["x"])]);
    assert!(matches!(
        run.machine.set_history(invalid),
        Err(MachineError::InvalidMessages(_))
    ));
    assert_eq!(run.history(), ["user: a", "assistant: b[]"]);
    run.machine.set_history(vec![]).unwrap();
    run.absorb(start_turn("Hello again"));
    run.absorb(text_reply("Hi"));
    assert_eq!(run.history().len(), 2);
}

#[test]
fn makes_call_ids_unique() {
    let check = |before: &[&str], reply: &[&str], expected: &[&str]| {
        let mut run = TestRun::new(Limits::new());
        let results = before.iter().map(|id| Message::tool(*id, "ok"));
        let history = [Message::user("Q"), called(before)]
            .into_iter()
            .chain(results)
            .chain([Message::assistant("A")]);
        if !before.is_empty() {
            run.machine.set_history(shared(history)).unwrap();
        }
        run.absorb(start_turn("Go"));
        let changes = run.absorb(call_reply(reply));
        assert_eq!(run.step(), format!("run [{}]", expected.join(", ")));
        run.absorb(started(expected));
        for id in expected {
            run.absorb(done(id, "ok"));
        }
        let announced = changes.events.iter().find_map(|event| match event {
            agcore_chat::EventKind::Text(agcore_chat::TextEvent::MessageComplete(message)) => Some(message),
            _ => None,
        });
        let ids = |message: &AssistantMessage| message.tool_calls().map(|call| call.id.clone()).collect::<Vec<_>>();
        assert_eq!(ids(announced.unwrap()), expected, "observers receive the unique ids");
        let kept = run
            .machine
            .history()
            .iter()
            .rev()
            .find_map(|message| message.as_assistant())
            .unwrap();
        assert_eq!(ids(kept), expected);
    };
    check(&[], &["a", "b"], &["a", "b"]);
    check(&[], &["a", "a", "a"], &["a", "a_2", "a_3"]);
    check(&["a"], &["a", "b"], &["a_2", "b"]);
    check(&["a", "a_2"], &["a"], &["a_3"]);
    check(&["a"], &["a", "a_2"], &["a_2", "a_2_2"]);
    check(
        &["call_0"],
        &["call_0", "call_1", "call_0"],
        &["call_0_2", "call_1", "call_0_3"],
    );
    check(&[], &["", ""], &["call_2", "call_3"]);
    check(&[], &[""], &["call_2"]);
}

#[test]
fn marks_the_wrap_up_note_as_a_hint() {
    use agcore_cycle::machine::{RoundLimit, Step};
    let mut run = TestRun::started_with(
        Limits::new()
            .with_max_tool_turns(1)
            .with_round_limit(RoundLimit::WrapUp),
    );
    run.absorb(call_reply(&["a"]));
    run.absorb(started(&["a"]));
    run.absorb(done("a", "ok"));
    let Step::Call(plan) = run.machine.next() else {
        panic!("{}", run.step())
    };
    let Message::User(note) = &*plan.pending[0] else {
        panic!("{:?}", plan.pending)
    };
    assert_eq!(note.marks.origin, Some(Origin::Hint));
}

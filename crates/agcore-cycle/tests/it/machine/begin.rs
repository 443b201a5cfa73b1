//! The beginning of a turn: what it takes, what it replaces, and ids that stay unique.

use agcore_chat::{AssistantMessage, Message, Origin, SequenceErrorKind};
use agcore_cycle::machine::{Begin, Limits, MachineError, Outcome};

use super::support::{Play, begin, call_message, calls, done, fails, says, shared, started};

fn begun(messages: Vec<Message>) -> Outcome {
    Outcome::TurnStarted(Begin::new(messages))
}

fn replacing(messages: Vec<Message>) -> Outcome {
    Outcome::TurnStarted(Begin::replacing(messages))
}

fn called(ids: &[&str]) -> Message {
    Message::Assistant(call_message(ids))
}

#[test]
fn messages_that_may_not_be_sent_begin_nothing() {
    let invalid = |outcome: Outcome, index: usize, kind: &SequenceErrorKind| {
        for history in [vec![], shared([Message::user("Q"), Message::assistant("A")])] {
            let mut play = Play::new(Limits::new());
            play.machine.set_history(history.clone()).unwrap();
            let replaces = matches!(&outcome, Outcome::TurnStarted(begin) if begin.replaces);
            let at = if replaces { index } else { index + history.len() };
            match play.refuse(outcome.clone()) {
                MachineError::InvalidMessages(error) => {
                    assert_eq!((error.index, &error.kind), (at, kind));
                }
                other => panic!("{other}"),
            }
            assert_eq!(play.step(), "idle");
        }
    };
    let unknown = SequenceErrorKind::UnknownCall("a".into());
    invalid(
        begun(vec![Message::user("a"), Message::user("b")]),
        1,
        &SequenceErrorKind::Repeated(agcore_chat::Role::User),
    );
    invalid(begun(vec![Message::tool("a", "x")]), 0, &unknown);
    invalid(replacing(vec![Message::tool("a", "x")]), 0, &unknown);
    invalid(
        begun(vec![Message::user("a"), called(&["x"])]),
        1,
        &SequenceErrorKind::Unanswered("x".into()),
    );
    invalid(replacing(vec![]), 0, &SequenceErrorKind::Empty);
}

#[test]
fn a_turn_needs_something_to_answer() {
    let mut play = Play::new(Limits::new());
    assert!(matches!(play.refuse(begun(vec![])), MachineError::InvalidMessages(_)));
    assert_eq!(
        play.refuse(begun(vec![Message::user("a"), Message::assistant("b")])),
        MachineError::NothingToAnswer
    );
    play.machine.set_history(shared([Message::user("a")])).unwrap();
    assert_eq!(play.refuse(begun(vec![])), MachineError::NothingToAnswer);
    let tool_last = vec![Message::user("a"), called(&["x"]), Message::tool("x", "1")];
    play.absorb(replacing(tool_last));
    play.absorb(says("So it is 1"));
    assert_eq!(play.history().len(), 4);
}

#[test]
fn one_turn_at_a_time() {
    for play in [
        &mut Play::begun(),
        &mut Play::acting(&["a"]),
        &mut Play::running(&["a"]),
    ] {
        assert_eq!(play.refuse(begin("Me too")), MachineError::TurnOpen);
        assert_eq!(play.machine.set_history(vec![]), Err(MachineError::TurnOpen));
    }
}

#[test]
fn replacing_takes_the_place_of_the_history_with_the_reply() {
    let mut play = Play::begun();
    play.absorb(says("Hi"));
    let fresh = vec![Message::system("Be brief."), Message::user("Fresh")];
    play.absorb(replacing(fresh.clone()));
    assert_eq!(play.history(), ["user: Hello", "assistant: Hi[]"]);
    let agcore_cycle::machine::Step::Call(plan) = play.machine.next() else {
        panic!()
    };
    assert_eq!(plan.messages(), shared(fresh.clone()), "exactly these are sent");
    play.absorb(fails());
    assert_eq!(
        play.history(),
        ["user: Hello", "assistant: Hi[]"],
        "a failure keeps the old history"
    );

    play.absorb(replacing(fresh));
    let changes = play.absorb(calls(&["a"]));
    assert!(changes.replaced);
    assert_eq!(play.history(), ["system: Be brief.", "user: Fresh"]);
    play.absorb(started(&["a"]));
    assert!(!play.absorb(done("a", "ok")).replaced);
    play.absorb(says("Done"));
    assert_eq!(play.history().len(), 5);
}

#[test]
fn a_history_can_be_set_between_turns() {
    let mut play = Play::begun();
    play.absorb(says("Hi"));
    play.machine
        .set_history(shared([Message::user("a"), Message::assistant("b")]))
        .unwrap();
    assert_eq!(play.history(), ["user: a", "assistant: b[]"]);
    let invalid = shared([Message::user("a"), called(&["x"])]);
    assert!(matches!(
        play.machine.set_history(invalid),
        Err(MachineError::InvalidMessages(_))
    ));
    assert_eq!(play.history(), ["user: a", "assistant: b[]"]);
    play.machine.set_history(vec![]).unwrap();
    play.absorb(begin("Hello again"));
    play.absorb(says("Hi"));
    assert_eq!(play.history().len(), 2);
}

#[test]
fn ids_are_made_unique_for_good() {
    let check = |before: &[&str], reply: &[&str], expected: &[&str]| {
        let mut play = Play::new(Limits::new());
        let results = before.iter().map(|id| Message::tool(*id, "ok"));
        let history = [Message::user("Q"), called(before)]
            .into_iter()
            .chain(results)
            .chain([Message::assistant("A")]);
        if !before.is_empty() {
            play.machine.set_history(shared(history)).unwrap();
        }
        play.absorb(begin("Go"));
        let changes = play.absorb(calls(reply));
        assert_eq!(play.step(), format!("run [{}]", expected.join(", ")));
        play.absorb(started(expected));
        for id in expected {
            play.absorb(done(id, "ok"));
        }
        let told = changes.events.iter().find_map(|event| match event {
            agcore_chat::EventKind::Text(agcore_chat::TextEvent::MessageComplete(message)) => Some(message),
            _ => None,
        });
        let ids = |message: &AssistantMessage| message.tool_calls().map(|call| call.id.clone()).collect::<Vec<_>>();
        assert_eq!(ids(told.unwrap()), expected, "observers hear the ids that count");
        let kept = play
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
fn the_wrap_up_note_is_marked_as_a_hint() {
    use agcore_cycle::machine::{RoundLimit, Step};
    let mut play = Play::begun_with(
        Limits::new()
            .with_max_tool_turns(1)
            .with_round_limit(RoundLimit::WrapUp),
    );
    play.absorb(calls(&["a"]));
    play.absorb(started(&["a"]));
    play.absorb(done("a", "ok"));
    let Step::Call(plan) = play.machine.next() else {
        panic!("{}", play.step())
    };
    let Message::User(note) = &*plan.pending[0] else {
        panic!("{:?}", plan.pending)
    };
    assert_eq!(note.marks.origin, Some(Origin::Hint));
}

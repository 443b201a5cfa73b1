//! Replies and rounds: what a reply leads to, what never runs, and the limit.

use agcore_chat::{AssistantMessage, Block, FinishReason, Message, ToolCall};
use agcore_cycle::machine::{Limits, MachineError, Outcome, Purpose, Reply, RoundLimit, Step};

use super::support::{Play, begin, calls, done, fails, says, started};

#[test]
fn a_plain_answer_ends_the_turn() {
    let mut play = Play::new(Limits::new());
    assert_eq!(play.step(), "idle");
    play.absorb(begin("Hello"));
    assert_eq!(play.step(), "call Reply");
    assert!(play.history().is_empty(), "input enters with the reply");
    play.absorb(says("Hi"));
    assert_eq!(play.step(), "end answered");
    assert_eq!(play.history(), ["user: Hello", "assistant: Hi[]"]);
    assert_eq!(play.told(), ["turn started", "message Hi", "complete"]);
}

#[test]
fn rounds_go_on_until_a_reply_carries_no_calls() {
    let mut play = Play::acting(&["a", "b"]);
    assert_eq!(play.step(), "run [a, b]");
    play.absorb(started(&["a"]));
    assert_eq!(play.step(), "run [b]");
    play.absorb(started(&["b"]));
    assert_eq!(play.step(), "run []");
    play.absorb(done("b", "second"));
    assert!(play.history() == ["user: Hello"], "a round enters at once");
    play.absorb(done("a", "first"));
    assert_eq!((play.step().as_str(), play.machine.round()), ("call Reply", 1));
    play.absorb(calls(&["c"]));
    play.absorb(started(&["c"]));
    play.absorb(done("c", "third"));
    play.absorb(says("All done"));
    let expected = [
        "user: Hello",
        "assistant: [\"a\", \"b\"]",
        "a: first",
        "b: second",
        "assistant: [\"c\"]",
        "c: third",
        "assistant: All done[]",
    ];
    assert_eq!(play.history(), expected, "results stand in call order");
    play.absorb(begin("And now?"));
    assert_eq!((play.machine.turn_index(), play.machine.round()), (1, 0));
    let Step::Call(plan) = play.machine.next() else {
        panic!("{}", play.step())
    };
    assert_eq!(plan.messages().len(), expected.len() + 1);
}

#[test]
fn the_calls_decide_whatever_the_finish_reason_says() {
    let reasons = [
        None,
        Some("stop"),
        Some("tool_calls"),
        Some("function_call"),
        Some("refusal"),
        Some("eos"),
    ];
    for finish in reasons.map(|reason| reason.map(FinishReason::from)) {
        let call = || Block::from(ToolCall::function("a", "look", "{}"));
        let with_calls = AssistantMessage::from_blocks([Block::text("Let me see."), call()]);
        let mut play = Play::begun();
        play.absorb(Outcome::Reply(Reply::new(with_calls).with_finish(finish.clone())));
        assert_eq!(play.step(), "run [a]", "{finish:?}");

        let mut play = Play::begun();
        play.absorb(Outcome::Reply(
            Reply::new(AssistantMessage::new("Hi")).with_finish(finish.clone()),
        ));
        assert_eq!(play.step(), "end answered", "{finish:?}");
    }
}

#[test]
fn calls_of_a_cut_reply_never_run() {
    for (finish, why) in [
        (FinishReason::Length, "token limit"),
        (FinishReason::ContentFilter, "content filter"),
    ] {
        let mut play = Play::begun();
        let cut = AssistantMessage::from_blocks([
            Block::from(ToolCall::function("a", "look", "{}")),
            Block::from(ToolCall::custom("b", "shell", "rm -r")),
            Block::from(ToolCall::function("c", "look", "{\"path\": \"/ho")),
        ]);
        play.absorb(Outcome::Reply(Reply::new(cut).with_finish(Some(finish))));
        assert_eq!(play.step(), "call Reply");
        let history = play.history();
        assert_eq!(history.len(), 5);
        for (line, id) in history[2..].iter().zip(["a", "b", "c"]) {
            assert!(
                line.starts_with(&format!("{id} failed: This call was not run")) && line.contains(why),
                "{line}"
            );
        }
        play.absorb(says("Shorter now."));
        assert_eq!(play.step(), "end answered");
    }
}

#[test]
fn arguments_that_do_not_parse_never_reach_a_tool() {
    let check = |arguments: &str, expected: Option<&str>| {
        let mut play = Play::begun();
        let message = AssistantMessage::new("").with_call(ToolCall::function("a", "look", arguments));
        play.absorb(Outcome::Reply(Reply::new(message)));
        let Some(why) = expected else {
            assert_eq!(play.step(), "run [a]", "{arguments}");
            return;
        };
        assert_eq!(play.step(), "call Reply", "{arguments}");
        let line = play.history().pop().unwrap();
        assert!(
            line.starts_with("a failed: the arguments of look are ") && line.contains(why),
            "{line}"
        );
        assert_eq!(play.told()[2..], ["started a", "completed a failed"]);
    };
    check("{}", None);
    check("", None);
    check(" null ", None);
    check("{\"city\": \"Paris\"}", None);
    check("{\"city\": ", Some("EOF while parsing a value at line 1 column 9"));
    check("city=Paris", Some("not valid JSON: expected value at line 1 column 1"));
    check("{} {}", Some("trailing characters"));
    check("[1]", Some("an array, but must be one JSON object"));
    check("\"Paris\"", Some("a string"));
    check("12", Some("a number"));
    check("true", Some("a boolean"));
}

#[test]
fn a_bad_call_does_not_hold_up_its_neighbours() {
    let mut play = Play::begun();
    let message = AssistantMessage::from_blocks([
        Block::from(ToolCall::function("bad", "look", "{")),
        Block::from(ToolCall::function("good", "look", "{}")),
        Block::from(ToolCall::custom("text", "shell", "not { json")),
    ]);
    play.absorb(Outcome::Reply(Reply::new(message)));
    assert_eq!(play.step(), "run [good, text]");
    assert!(matches!(play.refuse(started(&["bad"])), MachineError::NotWaitingFor(_)));
    assert!(matches!(
        play.refuse(started(&["good", "bad"])),
        MachineError::NotWaitingFor(_)
    ));
    assert!(matches!(play.refuse(done("bad", "x")), MachineError::NotWaitingFor(_)));
    play.absorb(started(&["good", "text"]));
    play.absorb(done("text", "2"));
    play.absorb(done("good", "1"));
    assert!(play.history()[2].starts_with("bad failed: "));
    assert_eq!(play.history()[3..], ["good: 1", "text: 2"]);
}

/// Plays `rounds` rounds of one call each.
fn play_rounds(play: &mut Play, rounds: u32) {
    for round in 0..rounds {
        let id = format!("r{round}");
        play.absorb(calls(&[&id]));
        play.absorb(started(&[&id]));
        play.absorb(done(&id, "ok"));
    }
}

#[test]
fn after_the_last_round_the_turn_fails_and_keeps_its_history() {
    for rounds in [0, 1, 3] {
        let mut play = Play::begun_with(Limits::new().with_max_tool_turns(rounds));
        play_rounds(&mut play, rounds);
        assert_eq!(play.step(), "call Reply");
        play.absorb(calls(&["over"]));
        assert_eq!(play.step(), "end limit max_tool_turns");
        let history = play.history();
        assert_eq!(history.len(), 3 + 2 * rounds as usize);
        assert_eq!(
            history.last().unwrap(),
            "over failed: This call was not run: no rounds of tools are left."
        );
        let told = play.told();
        let tail = [
            "started over",
            "completed over failed",
            "limit max_tool_turns",
            "error limit",
            "complete",
        ];
        assert_eq!(told[told.len() - 5..], tail);
        play.absorb(begin("Go on"));
        play.absorb(says("Sure"));
        assert_eq!(play.step(), "end answered");
    }
}

#[test]
fn an_answer_after_the_last_round_is_fine() {
    let mut play = Play::begun_with(Limits::new().with_max_tool_turns(2));
    play_rounds(&mut play, 2);
    play.absorb(says("Done"));
    assert_eq!(play.step(), "end answered");
}

fn wrapping_up(rounds: u32) -> Play {
    let limits = Limits::new()
        .with_max_tool_turns(rounds)
        .with_round_limit(RoundLimit::WrapUp);
    let mut play = Play::begun_with(limits);
    play_rounds(&mut play, rounds);
    play
}

#[test]
fn wrapping_up_asks_once_more_without_tools() {
    let mut play = wrapping_up(2);
    let Step::Call(plan) = play.machine.next() else {
        panic!("{}", play.step())
    };
    assert_eq!(plan.purpose, Purpose::WrapUp);
    let note = plan.pending.last().unwrap().text().into_owned();
    assert!(note.contains("Answer now"), "{note}");
    assert_eq!(play.history().len(), 5, "the note is not history yet");
    play.absorb(says("This is what I have."));
    assert_eq!(play.step(), "end answered");
    assert_eq!(
        play.history()[5..],
        [format!("user: {note}"), "assistant: This is what I have.[]".into()]
    );
}

#[test]
fn a_wrap_up_that_fails_leaves_no_note() {
    let mut play = wrapping_up(1);
    let before = play.history();
    play.absorb(fails());
    assert_eq!(
        (play.step().as_str(), play.history()),
        ("end failed connection", before)
    );
    play.absorb(begin("Again"));
    play.absorb(says("Now it works"));
    assert_eq!(play.history()[3..], ["user: Again", "assistant: Now it works[]"]);
}

#[test]
fn a_wrap_up_that_still_calls_tools_reaches_the_limit() {
    let mut play = wrapping_up(1);
    play.absorb(calls(&["still"]));
    assert_eq!(play.step(), "end limit max_tool_turns");
    assert_eq!(
        play.history().last().unwrap(),
        "still failed: This call was not run: no rounds of tools are left."
    );
}

#[test]
fn without_any_round_the_wrap_up_comes_first() {
    let mut play = wrapping_up(0);
    assert_eq!(play.step(), "call WrapUp");
    play.absorb(calls(&["a"]));
    assert_eq!(
        play.step(),
        "end limit max_tool_turns",
        "no tool runs where no round is allowed"
    );
    play.absorb(begin("Just say it"));
    play.absorb(says("It"));
    assert_eq!(play.step(), "end answered");
}

#[test]
fn cut_replies_count_as_rounds() {
    let mut play = Play::begun_with(Limits::new().with_max_tool_turns(2));
    for round in 0..3 {
        assert_eq!(play.machine.round(), round);
        let message = AssistantMessage::new("").with_call(ToolCall::function(format!("c{round}"), "look", "{"));
        play.absorb(Outcome::Reply(
            Reply::new(message).with_finish(Some(FinishReason::Length)),
        ));
    }
    assert_eq!(play.step(), "end limit max_tool_turns");
}

#[test]
fn nothing_but_a_reply_goes_with_a_call_of_the_model() {
    let mut play = Play::begun();
    for outcome in [started(&["a"]), done("a", "x"), Outcome::Redo("a".into())] {
        assert!(matches!(play.refuse(outcome), MachineError::NotWaitingFor(_)));
    }
    let mut play = Play::running(&["a"]);
    for outcome in [says("Hi"), fails(), started(&["a"])] {
        assert!(matches!(play.refuse(outcome), MachineError::NotWaitingFor(_)));
    }
    play.absorb(done("a", "x"));
    assert!(matches!(play.refuse(done("a", "x")), MachineError::NotWaitingFor(_)));
    assert!(
        play.machine
            .history()
            .iter()
            .all(|message| !matches!(**message, Message::System(_)))
    );
}

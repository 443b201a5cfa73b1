//! Replies and rounds: the effect of a reply, calls that never run, and the round limit.

use agcore_chat::{AssistantMessage, Block, FinishReason, Message, ToolCall};
use agcore_cycle::machine::{Limits, MachineError, Outcome, Purpose, Reply, RoundLimit, Step};

use super::support::{TestRun, call_reply, done, fails, start_turn, started, text_reply};

#[test]
fn a_plain_answer_ends_the_turn() {
    let mut run = TestRun::new(Limits::new());
    assert_eq!(run.step(), "idle");
    run.absorb(start_turn("Hello"));
    assert_eq!(run.step(), "call Reply");
    assert!(run.history().is_empty(), "input enters with the reply");
    run.absorb(text_reply("Hi"));
    assert_eq!(run.step(), "end answered");
    assert_eq!(run.history(), ["user: Hello", "assistant: Hi[]"]);
    assert_eq!(run.event_lines(), ["turn started", "message Hi", "complete"]);
}

#[test]
fn rounds_continue_until_a_reply_has_no_calls() {
    let mut run = TestRun::acting(&["a", "b"]);
    assert_eq!(run.step(), "run [a, b]");
    run.absorb(started(&["a"]));
    assert_eq!(run.step(), "run [b]");
    run.absorb(started(&["b"]));
    assert_eq!(run.step(), "run []");
    run.absorb(done("b", "second"));
    assert!(run.history() == ["user: Hello"], "a round enters at once");
    run.absorb(done("a", "first"));
    assert_eq!((run.step().as_str(), run.machine.round()), ("call Reply", 1));
    run.absorb(call_reply(&["c"]));
    run.absorb(started(&["c"]));
    run.absorb(done("c", "third"));
    run.absorb(text_reply("All done"));
    let expected = [
        "user: Hello",
        "assistant: [\"a\", \"b\"]",
        "a: first",
        "b: second",
        "assistant: [\"c\"]",
        "c: third",
        "assistant: All done[]",
    ];
    assert_eq!(run.history(), expected, "results are in call order");
    run.absorb(start_turn("And now?"));
    assert_eq!((run.machine.turn_index(), run.machine.round()), (1, 0));
    let Step::Call(plan) = run.machine.next() else {
        panic!("{}", run.step())
    };
    assert_eq!(plan.messages().len(), expected.len() + 1);
}

#[test]
fn calls_matter_more_than_the_finish_reason() {
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
        let mut run = TestRun::started();
        run.absorb(Outcome::Reply(Reply::new(with_calls).with_finish(finish.clone())));
        assert_eq!(run.step(), "run [a]", "{finish:?}");

        let mut run = TestRun::started();
        run.absorb(Outcome::Reply(
            Reply::new(AssistantMessage::new("Hi")).with_finish(finish.clone()),
        ));
        assert_eq!(run.step(), "end answered", "{finish:?}");
    }
}

#[test]
fn calls_of_a_truncated_reply_never_run() {
    for (finish, reason) in [
        (FinishReason::Length, "token limit"),
        (FinishReason::ContentFilter, "content filter"),
    ] {
        let mut run = TestRun::started();
        let truncated = AssistantMessage::from_blocks([
            Block::from(ToolCall::function("a", "look", "{}")),
            Block::from(ToolCall::custom("b", "shell", "rm -r")),
            Block::from(ToolCall::function("c", "look", "{\"path\": \"/ho")),
        ]);
        run.absorb(Outcome::Reply(Reply::new(truncated).with_finish(Some(finish))));
        assert_eq!(run.step(), "call Reply");
        let history = run.history();
        assert_eq!(history.len(), 5);
        for (line, id) in history[2..].iter().zip(["a", "b", "c"]) {
            assert!(
                line.starts_with(&format!("{id} failed: This call was not run")) && line.contains(reason),
                "{line}"
            );
        }
        run.absorb(text_reply("Shorter now."));
        assert_eq!(run.step(), "end answered");
    }
}

#[test]
fn invalid_arguments_never_reach_a_tool() {
    let check = |arguments: &str, expected: Option<&str>| {
        let mut run = TestRun::started();
        let message = AssistantMessage::new("").with_call(ToolCall::function("a", "look", arguments));
        run.absorb(Outcome::Reply(Reply::new(message)));
        let Some(reason) = expected else {
            assert_eq!(run.step(), "run [a]", "{arguments}");
            return;
        };
        assert_eq!(run.step(), "call Reply", "{arguments}");
        let line = run.history().pop().unwrap();
        assert!(
            line.starts_with("a failed: the arguments of look are ") && line.contains(reason),
            "{line}"
        );
        assert_eq!(run.event_lines()[2..], ["requested a", "completed a failed"]);
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
fn an_invalid_call_does_not_delay_the_others() {
    let mut run = TestRun::started();
    let message = AssistantMessage::from_blocks([
        Block::from(ToolCall::function("bad", "look", "{")),
        Block::from(ToolCall::function("good", "look", "{}")),
        Block::from(ToolCall::custom("text", "shell", "not { json")),
    ]);
    run.absorb(Outcome::Reply(Reply::new(message)));
    assert_eq!(run.step(), "run [good, text]");
    assert!(matches!(run.reject(started(&["bad"])), MachineError::NotWaitingFor(_)));
    assert!(matches!(
        run.reject(started(&["good", "bad"])),
        MachineError::NotWaitingFor(_)
    ));
    assert!(matches!(run.reject(done("bad", "x")), MachineError::NotWaitingFor(_)));
    run.absorb(started(&["good", "text"]));
    run.absorb(done("text", "2"));
    run.absorb(done("good", "1"));
    assert!(run.history()[2].starts_with("bad failed: "));
    assert_eq!(run.history()[3..], ["good: 1", "text: 2"]);
}

/// Runs `rounds` rounds of one call each.
fn run_rounds(run: &mut TestRun, rounds: u32) {
    for round in 0..rounds {
        let id = format!("r{round}");
        run.absorb(call_reply(&[&id]));
        run.absorb(started(&[&id]));
        run.absorb(done(&id, "ok"));
    }
}

#[test]
fn after_the_last_round_the_turn_fails_and_keeps_its_history() {
    for rounds in [0, 1, 3] {
        let mut run = TestRun::started_with(Limits::new().with_max_tool_turns(rounds));
        run_rounds(&mut run, rounds);
        assert_eq!(run.step(), "call Reply");
        run.absorb(call_reply(&["over"]));
        assert_eq!(run.step(), "end limit max_tool_turns");
        let history = run.history();
        assert_eq!(history.len(), 3 + 2 * rounds as usize);
        assert_eq!(
            history.last().unwrap(),
            "over failed: This call was not run: no rounds of tools are left."
        );
        let events = run.event_lines();
        let tail = [
            "requested over",
            "completed over failed",
            "limit max_tool_turns",
            "error limit",
            "complete",
        ];
        assert_eq!(events[events.len() - 5..], tail);
        run.absorb(start_turn("Go on"));
        run.absorb(text_reply("Sure"));
        assert_eq!(run.step(), "end answered");
    }
}

#[test]
fn an_answer_after_the_last_round_is_accepted() {
    let mut run = TestRun::started_with(Limits::new().with_max_tool_turns(2));
    run_rounds(&mut run, 2);
    run.absorb(text_reply("Done"));
    assert_eq!(run.step(), "end answered");
}

fn wrapping_up(rounds: u32) -> TestRun {
    let limits = Limits::new()
        .with_max_tool_turns(rounds)
        .with_round_limit(RoundLimit::WrapUp);
    let mut run = TestRun::started_with(limits);
    run_rounds(&mut run, rounds);
    run
}

#[test]
fn wrapping_up_asks_once_more_without_tools() {
    let mut run = wrapping_up(2);
    let Step::Call(plan) = run.machine.next() else {
        panic!("{}", run.step())
    };
    assert_eq!(plan.purpose, Purpose::WrapUp);
    let note = plan.pending.last().unwrap().text().into_owned();
    assert!(note.contains("Answer now"), "{note}");
    assert_eq!(run.history().len(), 5, "the note is not part of the history yet");
    run.absorb(text_reply("This is what I have."));
    assert_eq!(run.step(), "end answered");
    assert_eq!(
        run.history()[5..],
        [format!("user: {note}"), "assistant: This is what I have.[]".into()]
    );
}

#[test]
fn a_failed_wrap_up_leaves_no_note() {
    let mut run = wrapping_up(1);
    let before = run.history();
    run.absorb(fails());
    assert_eq!((run.step().as_str(), run.history()), ("end failed connection", before));
    run.absorb(start_turn("Again"));
    run.absorb(text_reply("Now it works"));
    assert_eq!(run.history()[3..], ["user: Again", "assistant: Now it works[]"]);
}

#[test]
fn a_wrap_up_that_still_calls_tools_reaches_the_limit() {
    let mut run = wrapping_up(1);
    run.absorb(call_reply(&["still"]));
    assert_eq!(run.step(), "end limit max_tool_turns");
    assert_eq!(
        run.history().last().unwrap(),
        "still failed: This call was not run: no rounds of tools are left."
    );
}

#[test]
fn without_rounds_the_first_call_wraps_up() {
    let mut run = wrapping_up(0);
    assert_eq!(run.step(), "call WrapUp");
    run.absorb(call_reply(&["a"]));
    assert_eq!(
        run.step(),
        "end limit max_tool_turns",
        "no tool runs where no round is allowed"
    );
    run.absorb(start_turn("Just say it"));
    run.absorb(text_reply("It"));
    assert_eq!(run.step(), "end answered");
}

#[test]
fn truncated_replies_count_as_rounds() {
    let mut run = TestRun::started_with(Limits::new().with_max_tool_turns(2));
    for round in 0..3 {
        assert_eq!(run.machine.round(), round);
        let message = AssistantMessage::new("").with_call(ToolCall::function(format!("c{round}"), "look", "{"));
        run.absorb(Outcome::Reply(
            Reply::new(message).with_finish(Some(FinishReason::Length)),
        ));
    }
    assert_eq!(run.step(), "end limit max_tool_turns");
}

#[test]
fn rejects_outcomes_that_are_not_expected() {
    let mut run = TestRun::started();
    for outcome in [started(&["a"]), done("a", "x"), Outcome::Redo("a".into())] {
        assert!(matches!(run.reject(outcome), MachineError::NotWaitingFor(_)));
    }
    let mut run = TestRun::running(&["a"]);
    for outcome in [text_reply("Hi"), fails(), started(&["a"])] {
        assert!(matches!(run.reject(outcome), MachineError::NotWaitingFor(_)));
    }
    run.absorb(done("a", "x"));
    assert!(matches!(run.reject(done("a", "x")), MachineError::NotWaitingFor(_)));
    assert!(
        run.machine
            .history()
            .iter()
            .all(|message| !matches!(**message, Message::System(_)))
    );
}

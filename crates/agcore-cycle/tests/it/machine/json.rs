//! The JSON of the state: round trips, and states of another version.

use agcore_chat::{Answer, AssistantMessage, Block, QuestionKind, Reasoning, ToolCall, VendorData};
use agcore_cycle::machine::{Limits, Machine, Outcome, Reply};
use serde_json::{Value, json};

use super::support::{TestRun, answers, asks, call_reply, diverts, done, start_turn, started, text_reply};

#[test]
fn round_trips_in_every_phase() {
    let mut run = TestRun::new(Limits::new());
    let signature = VendorData::new("anthropic", json!({"signature": "c2ln"}));
    let reply = AssistantMessage::from_blocks([
        Block::Reasoning(Reasoning::new("Hm.").with_vendor(signature)),
        Block::text("Let me see."),
        Block::from(ToolCall::function(
            "a",
            "look",
            "{\"zebra\": 1, \"ant\": 0.30000000000000004}",
        )),
        Block::from(ToolCall::custom("b", "shell", "ls")),
    ]);
    let steps = [
        start_turn("Hello"),
        Outcome::Reply(Reply::new(reply)),
        started(&["a", "b"]),
        asks("a", 1, QuestionKind::Approval),
        answers("a?1", Answer::Value(json!({"zebra": 0.30000000000000004, "ant": null}))),
        started(&["a"]),
        done("a", "ok"),
        diverts("b"),
        start_turn("On"),
        text_reply("Off"),
    ];
    for outcome in std::iter::once(None).chain(steps.into_iter().map(Some)) {
        if let Some(outcome) = outcome {
            run.absorb(outcome);
        }
        let json = serde_json::to_string(&run.machine).unwrap();
        let back: Machine = serde_json::from_str(&json).unwrap();
        assert_eq!(back, run.machine);
        assert_eq!(back.next(), run.machine.next());
        assert_eq!(serde_json::to_string(&back).unwrap(), json, "byte for byte");
        let value: Machine = serde_json::from_value(serde_json::to_value(&run.machine).unwrap()).unwrap();
        assert_eq!(value, run.machine);
    }
}

#[test]
fn rejects_a_state_of_another_version() {
    let mut state = serde_json::to_value(TestRun::started().machine).unwrap();
    assert_eq!(state["version"], 2);
    let error = |state: &Value| {
        serde_json::from_value::<Machine>(state.clone())
            .unwrap_err()
            .to_string()
    };
    state["version"] = json!(3);
    assert!(
        error(&state).contains("this state has version 3, but this program reads versions 1 to 2"),
        "{}",
        error(&state)
    );
    // A later version may look different, but its number comes first.
    let later = json!({"version": 7, "log": [], "turn": "something else"});
    assert!(error(&later).contains("version 7"), "{}", error(&later));
    state.as_object_mut().unwrap().remove("version");
    assert!(error(&state).contains("version"), "{}", error(&state));
}

#[test]
fn outcomes_are_journal_records() {
    let mut run = TestRun::started();
    run.absorb(call_reply(&["a"]));
    let record = serde_json::to_string(&started(&["a"])).unwrap();
    assert_eq!(record, r#"{"started":["a"]}"#);
    run.absorb(serde_json::from_str(&record).unwrap());
    run.absorb(
        serde_json::from_str(r#"{"tool": {"call": "a", "outcome": {"done": {"content": "ok"}}, "duration_us": 1}}"#)
            .unwrap(),
    );
    assert_eq!(run.step(), "call Reply");
    run.absorb(serde_json::from_str(r#"{"stop": {"kind": "cancelled", "message": "enough"}}"#).unwrap());
    assert_eq!(run.step(), "end stopped cancelled");
}

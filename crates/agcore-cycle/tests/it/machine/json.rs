//! The state's JSON: it changes nothing, and says so when it is of another version.

use agcore_chat::{Answer, AssistantMessage, Block, QuestionKind, Reasoning, ToolCall, VendorData};
use agcore_cycle::machine::{Limits, Machine, Outcome, Reply};
use serde_json::{Value, json};

use super::support::{Play, answers, asks, begin, calls, diverts, done, says, started};

#[test]
fn a_round_trip_in_every_phase_changes_nothing() {
    let mut play = Play::new(Limits::new());
    let sealed = VendorData::new("anthropic", json!({"signature": "c2ln"}));
    let reply = AssistantMessage::from_blocks([
        Block::Reasoning(Reasoning::new("Hm.").with_vendor(sealed)),
        Block::text("Let me see."),
        Block::from(ToolCall::function(
            "a",
            "look",
            "{\"zebra\": 1, \"ant\": 0.30000000000000004}",
        )),
        Block::from(ToolCall::custom("b", "shell", "ls")),
    ]);
    let steps = [
        begin("Hello"),
        Outcome::Reply(Reply::new(reply)),
        started(&["a", "b"]),
        asks("a", 1, QuestionKind::Approval),
        answers("a?1", Answer::Value(json!({"zebra": 0.30000000000000004, "ant": null}))),
        started(&["a"]),
        done("a", "ok"),
        diverts("b"),
        begin("On"),
        says("Off"),
    ];
    for outcome in std::iter::once(None).chain(steps.into_iter().map(Some)) {
        if let Some(outcome) = outcome {
            play.absorb(outcome);
        }
        let json = serde_json::to_string(&play.machine).unwrap();
        let back: Machine = serde_json::from_str(&json).unwrap();
        assert_eq!(back, play.machine);
        assert_eq!(back.next(), play.machine.next());
        assert_eq!(serde_json::to_string(&back).unwrap(), json, "byte for byte");
        let value: Machine = serde_json::from_value(serde_json::to_value(&play.machine).unwrap()).unwrap();
        assert_eq!(value, play.machine);
    }
}

#[test]
fn a_state_of_another_version_is_refused_in_words() {
    let mut state = serde_json::to_value(Play::begun().machine).unwrap();
    assert_eq!(state["version"], 1);
    let error = |state: &Value| {
        serde_json::from_value::<Machine>(state.clone())
            .unwrap_err()
            .to_string()
    };
    state["version"] = json!(2);
    assert!(
        error(&state).contains("this state has version 2, but this program reads version 1"),
        "{}",
        error(&state)
    );
    // What a later version looks like nobody knows; its number stands first.
    let later = json!({"version": 7, "log": [], "turn": "another shape"});
    assert!(error(&later).contains("version 7"), "{}", error(&later));
    state.as_object_mut().unwrap().remove("version");
    assert!(error(&state).contains("version"), "{}", error(&state));
}

#[test]
fn outcomes_are_records_of_their_own() {
    let mut play = Play::begun();
    play.absorb(calls(&["a"]));
    let record = serde_json::to_string(&started(&["a"])).unwrap();
    assert_eq!(record, r#"{"started":["a"]}"#);
    play.absorb(serde_json::from_str(&record).unwrap());
    play.absorb(
        serde_json::from_str(r#"{"tool": {"call": "a", "outcome": {"done": {"content": "ok"}}, "duration_us": 1}}"#)
            .unwrap(),
    );
    assert_eq!(play.step(), "call Reply");
    play.absorb(serde_json::from_str(r#"{"stop": {"kind": "cancelled", "message": "enough"}}"#).unwrap());
    assert_eq!(play.step(), "end stopped cancelled");
}

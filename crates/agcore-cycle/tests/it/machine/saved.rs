//! Saved states: those of older versions continue, and damaged ones are rejected.

use agcore_chat::{Answer, Message, QuestionKind};
use agcore_cycle::machine::{Machine, Outcome, Step};
use serde_json::{Value, json};

use super::support::{TestRun, answers, asks, call_reply, done, start_turn, started, text_reply};

const SUSPENDED: &str = include_str!("../../fixtures/states/v1_suspended.json");
const RUNNING: &str = include_str!("../../fixtures/states/v1_running.json");
const CHECKING: &str = include_str!("../../fixtures/states/v1_checking.json");

fn read(json: &str) -> Machine {
    serde_json::from_str(json).unwrap()
}

#[test]
fn reads_a_suspended_state_of_the_first_version() {
    let mut machine = read(SUSPENDED);
    assert_eq!(serde_json::to_value(&machine).unwrap()["version"], 2);
    let questions: Vec<_> = machine.questions().map(|question| question.id.clone()).collect();
    assert_eq!(
        questions,
        ["call_0_2?0".into(), "call_2?1".into()],
        "clients have these ids"
    );
    assert_eq!(
        machine.answer_of(&"call_2?0".into()),
        Some(&Answer::Value(json!("Rome")))
    );
    assert_eq!(machine.events_sent(), 17);
    for question in questions {
        machine.absorb(Outcome::Answer(question, Answer::approve())).unwrap();
    }
    let Step::Run(work) = machine.next() else {
        panic!("{:?}", machine.next())
    };
    let resumed: Vec<_> = work
        .iter()
        .map(|work| work.resumed.as_deref().unwrap().0.id.to_string())
        .collect();
    assert_eq!(resumed, ["call_0_2?0", "call_2?1"]);
    machine.absorb(started(&["call_0_2", "call_2"])).unwrap();
    machine.absorb(done("call_0_2", "ok")).unwrap();
    machine.absorb(asks("call_2", 1, QuestionKind::Approval)).unwrap();
    // A new question never has the id of an old one.
    assert_ne!(machine.questions().next().unwrap().id, "call_2?1".into());
}

#[test]
fn reads_other_open_states_of_the_first_version() {
    let machine = read(RUNNING);
    let uncertain: Vec<_> = machine.uncertain().map(|call| call.id.as_str()).collect();
    assert_eq!(uncertain, ["call_0_2"]);
    assert_eq!(machine.questions().count(), 1);
    let machine = read(CHECKING);
    assert!(matches!(machine.next(), Step::Check(_)));
}

/// Changes a saved state, and returns the error of reading it.
fn damage(json: &Value, change: impl FnOnce(&mut Value)) -> String {
    let mut state = json.clone();
    change(&mut state);
    assert_ne!(state, *json, "the change does something");
    serde_json::from_value::<Machine>(state).unwrap_err().to_string()
}

/// Returns a state with a call that continues after its question, and one that asks.
fn round() -> Value {
    let mut run = TestRun::started();
    run.absorb(call_reply(&["a"]));
    run.absorb(started(&["a"]));
    run.absorb(done("a", "ok"));
    run.absorb(call_reply(&["b", "c"]));
    run.absorb(started(&["b", "c"]));
    run.absorb(asks("b", 0, QuestionKind::Input));
    run.absorb(answers("b?0", Answer::Value(json!(1))));
    run.absorb(asks("c", 0, QuestionKind::Approval));
    serde_json::to_value(&run.machine).unwrap()
}

fn expect(error: String, what: &str) {
    assert!(error.contains(what), "{error}");
}

#[test]
fn reports_the_fault_with_a_damaged_round() {
    let state = round();
    let slots = |state: &mut Value| state["turn"]["phase"]["acting"]["slots"].take();

    expect(
        damage(&state, |s| drop(s["history"].as_array_mut().unwrap().remove(1))),
        "its history cannot be sent",
    );
    expect(
        damage(&state, |s| {
            let mut all = slots(s);
            all.as_array_mut().unwrap().pop();
            s["turn"]["phase"]["acting"]["slots"] = all;
        }),
        "its open calls are not those of the reply",
    );
    // The arguments of a call are those of the reply.
    expect(
        damage(&state, |s| {
            s["turn"]["phase"]["acting"]["slots"][0]["call"]["function"]["arguments"] = json!("{\"x\":1}");
        }),
        "its open calls are not those of the reply",
    );
}

#[test]
fn reports_the_fault_with_the_ids_and_counters_of_a_round() {
    let state = round();
    let rename = |s: &mut Value, id: &str| {
        let acting = &mut s["turn"]["phase"]["acting"];
        acting["slots"][0]["call"]["id"] = json!(id);
        acting["reply"]["tool_calls"][0]["id"] = json!(id);
        acting["slots"][0]["resumed"][0]["call_id"] = json!(id);
    };
    for id in ["", "a", "c"] {
        expect(damage(&state, |s| rename(s, id)), "does not name one call only");
    }
    let question = |s: &mut Value, field: &str, value: Value| {
        s["turn"]["phase"]["acting"]["slots"][1]["state"]["asking"][field] = value;
    };
    expect(
        damage(&state, |s| question(s, "call_id", json!("b"))),
        "belongs to another call",
    );
    let answered = state["turn"]["answered"][0][0].clone();
    expect(
        damage(&state, |s| question(s, "id", answered)),
        "does not name one question only",
    );
    expect(
        damage(&state, |s| s["asked"] = json!(0)),
        "it counts fewer questions than are open",
    );
    expect(
        damage(&state, |s| s["turns"] = json!(0)),
        "it has a turn, but counts none",
    );
    expect(
        damage(&state, |s| {
            for slot in s["turn"]["phase"]["acting"]["slots"].as_array_mut().unwrap() {
                slot["state"] = json!({"settled": {"content": "ok"}});
            }
        }),
        "no call of its round is open",
    );
    expect(
        damage(&state, |s| {
            s["turn"]["phase"]["acting"]["slots"][0]["state"] = json!({"checking": {"is_cut": false}});
        }),
        "it checks more answers than its turn asks for",
    );
}

#[test]
fn reports_the_fault_with_a_damaged_turn() {
    let mut run = TestRun::started();
    let calling = serde_json::to_value(&run.machine).unwrap();
    expect(damage(&calling, |s| s["turn"]["pending"] = json!([])), "cannot be sent");
    let user = serde_json::to_value(Message::user("again")).unwrap();
    expect(
        damage(&calling, |s| {
            s["turn"]["pending"].as_array_mut().unwrap().push(user.clone());
        }),
        "the messages of its turn cannot be sent",
    );
    expect(
        damage(&calling, |s| s["turn"]["phase"] = json!({"ended": "answered"})),
        "has ended, but still adds messages",
    );
    run.absorb(text_reply("Hi."));
    run.absorb(start_turn("On"));
    let second = serde_json::to_value(&run.machine).unwrap();
    expect(
        damage(&second, |s| s["turn"]["pending"] = json!([])),
        "nothing to answer",
    );
    let compaction = json!({"reason": "asked", "cut": 7, "tokens_before": 9, "tokens_pruned": 9});
    expect(
        damage(&second, |s| s["summing"] = compaction),
        "does not fit the conversation",
    );
    let checking: Value = serde_json::from_str(CHECKING).unwrap();
    expect(
        damage(&checking, |s| drop(s["turn"].as_object_mut().unwrap().remove("typed"))),
        "it checks an answer of a turn that is not typed",
    );
}

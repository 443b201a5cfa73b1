//! The state of planner loops.

use std::error::Error;

use agcore_chat::{SystemClock, Usage, UsageTracker};
use agcore_files::{FileMapping, OriginFile, StorageProvider};
use agcore_flow::{END, FlowBuilder, NodeContext, NodeError, Step};
use agcore_flow_files::{
    ActionContent, ActionContext, ActionRecord, ContextUsage, MemoryHit, OutputPart, Relevance, RuntimeState,
    RuntimeStateErrorKind, Todo, TodoList,
};
use serde_json::{Value, json};

fn used(input: u64, output: u64) -> UsageTracker {
    let mut tracker = UsageTracker::default();
    tracker.record(Some(&Usage::new(input, output)));
    tracker
}

#[test]
fn records_are_numbered_over_all_turns() {
    let mut state = RuntimeState::new();
    let error = state.record(ActionRecord::new("planner")).unwrap_err();
    assert_eq!(error.kind(), RuntimeStateErrorKind::NoTurn);

    assert_eq!(state.begin_turn("one"), 1);
    assert!(state.next().is_empty());
    let record = ActionRecord::new("planner")
        .with_next("a")
        .with_next("b")
        .with_usage(used(10, 1));
    assert_eq!(state.record(record).unwrap(), 1);
    assert_eq!(state.next(), ["a", "b"]);
    assert_eq!(state.record(ActionRecord::new("a").with_usage(used(5, 2))).unwrap(), 2);
    assert_eq!(state.usage().get(1).unwrap().usage.total(), Some(18));
    assert_eq!(state.usage().get(1).unwrap().calls, 2);

    assert_eq!(state.begin_turn("two"), 2);
    assert!(state.next().is_empty() && state.last_action().is_none());
    assert_eq!(state.record(ActionRecord::new("planner")).unwrap(), 3);
    let ids: Vec<(u32, Vec<u64>)> = state
        .action_history()
        .iter()
        .map(|(turn, records)| (turn, records.iter().map(|record| record.id).collect()))
        .collect();
    assert_eq!(ids, [(1, vec![1, 2]), (2, vec![3])]);
    assert_eq!(state.usage().get(2).unwrap().calls, 0);
}

fn full_state() -> RuntimeState {
    let mut state = RuntimeState::new();
    state.begin_turn("Plan the garden");
    state.user_context.insert("name".to_owned(), json!("Ada"));
    state.memory_hits.push(MemoryHit::new("m1", "likes beans", 0.5));
    state.output_style = Some("short".to_owned());
    state.output_structure.push(OutputPart::new("plan", "text", "the plan"));
    state.scenario = Some("garden".to_owned());
    state.task_goals.entry(1).push("a plan".to_owned());
    let mapping = FileMapping::new(StorageProvider::Aliyun, "u/7.csv").with_public(false);
    state
        .origin_files
        .push(OriginFile::new("beds.csv").with_mapping(mapping.clone()));
    state
        .todos
        .insert(1, TodoList::new(vec![Todo::new("dig", "Dig")]).unwrap());
    state.chat_history.push("msg-1".to_owned());
    let context = ActionContext::new(ActionContent::Data, json!({"beds": 2}), ContextUsage::Reference);
    let record = ActionRecord::new("count_beds")
        .with_preparation("{}")
        .with_summary("counted")
        .with_result(2)
        .with_context(context.with_important().with_mapping(mapping))
        .with_relevance(Relevance::new(0.75))
        .with_usage(used(3, 4))
        .with_next("reflection");
    state.record(record).unwrap();
    state
}

#[test]
fn the_form_is_fixed() {
    let json = serde_json::to_value(full_state()).unwrap();
    let members: Vec<&str> = json.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        members,
        [
            "version",
            "turn",
            "last_action",
            "prompts",
            "user_context",
            "memory_hits",
            "output_style",
            "output_structure",
            "scenario",
            "task_goals",
            "origin_files",
            "preprocessed_files",
            "todos",
            "chat_history",
            "action_history",
            "usage",
        ]
    );
    let mut action = json["action_history"]["1"][0].clone();
    assert!(action["usage"].take().is_object());
    let mapping = json!({"provider": "aliyun", "path": "u/7.csv", "public": false});
    assert_eq!(
        action,
        json!({
            "id": 1,
            "node": "count_beds",
            "preparation": "{}",
            "summary": "counted",
            "result": 2,
            "context": {
                "type": "data", "content": {"beds": 2}, "important": true, "usage_type": "reference", "mapping": mapping,
            },
            "relevance": 0.75,
            "usage": null,
            "next": ["reflection"],
        })
    );
    assert_eq!(json["todos"]["1"][0]["critical_path_length"], 1);
    assert_eq!(
        json["output_structure"],
        json!([{"id": "plan", "expected": "the plan", "content": "", "type": "text"}])
    );
}

#[test]
fn a_new_turn_inherits_files_memory_and_history() {
    let mut state = full_state();
    let before = state.clone();
    state.begin_turn("Now the flowers");
    assert_eq!(state.prompt(), Some("Now the flowers"));
    assert_eq!(state.origin_files, before.origin_files);
    assert_eq!(
        (&state.memory_hits, &state.chat_history),
        (&before.memory_hits, &before.chat_history)
    );
    assert_eq!(state.action_history().get(1), before.action_history().get(1));
    assert_eq!((state.todos.get(1), state.todos.get(2)), (before.todos.get(1), None));
    assert_eq!((&state.output_style, &state.scenario), (&None, &None));
    assert!(state.output_structure.is_empty());
}

#[test]
fn stored_states_are_checked() {
    let state = full_state();
    let json = serde_json::to_value(&state).unwrap();
    assert_eq!(RuntimeState::from_json(json.clone()).unwrap(), state);

    #[track_caller]
    fn check(mut json: Value, pointer: &str, value: Value, kind: RuntimeStateErrorKind, message: &str) {
        *json.pointer_mut(pointer).unwrap() = value;
        let error = RuntimeState::from_json(json).unwrap_err();
        assert_eq!(error.kind(), kind);
        let cause = error.source().map(ToString::to_string).unwrap_or_default();
        assert!(format!("{error}: {cause}").contains(message), "{error}: {cause}");
    }
    use RuntimeStateErrorKind::{Invalid, NewerVersion};
    check(
        json.clone(),
        "/version",
        json!(2),
        NewerVersion,
        "has version 2, and this program reads versions up to 1",
    );
    check(json.clone(), "/version", json!("1"), Invalid, "has no version");
    check(json.clone(), "/turn", json!("1"), Invalid, "invalid type");
    check(
        json.clone(),
        "/action_history/1/0/relevance",
        json!(1.5),
        Invalid,
        "a number from 0 to 1",
    );
    check(
        json.clone(),
        "/todos/1/0/dependencies",
        json!(["dig"]),
        Invalid,
        "in a cycle",
    );
    check(
        json,
        "/action_history/1/0/context/usage_type",
        json!("steal"),
        Invalid,
        "unknown variant",
    );
    assert!(RuntimeState::from_json(Value::Null).is_err());
}

#[test]
fn relevance_is_between_0_and_1() {
    for (value, expected) in [
        (0.5, 0.5),
        (-1.0, 0.0),
        (7.0, 1.0),
        (f64::NAN, 0.0),
        (f64::INFINITY, 1.0),
    ] {
        assert_eq!(Relevance::new(value).get(), expected);
    }
}

/// Writes a record, and continues where it leads.
fn act(mut state: RuntimeState, record: ActionRecord) -> Result<Step<RuntimeState>, NodeError> {
    state.record(record)?;
    let next = state.next().to_vec();
    let step = Step::new(state);
    Ok(match next.first() {
        Some(node) => step.to(node.clone()),
        None => step.end(),
    })
}

#[tokio::test]
async fn a_flow_is_routed_by_the_last_record() {
    let flow = FlowBuilder::new("planner", SystemClock::new())
        .with_node("planner", |state: RuntimeState, _: NodeContext| async move {
            let beds = state
                .action_history()
                .get(1)
                .map_or(0, |all| all.iter().filter(|one| one.node == "dig").count());
            let next = if beds < 2 { "dig" } else { "output" };
            act(state, ActionRecord::new("planner").with_next(next))
        })
        .with_node("dig", |state, _| async move {
            act(state, ActionRecord::new("dig").with_next("reflection"))
        })
        .with_node("reflection", |state, _| async move {
            act(state, ActionRecord::new("reflection").with_next("planner"))
        })
        .with_node(
            "output",
            |state, _| async move { act(state, ActionRecord::new("output")) },
        )
        .with_edge("planner", "dig")
        .with_edge("planner", "output")
        .with_edge("dig", "reflection")
        .with_edge("reflection", "planner")
        .with_edge("output", END)
        .with_limit("planner", 10)
        .build()
        .unwrap();
    let mut state = RuntimeState::new();
    state.begin_turn("Dig two beds");
    let state = flow.run(state).await.unwrap().into_state().unwrap();
    let nodes: Vec<&str> = state
        .action_history()
        .get(1)
        .unwrap()
        .iter()
        .map(|record| record.node.as_str())
        .collect();
    assert_eq!(
        nodes,
        [
            "planner",
            "dig",
            "reflection",
            "planner",
            "dig",
            "reflection",
            "planner",
            "output"
        ]
    );
}

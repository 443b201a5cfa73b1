//! Planner flows: the whole way of a turn, later turns, tools, todos, and models that misbehave.

use std::sync::atomic::Ordering;

use agcore_agent::AgentBuilder;
use agcore_chat::Actor;
use agcore_files::{FileMapping, FileStorage, LocalStorage, OriginFile, StorageProvider};
use agcore_flow::{Checkpoints, FlowErrorKind};
use agcore_flow_files::{FlowFile, OutputPart, PlannerFlow, TodoStatus};
use agcore_memory::MemoryStore;
use serde_json::json;

use crate::{
    planner_setup::{Catalog, FILE, PROFILE, Setup, decide, nodes, notes, reflect, scenario, state},
    support::{clock, store},
};

const USER_CONTEXT: &str = include_str!("../../../../fixtures/flow/user_context.txt");

#[tokio::test]
async fn the_whole_way_of_a_turn() {
    let mut first = decide("measure", &json!([{"bed": "north"}, {"bed": "south"}]));
    first["todo"] = json!("measure");
    first["new_todos"] = json!([{"id": "plant", "task": "Plan the plants", "dependencies": ["measure"]},
        {"id": "measure", "task": "Measure the beds"}]);
    let mut second = decide("catalog", &json!([]));
    second["todo"] = json!("plant");
    let setup = Setup::new([
        scenario(),
        first,
        reflect(Some(true), false),
        second,
        reflect(Some(true), true),
        json!("Plant beans in the north."),
        notes(),
    ]);
    let storage = LocalStorage::open(setup.folder.path()).unwrap();
    storage
        .put("plants.csv", b"name,size\nbean,1\npea,2\n".to_vec())
        .await
        .unwrap();
    let file = OriginFile::new("plants.csv").with_mapping(FileMapping::new(StorageProvider::Local, "plants.csv"));
    let checkpoints = Checkpoints::create(store(), &Actor::local(), "session", "run")
        .await
        .unwrap();
    let flow = setup.flow().build(clock()).unwrap();
    let run = flow
        .run(state("Plan my garden").with_file(file))
        .with_checkpoints(checkpoints.clone());
    let state = run.await.unwrap().into_state().unwrap();

    assert_eq!(state.answer().as_deref(), Some("Plant beans in the north."));
    let expected = [
        "initialise",
        "inherit",
        "user_context",
        "preprocess",
        "recall",
        "scenario",
        "planner",
        "measure",
        "reflection",
        "planner",
        "catalog",
        "reflection",
        "finish",
        "output",
        "archive",
    ];
    assert_eq!(nodes(&state), expected);
    // Every node writes exactly one record, and the path of the run is that of the records.
    let actions = state.runtime.action_history().get(1).unwrap();
    let ids: Vec<u64> = actions.iter().map(|action| action.id).collect();
    assert_eq!(ids, (1..=15).collect::<Vec<u64>>());
    let records = checkpoints.records().await.unwrap();
    assert_eq!(records.len(), actions.len());
    for (record, action) in records.iter().zip(actions) {
        assert_eq!((&record.node, &record.next), (&action.node, &action.next));
        // The state has the results, and records refer to them.
        let mut data = json!({"id": action.id, "summary": action.summary});
        if action.node == "output" {
            data["result"] = action.result.clone();
        }
        assert_eq!(record.data, Some(data));
    }
    // Two calls of one action, side by side.
    assert_eq!(actions[7].result, json!(["north has 4 m²", "south has 4 m²"]));
    assert_eq!(actions[10].result, json!("2 plants"));
    let todos = state.runtime.todos.get(1).unwrap().todos();
    assert!(todos.iter().all(|todo| todo.status == TodoStatus::Completed));
    assert_eq!(
        todos[1].completion_details.as_ref().unwrap().tool_used.as_deref(),
        Some("measure")
    );
    assert_eq!(state.runtime.usage().get(1).unwrap().calls, 7);

    let requests = setup.model.requests();
    insta::assert_snapshot!("garden.requests", serde_json::to_string_pretty(&requests).unwrap());
    for request in &requests {
        assert!(request.messages[0].text().starts_with(PROFILE));
    }
    let planner = requests[1].messages[1].text().into_owned();
    assert!(planner.contains(USER_CONTEXT.trim()), "{planner}");
    assert!(
        planner.contains("bean") && !planner.contains("About the user"),
        "{planner}"
    );
    let note = agcore_memory::id::join(["planner", "note", "fact", "has two beds."]);
    assert!(setup.memory.get("local", &note).await.unwrap().is_some());
}

#[tokio::test]
async fn later_turns_inherit_the_earlier_ones() {
    let turn = |answer: &str| {
        [
            scenario(),
            decide("measure", &json!([{"bed": "north"}])),
            reflect(None, true),
            json!(answer),
            notes(),
        ]
    };
    let setup = Setup::new(turn("First.").into_iter().chain(turn("Second.")));
    let first = setup.run(state("Plan the beans")).await;
    assert_eq!(first.runtime.memory_hits, []);
    let second = setup.run(state("Now the flowers")).await;
    assert_eq!(
        (second.runtime.turn(), second.answer().as_deref()),
        (2, Some("Second."))
    );
    assert_eq!(
        second.runtime.action_history().get(1),
        first.runtime.action_history().get(1)
    );
    let ids: Vec<u64> = second
        .runtime
        .action_history()
        .get(2)
        .unwrap()
        .iter()
        .map(|action| action.id)
        .collect();
    assert_eq!((ids[0], ids.len()), (13, 12));
    let recalled: Vec<&str> = second
        .runtime
        .memory_hits
        .iter()
        .map(|hit| hit.content.as_str())
        .collect();
    assert!(recalled.contains(&"Likes beans."), "{recalled:?}");
    let output = setup.model.requests()[8].messages[1].text().into_owned();
    assert!(
        output.contains("First.") && output.contains("Plan the beans"),
        "{output}"
    );
    // Another conversation inherits nothing.
    let other = Setup::new(turn("Third."));
    let mut apart = state("Hello");
    apart.conversation = Some("other".to_owned());
    assert_eq!(other.run(apart).await.runtime.turn(), 1);
}

#[tokio::test]
async fn what_cannot_be_done_is_sent_back() {
    let mut cycle = decide("measure", &json!([{"bed": "north"}]));
    cycle["new_todos"] =
        json!([{"id": "a", "task": "A", "dependencies": ["b"]}, {"id": "b", "task": "B", "dependencies": ["a"]}]);
    let setup = Setup::new([
        scenario(),
        decide("fly", &json!([])),
        decide("measure", &json!([{"bad": 1}])),
        decide("measure", &json!([{"bed": "north"}])),
        reflect(None, false),
        cycle,
        decide("finish", &json!([])),
        json!("Done."),
        notes(),
    ]);
    let state = setup.run(state("Plan")).await;
    assert_eq!(state.answer().as_deref(), Some("Done."));
    let requests = setup.model.requests();
    let correction = |number: usize| requests[number].messages.last().unwrap().text().into_owned();
    assert!(correction(2).contains("there is no tool `fly`; choose `finish` or one of `measure`, `catalog`"));
    assert!(correction(3).contains("$.calls[0]"), "{}", correction(3));
    assert!(correction(6).contains("in a cycle"), "{}", correction(6));
    assert_eq!(setup.calls.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_planner_that_never_ends_is_stopped() {
    let rounds = (0..12).flat_map(|_| [decide("measure", &json!([{"bed": "north"}])), reflect(None, false)]);
    let setup = Setup::new(
        [scenario()]
            .into_iter()
            .chain(rounds)
            .chain([json!("What I have."), notes()]),
    );
    let state = setup.run(state("Go on forever")).await;
    assert_eq!(state.answer().as_deref(), Some("What I have."));
    assert_eq!(setup.calls.load(Ordering::SeqCst), 12);
}

#[tokio::test]
async fn outputs_have_parts_and_tools() {
    let mut last = decide("finish", &json!([]));
    last["outputs"] = json!(["catalog", "output"]);
    let parts = json!({"intro": "Hello.", "plan": "Dig."});
    let setup = Setup::new([scenario(), last, parts, notes()]);
    let start = state("Plan")
        .with_output_part(OutputPart::new("intro", "text", "A greeting"))
        .with_output_part(OutputPart::new("plan", "text", "The plan"));
    let state = setup.run(start).await;
    assert_eq!(
        nodes(&state)[6..],
        ["planner", "finish", "catalog", "output", "archive"]
    );
    assert_eq!(state.answer().as_deref(), Some("0 plants\n\nHello.\n\nDig."));
    assert_eq!(state.runtime.output_structure[1].content, "Dig.");
}

#[tokio::test]
async fn failed_attempts_are_retried_until_the_todo_fails() {
    let mut first = decide("measure", &json!([{"bed": "north"}]));
    first["new_todos"] = json!([{"id": "a", "task": "A"}, {"id": "b", "task": "B", "dependencies": ["a"]}]);
    first["todo"] = json!("a");
    let mut again = decide("measure", &json!([{"bed": "north"}]));
    again["todo"] = json!("a");
    let rounds = (0..3).flat_map(|_| [again.clone(), reflect(Some(false), false)]);
    let setup = Setup::new(
        [scenario(), first, reflect(Some(false), false)]
            .into_iter()
            .chain(rounds)
            .chain([decide("finish", &json!([])), json!("Sorry."), notes()]),
    );
    let state = setup.run(state("Plan")).await;
    let todos = state.runtime.todos.get(1).unwrap().todos();
    assert_eq!((todos[0].status, todos[0].error_history.len()), (TodoStatus::Failed, 4));
    assert_eq!(todos[1].status, TodoStatus::Failed);
    assert!(todos[1].error_history[0].error.contains("\"a\", on which it depends"));
}

#[tokio::test]
async fn wrong_setups_are_errors() {
    let setup = Setup::new([]);
    let error = setup.flow().with_tool(Catalog).build(clock()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the tool `catalog` has the name of another tool or node; rename it"
    );
    let file = FlowFile::parse("garden.flow.yaml", FILE, |_| Err("none".to_owned())).unwrap();
    let bundle = AgentBuilder::new().with_provider(setup.model.clone()).build().unwrap();
    let error = PlannerFlow::new(file, bundle).build(clock()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the file names the tool `measure`, which does not exist; add it with `with_tool`"
    );
    let flow = setup.flow().build(clock()).unwrap();
    let error = flow.run(state("  ")).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.failed_node()),
        (FlowErrorKind::NodeFailed, Some("initialise"))
    );
}

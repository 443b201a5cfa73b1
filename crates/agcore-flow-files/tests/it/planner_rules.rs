//! The rules of planner flows: durations and waits of todos, calls side by side, messages, files and stored versions.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};
use std::time::Duration;

use agcore_agent::AgentBuilder;
use agcore_chat::{Actor, ToolAnnotations};
use agcore_files::{FileMapping, FileStorage, LocalStorage, OriginFile, StandardPreprocessor, StorageProvider};
use agcore_flow::{NodeContext, NodeError};
use agcore_flow_files::{
    ActionRecord, CallTool, FileFlow, FlowFile, FlowRequest, OutputPart, PlannerMemory, RuntimeState, StateTool,
    StoredMemory, TodoStatus,
};
use agcore_memory::{MemoryItem, MemoryStore};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use agcore_tools::{NoArguments, PermissionRules, Rule, RuleState, ToolPolicy, typed};
use async_trait::async_trait;
use serde_json::{Value, json};
use tokio::sync::Barrier;

use crate::{
    planner_setup::{Setup, decide, notes, reflect, scenario, state},
    support::{clock, jumping},
};

/// Takes two seconds.
struct Slow;

#[async_trait]
impl StateTool for Slow {
    fn name(&self) -> &str {
        "slow"
    }

    fn description(&self) -> &str {
        "Takes its time."
    }

    async fn run(&self, _: &mut RuntimeState, context: &NodeContext) -> Result<ActionRecord, NodeError> {
        context.clock().sleep(Duration::from_secs(2)).await;
        Ok(ActionRecord::new("slow"))
    }
}

#[tokio::test]
async fn attempts_have_durations_and_wait_for_each_other() {
    let mut first = decide("slow", &json!([]));
    first["new_todos"] = json!([{"id": "a", "task": "A", "max_retry": 1}]);
    first["todo"] = json!("a");
    let mut again = decide("slow", &json!([]));
    again["todo"] = json!("a");
    let mut failed = reflect(Some(false), false);
    failed["retry_after_seconds"] = json!(30);
    let setup = Setup::new([
        scenario(),
        first,
        failed,
        again,
        reflect(Some(true), true),
        json!("Done."),
        notes(),
    ]);
    let flow = setup.flow().with_tool(Slow).build(jumping()).unwrap();
    let ended = flow.run(state("Wait")).await.unwrap().into_state().unwrap();
    let todo = &ended.runtime.todos.get(1).unwrap().todos()[0];
    let (attempt, details) = (&todo.error_history[0], todo.completion_details.as_ref().unwrap());
    assert_eq!((todo.status, todo.max_retry), (TodoStatus::Completed, 1));
    assert_eq!(
        (attempt.execution_time, attempt.tool_used.as_deref()),
        (2000, Some("slow"))
    );
    assert_eq!(details.execution_time, 2000);
    // The second attempt began 30 seconds after the end of the first one.
    assert_eq!(details.completed_at.since(attempt.timestamp), Duration::from_secs(32));
}

#[tokio::test]
async fn an_action_has_a_limited_number_of_calls() {
    let many: Vec<Value> = (0..65).map(|_| json!({"bed": "north"})).collect();
    let setup = Setup::new([
        scenario(),
        decide("measure", &json!(many)),
        decide("measure", &json!(many[..64])),
        reflect(None, true),
        json!("Done."),
        notes(),
    ]);
    setup.run(state("Measure everything")).await;
    assert_eq!(setup.calls.load(Ordering::SeqCst), 64);
    let correction = setup.model.requests()[2].messages.last().unwrap().text().into_owned();
    assert!(correction.contains("an action has up to 64 calls"), "{correction}");
}

#[tokio::test]
async fn a_planner_can_have_ten_thousand_todos_and_no_more() {
    let plan = |count: usize| {
        let todos: Vec<Value> = (0..count)
            .map(|number| {
                let before: Vec<String> = (number > 0).then(|| format!("t{}", number - 1)).into_iter().collect();
                json!({"id": format!("t{number}"), "task": "T", "dependencies": before})
            })
            .collect();
        let mut decision = decide("measure", &json!([{"bed": "north"}]));
        decision["new_todos"] = Value::from(todos);
        decision["todo"] = json!("t0");
        decision
    };
    let setup = Setup::new([
        scenario(),
        plan(10_001),
        plan(10_000),
        reflect(Some(true), true),
        json!("Done."),
        notes(),
    ]);
    let ended = setup.run(state("Do everything")).await;
    let todos = ended.runtime.todos.get(1).unwrap();
    assert_eq!(todos.todos().len(), 10_000);
    assert_eq!(todos.todos()[0].critical_path_length, 10_000);
    assert_eq!(todos.ready(agcore_memory::Timestamp::from_millis(i64::MAX)).count(), 1);
    let correction = setup.model.requests()[2].messages.last().unwrap().text().into_owned();
    assert!(correction.contains("more than 10000 todos"), "{correction}");
}

fn allow_all() -> ToolPolicy {
    ToolPolicy::new(PermissionRules::default().with_rule(Rule::tool(RuleState::Allow, "*")))
}

/// Runs an action with two calls of a tool.
async fn two_calls(tool: CallTool) {
    let setup = Setup::new([
        scenario(),
        decide("work", &json!([{}, {}])),
        reflect(None, true),
        json!("Done."),
        notes(),
    ]);
    let flow = setup.flow().with_tool(tool.with_policy(allow_all()));
    flow.build(clock()).unwrap().run(state("Work")).await.unwrap();
}

#[tokio::test]
async fn calls_run_side_by_side_unless_they_are_destructive() {
    // Both calls meet, or the test never ends.
    let barrier = Arc::new(Barrier::new(2));
    let met = Arc::new(AtomicUsize::new(0));
    let (at, count) = (Arc::clone(&barrier), Arc::clone(&met));
    let together = typed("work", "Works.", move |_: NoArguments| {
        let (at, count) = (Arc::clone(&at), Arc::clone(&count));
        async move {
            at.wait().await;
            count.fetch_add(1, Ordering::SeqCst);
            Ok("done")
        }
    });
    two_calls(CallTool::new(together).unwrap()).await;
    assert_eq!(met.load(Ordering::SeqCst), 2);

    let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (own, top) = (Arc::clone(&running), Arc::clone(&most));
    let alone = typed("work", "Deletes.", move |_: NoArguments| {
        let (own, top) = (Arc::clone(&own), Arc::clone(&top));
        async move {
            top.fetch_max(own.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            // Another call that could run would run now.
            for _ in 0..20 {
                tokio::task::yield_now().await;
            }
            own.fetch_sub(1, Ordering::SeqCst);
            Ok("done")
        }
    });
    let alone = alone.with_annotations(ToolAnnotations::new().with_destructive(true));
    two_calls(CallTool::new(alone).unwrap()).await;
    assert_eq!(most.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn messages_of_the_conversation_are_known_once() {
    let turn = || [scenario(), decide("finish", &json!([])), json!("Done."), notes()];
    let setup = Setup::new(turn().into_iter().chain(turn()));
    let first = setup.run(state("Plan").with_message("m1")).await;
    assert_eq!(first.runtime.chat_history, ["m1"]);
    let later = state("And now?")
        .with_message("m1")
        .with_message("m2")
        .with_message("m3");
    assert_eq!(setup.run(later).await.runtime.chat_history, ["m1", "m2", "m3"]);
}

#[tokio::test]
async fn states_of_newer_versions_are_refused_where_they_are_read() {
    let mut stored = serde_json::to_value(RuntimeState::new()).unwrap();
    stored["version"] = json!(9);
    let error = serde_json::from_value::<RuntimeState>(stored.clone()).unwrap_err();
    assert_eq!(error.to_string(), "the state has version 9, and version 1 is expected");

    let setup = Setup::new([]);
    let memory = StoredMemory::new(setup.memory.clone(), Actor::local());
    memory.keep_conversation("talk", &RuntimeState::new()).await.unwrap();
    let id = agcore_memory::id::join(["planner", "conversation", "talk"]);
    let item = MemoryItem::new(id, stored.to_string()).with_owner(Actor::local());
    setup.memory.save(item).await.unwrap();
    let error = setup
        .flow()
        .build(clock())
        .unwrap()
        .run(state("Plan"))
        .await
        .unwrap_err();
    assert_eq!(error.failed_node(), Some("inherit"));
    assert!(format!("{error:?}").contains("version 9"), "{error:?}");
}

const FILE: &str = "
version: 1
kind: planner
agents:
  reader: {role: You read., goal: Read well., backstory: ''}
tasks:
  planner: {agent: reader, description: '{{tables}} {{files}} {{other_files}}', expected_output: An action.}
  reflection: {agent: reader, description: '{{actions}}', expected_output: A judgement.}
  output: {agent: reader, description: '{{output_style}} {{output_structure}}', expected_output: An answer.}
";

#[tokio::test]
async fn requests_to_files_of_any_kind_have_files_and_outputs() {
    let folder = tempfile::tempdir().unwrap();
    let storage = LocalStorage::open(folder.path()).unwrap();
    storage.put("beds.csv", b"bed,size\nnorth,4\n".to_vec()).await.unwrap();
    let model = ScriptedProvider::new([
        ScriptStep::text(decide("finish", &json!([])).to_string()),
        ScriptStep::text(json!({"intro": "One bed."}).to_string()),
    ]);
    let bundle = AgentBuilder::new().with_provider(model.clone()).build().unwrap();
    let file = FlowFile::parse("read.flow.yaml", FILE, |_| Err(String::new())).unwrap();
    let flow = FileFlow::builder(file, bundle)
        .with_files(StandardPreprocessor::new(Arc::new(clock())), storage)
        .build(clock())
        .unwrap();
    let placed = |name: &str| OriginFile::new(name).with_mapping(FileMapping::new(StorageProvider::Local, name));
    let request = FlowRequest::new("Read")
        .with_file(placed("beds.csv"))
        .with_file(placed("missing.pdf"))
        .with_message("m1")
        .with_output_style("short")
        .with_output_part(OutputPart::new("intro", "text", "The number of beds"));
    // A request is data, for queues.
    let request: FlowRequest = serde_json::from_value(serde_json::to_value(&request).unwrap()).unwrap();
    let result = flow.start(request).await.unwrap();
    assert_eq!(result.answer.as_deref(), Some("One bed."));
    assert_eq!(result.state["runtime"]["chat_history"], json!(["m1"]));
    let asked: Vec<String> = model
        .requests()
        .iter()
        .map(|request| request.messages[1].text().into_owned())
        .collect();
    assert!(asked[0].contains("| north | 4 |"), "{}", asked[0]);
    assert!(
        asked[0].contains("missing.pdf") && asked[0].contains("check the storage"),
        "{}",
        asked[0]
    );
    assert!(
        asked[1].starts_with("short ") && asked[1].contains("The number of beds"),
        "{}",
        asked[1]
    );
}

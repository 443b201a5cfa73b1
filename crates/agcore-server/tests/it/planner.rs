//! Planner flows: what their planner calls is reported like the calls of agents, also when a process dies.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use agcore_agent::AgentBuilder;
use agcore_chat::{AssistantMessage, ChatResponse, Choice, FinishReason, SystemClock, ToolAnnotations};
use agcore_flow_files::{FileFlow, FileFlowBuilder, FlowFile};
use agcore_session::InMemorySessionStore;
use agcore_testkit::{
    scripted::{ScriptStep, ScriptedProvider},
    stores::faulty::{FaultPlan, FaultyStore, StoreFault},
};
use agcore_tools::{NoArguments, PermissionRules, Rule, RuleState, SuspendingApprover, ToolOutput, typed};
use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    flows::builder,
    support::{FlowStore, Running, flow_store, input, text_of},
};

pub(crate) const PLANNER: &str = "
version: 1
kind: planner
agents:
  helper: {role: You help., goal: Help well., backstory: '', tools: [list, pay]}
tasks:
  planner: {agent: helper, description: 'Plan. {{request}} {{tools}} {{actions}}', expected_output: An action.}
  reflection: {agent: helper, description: 'Judge. {{actions}}', expected_output: A judgement.}
  output: {agent: helper, description: 'Write. {{request}} {{actions}}', expected_output: An answer.}
";

fn flow(provider: &ScriptedProvider) -> FileFlowBuilder {
    let file = FlowFile::parse(
        "plan.flow.yaml",
        PLANNER,
        |_| Err("there are no other files".to_owned()),
    )
    .unwrap();
    let list = |_: NoArguments| async {
        let mut output = ToolOutput::value(json!({"beds": [{"name": "roses"}]}));
        output.ui_hints = Some(Box::new(
            json!({"component": "list", "title": "Beds", "items": "/beds", "columns": {"Name": "/name"}}),
        ));
        Ok(output)
    };
    let shown = ToolAnnotations::new().with_stable_display(true);
    let bundle = AgentBuilder::new()
        .with_provider(provider.clone())
        .with_tool(typed("list", "Lists the beds.", list).with_annotations(shown))
        .with_tool(typed("pay", "Pays.", |_: NoArguments| async { Ok("paid") }))
        .with_permissions(PermissionRules::default().with_rule(Rule::tool(RuleState::Ask, "pay")))
        .with_approver(SuspendingApprover)
        .build()
        .unwrap();
    FileFlow::builder(file, bundle)
}

pub(crate) fn plan(tool: &str, calls: Value) -> String {
    json!({"summary": "That is needed.", "next": tool, "calls": calls}).to_string()
}

pub(crate) fn judgement() -> String {
    let judgement = json!({
        "summary": "That is it.", "relevance": 1, "is_todo_done": null, "todo_result": null, "is_finished": true,
    });
    judgement.to_string()
}

fn of_type<'a>(events: &'a [Value], kind: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["type"] == kind).collect()
}

#[tokio::test]
async fn calls_of_the_planner_are_reported_like_those_of_agents() {
    let provider = crate::support::texts([&*plan("list", json!([{}, {}])), &*judgement(), "There are roses."]);
    let store = flow_store();
    let server = Running::start(builder(flow(&provider), &store)).await;
    let events = server.run(&input("t", "r1", "Which beds are there?")).await;
    agcore_agui::check_order(events.iter().cloned()).unwrap();
    assert_eq!(text_of(&events), "There are roses.");
    let starts = of_type(&events, "TOOL_CALL_START");
    assert_eq!(starts.len(), 2);
    assert_ne!(starts[0]["toolCallId"], starts[1]["toolCallId"]);
    for (start, result) in starts.iter().zip(of_type(&events, "TOOL_CALL_RESULT")) {
        assert_eq!(start["toolCallName"], "list");
        assert_eq!(start["metadata"]["agcore"]["stage"], "list");
        assert_eq!(result["toolCallId"], start["toolCallId"]);
        let own = &result["metadata"]["agcore"];
        assert_eq!((&own["status"], &own["stage"]), (&json!("success"), &json!("list")));
        assert_eq!(
            (&own["tool_name"], &own["tool_call_args"]),
            (&json!("list"), &json!({}))
        );
        assert_eq!(
            (
                &own["ui_schema"]["component"],
                &own["ui_schema"]["items"][0][0]["value"]
            ),
            (&json!("list"), &json!("roses")),
            "{own}"
        );
    }
    let history = server.get("/api/v1/agent/history?threadId=t").await.json();
    let messages = history["messages"].as_array().unwrap();
    let kinds: Vec<&str> = messages
        .iter()
        .map(|message| message["metadata"]["type"].as_str().unwrap())
        .collect();
    let calls = ["tool_call", "tool_call", "tool_result", "tool_result"];
    assert_eq!(kinds[0], "user_input");
    let mut between = kinds[1..5].to_vec();
    between.sort_unstable();
    assert_eq!((between.as_slice(), kinds[5]), (&calls[..], "assistant_output"));
    provider.assert_done();
    server.stop().await;
}

#[tokio::test]
async fn a_call_that_waits_for_a_person_is_announced_once() {
    let provider = crate::support::texts([&*plan("pay", json!([{}])), &*judgement(), "It is paid."]);
    let store = flow_store();
    let server = Running::start(builder(flow(&provider), &store)).await;
    let events = server.run(&input("t", "r1", "Pay.")).await;
    let start = of_type(&events, "TOOL_CALL_START")[0].clone();
    assert_eq!(of_type(&events, "TOOL_CALL_RESULT"), Vec::<&Value>::new());
    let asked = &events.last().unwrap()["outcome"]["interrupts"][0];
    assert_eq!(asked["toolCallId"], start["toolCallId"]);

    let answer = json!({"runId": "r2", "answers": [
        {"interruptId": asked["id"], "status": "resolved", "payload": {"approved": true}},
    ]});
    let answered = server.post("/api/v1/agent/runs/t/r1/answers", &answer).await;
    assert_eq!(answered.status, StatusCode::ACCEPTED, "{}", answered.text);
    let followed = server.follow("t", "r2", None).await;
    let events: Vec<Value> = followed.into_iter().map(|event| event.data).collect();
    agcore_agui::check_order(events.iter().cloned()).unwrap();
    assert_eq!(of_type(&events, "TOOL_CALL_START"), Vec::<&Value>::new());
    let results = of_type(&events, "TOOL_CALL_RESULT");
    assert_eq!(results.len(), 1);
    assert_eq!(results[0]["toolCallId"], start["toolCallId"]);
    assert_eq!(text_of(&events), "It is paid.");
    server.stop().await;
}

/// A model that answers each request by what it contains, so that repeated requests get the same reply.
fn model() -> ScriptedProvider {
    let step = || {
        ScriptStep::from_fn(|request| {
            let contains = |text: &str| request.messages.iter().any(|message| message.text().contains(text));
            let text = match (contains("Plan."), contains("Judge.")) {
                (true, _) => plan("list", json!([{}, {}])),
                (_, true) => judgement(),
                _ => "There are roses.".to_owned(),
            };
            let choice = Choice {
                message: AssistantMessage::new(text),
                finish_reason: Some(FinishReason::Stop),
                ..Choice::default()
            };
            ChatResponse {
                choices: vec![choice],
                ..ChatResponse::default()
            }
        })
    };
    ScriptedProvider::new((0..40).map(|_| step()))
}

#[tokio::test]
async fn a_planner_that_is_killed_at_any_write_loses_and_repeats_no_call() {
    for kill in 1.. {
        let inner = Arc::new(InMemorySessionStore::new(Arc::new(SystemClock::new())));
        let writes = AtomicUsize::new(0);
        let faults = FaultPlan::from_fn(move |_, method| {
            let is_write = matches!(method, "commit" | "save_checkpoint" | "create" | "append");
            (is_write && writes.fetch_add(1, Ordering::SeqCst) == kill).then_some(StoreFault::Hold)
        });
        let faulty = Arc::new(FaultyStore::new(Arc::clone(&inner), faults));
        let store = FlowStore::of(Arc::clone(&faulty));
        let provider = model();
        let server = Running::start(builder(flow(&provider), &store)).await;
        let body = input("t", "r1", "Which beds are there?");
        let started = async {
            let started = server.post("/api/v1/agent/runs/t", &body).await;
            assert_eq!(started.status, StatusCode::ACCEPTED, "{}", started.text);
            server.follow("t", "r1", None).await
        };
        let is_over = tokio::select! {
            _ = started => true,
            () = faulty.wait_for_held(1) => false,
        };
        server.kill().await;
        faulty.drop_holds();
        if is_over {
            assert!(kill > 10, "only {kill} writes");
            return;
        }
        let store = FlowStore::of(inner);
        let server = Running::start(builder(flow(&provider), &store)).await;
        // The client starts the run again, in case that it was not stored.
        server.post("/api/v1/agent/runs/t", &body).await;
        let followed = server.follow("t", "r1", None).await;
        let events: Vec<Value> = followed.into_iter().map(|event| event.data).collect();
        let case = format!("killed at write {kill}: {events:#?}");
        agcore_agui::check_order(events.iter().cloned()).unwrap();
        for kind in ["TOOL_CALL_START", "TOOL_CALL_RESULT"] {
            assert_eq!(of_type(&events, kind).len(), 2, "{kind}, {case}");
        }
        assert_eq!(text_of(&events), "There are roses.", "{case}");
        let history = server.get("/api/v1/agent/history?threadId=t").await.json();
        assert_eq!(history["messages"].as_array().unwrap().len(), 6, "{case}: {history}");
        server.stop().await;
    }
}

//! Flows: how they are chosen, their steps, questions, cancellation and restarts, and their stored data.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use agcore_agent::{AgentBuilder, AgentSpec};
use agcore_flow_files::{FileFlow, FileFlowBuilder, FlowFile};
use agcore_llm::{LlmError, LlmErrorKind};
use agcore_server::{BusyPolicy, Server, ServerBuilder, ServerError};
use agcore_session::{MessageFilter, MessageMetadata, RunFilter, SessionFilter, SessionStatus, Visibility};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use agcore_tools::{NoArguments, PermissionRules, Rule, RuleState, SuspendingApprover, ToolError, typed};
use http::{Method, StatusCode};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::support::{FlowStore, InStore, Running, Store, agent, call, flow_store, input, text_of, types};

pub(crate) const ROUTER: &str = "
version: 1
kind: router
agents:
  router: {role: You assign work., goal: Assign it., backstory: '', context_messages: 20}
  worker: {role: You work., goal: Work well., backstory: '', tools: [say, pay, wait, fail]}
tasks:
  router: {agent: router, description: Decide., expected_output: A decision.}
  worker: {agent: worker, description: '{{router.execution_brief}}', expected_output: The result.}
";

pub(crate) const STAGED: &str = "
version: 1
kind: staged
agents:
  clerk: {role: You work at a help desk., goal: Help., backstory: ''}
tasks:
  intent_recognition: {agent: clerk, description: 'Classify: {{request}}', expected_output: An intent.}
  task_execution: {agent: clerk, description: '{{intent.execution_brief}}', expected_output: Facts.}
  result_reporting: {agent: clerk, description: '{{execution.report_brief}}', expected_output: An answer.}
";

const GRAPH: &str = "
version: 1
kind: graph
variables: [tone]
nodes:
  draft: {}
  publish: {question: 'Publish {{results.draft}}?'}
edges:
  - {from: draft, to: publish}
  - {from: publish, route: again, to: draft}
  - {from: publish, route: done, to: end}
limits: {visits: {draft: 3}}
agents:
  author: {role: You write., goal: Write well., backstory: ''}
tasks:
  draft: {agent: author, description: 'Write about {{request}}, {{tone}}.', expected_output: A text.}
";

/// The tools of the worker, and how often `say` ran.
#[derive(Clone, Default)]
pub(crate) struct Tools {
    pub(crate) say_calls: Arc<AtomicUsize>,
    waits: Arc<Notify>,
}

impl Tools {
    pub(crate) fn flow(&self, text: &str, provider: &ScriptedProvider) -> FileFlowBuilder {
        let file = FlowFile::parse("test.flow.yaml", text, |_| Err("there are no other files".to_owned())).unwrap();
        let (say_calls, waits) = (Arc::clone(&self.say_calls), Arc::clone(&self.waits));
        let say = move |_: NoArguments| {
            say_calls.fetch_add(1, Ordering::SeqCst);
            async { Ok("said") }
        };
        let wait = move |_: NoArguments| {
            waits.notify_one();
            std::future::pending::<Result<&str, ToolError>>()
        };
        let fail = |_: NoArguments| async { Err::<&str, _>(ToolError::failed("no luck")) };
        let bundle = AgentBuilder::new()
            .with_provider(provider.clone())
            .with_tool(typed("say", "Says it.", say))
            .with_tool(typed("pay", "Pays.", |_: NoArguments| async { Ok("paid") }))
            .with_tool(typed("wait", "Waits.", wait))
            .with_tool(typed("fail", "Fails.", fail))
            .with_permissions(PermissionRules::default().with_rule(Rule::tool(RuleState::Ask, "pay")))
            .with_approver(SuspendingApprover)
            .build()
            .unwrap();
        FileFlow::builder(file, bundle)
    }
}

pub(crate) fn builder(flow: FileFlowBuilder, store: &FlowStore) -> ServerBuilder {
    store.add_to(Server::builder().with_flow("desk", flow))
}

pub(crate) fn decision(brief: &str) -> Value {
    json!({
        "route": "NEEDS_EXECUTION", "intent_summary": "work", "assistant_text": null, "execution_brief": brief,
        "skills": [], "safety_flags": [],
    })
}

pub(crate) fn needs(brief: &str) -> ScriptStep {
    ScriptStep::text(decision(brief).to_string())
}

fn direct(text: &str) -> ScriptStep {
    let decision = json!({
        "route": "DIRECT_EXECUTION", "intent_summary": "talk", "assistant_text": text, "execution_brief": null,
        "skills": [], "safety_flags": [],
    });
    ScriptStep::text(decision.to_string())
}

fn steps(events: &[Value]) -> Vec<&str> {
    let started = events.iter().filter(|event| event["type"] == "STEP_STARTED");
    started.map(|event| event["stepName"].as_str().unwrap()).collect()
}

fn interrupts(events: &[Value]) -> Vec<Value> {
    let end = events.last().unwrap();
    assert_eq!(end["outcome"]["type"], "interrupt", "{end}");
    end["outcome"]["interrupts"].as_array().unwrap().clone()
}

/// Returns the ids of all sessions in a store.
async fn sessions(store: &Store) -> Vec<String> {
    let all = store.sessions(&SessionFilter::new("local")).await.unwrap();
    all.into_iter().map(|session| session.id).collect()
}

#[tokio::test]
async fn flows_are_chosen_like_agents_and_listed() {
    let provider = ScriptedProvider::new([direct("Hello."), ScriptStep::text("I am Ada."), direct("Hello again.")]);
    let store = flow_store();
    let builder = Server::builder()
        .with_agent(
            "ada",
            agent(&provider).build().unwrap(),
            AgentSpec::new("ada", "Be Ada."),
        )
        .with_flow("desk", Tools::default().flow(ROUTER, &provider))
        .in_store(&store.sessions)
        .with_checkpoints(Arc::clone(&store.checkpoints));
    let server = Running::start(builder).await;
    let path = "/api/v1/agent/agents/desk/run";
    let events = server
        .stream(Method::POST, path, &[], Some(&input("t", "r1", "Hi")))
        .await
        .rest()
        .await;
    let events: Vec<Value> = events.into_iter().map(|event| event.data).collect();
    assert_eq!(
        (text_of(&events), steps(&events)),
        ("Hello.".to_owned(), vec!["router"])
    );
    // The default is the first agent; the thread remembers which agent has started it.
    let events = server.run(&input("u", "r1", "Hi")).await;
    assert_eq!((text_of(&events), steps(&events)), ("I am Ada.".to_owned(), Vec::new()));
    let events = server.run(&input("t", "r2", "Hi again")).await;
    assert_eq!(text_of(&events), "Hello again.");
    let agents = server.get("/api/v1/agent/agents").await.json();
    assert_eq!(
        agents["agents"]
            .as_array()
            .unwrap()
            .iter()
            .map(|agent| &agent["kind"])
            .collect::<Vec<_>>(),
        ["agent", "flow"]
    );
    let models = server.get("/api/v1/agent/models").await.json();
    assert_eq!(models["models"][0]["agents"], json!(["ada", "desk"]));

    let mut other = input("t", "r3", "Hi");
    other["forwardedProps"] = json!({"agent": "ada"});
    server
        .post("/api/v1/agent/run", &other)
        .await
        .assert_problem(409, "agent_mismatch");
    let mut other = input("u", "r2", "Hi");
    other["forwardedProps"] = json!({"agent": "desk"});
    server
        .post("/api/v1/agent/run", &other)
        .await
        .assert_problem(409, "agent_mismatch");
    provider.assert_done();
    server.stop().await;
}

#[tokio::test]
async fn a_staged_flow_reports_its_stages_by_their_names() {
    let execution = json!({
        "status": "PARTIAL", "execution_summary": "done in part", "execution_data": {"sent": 1},
        "report_brief": "Report it.", "error_message": "one is missing",
    });
    let report = json!({
        "assistant_text": "One was sent, one is missing.",
        "response_metadata": {"suggested_actions": ["Try again"]},
    });
    let provider = ScriptedProvider::new([
        needs("Send both."),
        ScriptStep::text(execution.to_string()),
        ScriptStep::text(report.to_string()),
    ]);
    let store = flow_store();
    let server = Running::start(builder(Tools::default().flow(STAGED, &provider), &store)).await;
    let events = server.run(&input("t", "r1", "Send them.")).await;
    assert_eq!(steps(&events), ["intent", "execution", "organization"]);
    let end = events.iter().find(|event| event["type"] == "TEXT_MESSAGE_END").unwrap();
    let own = &end["metadata"]["agcore"];
    assert_eq!(
        (&own["answer"], &own["status"], &own["stage"], &own["suggested_actions"]),
        (
            &json!("One was sent, one is missing."),
            &json!("partial_success"),
            &json!("organization"),
            &json!(["Try again"])
        )
    );
    assert_eq!(
        own["error"],
        json!({"code": "execution_failed", "message": "one is missing"})
    );
    // The results of the stages are audit messages, and no text of theirs was sent.
    assert_eq!(text_of(&events), "One was sent, one is missing.");
    let audit = store
        .sessions
        .messages("local", "t", &MessageFilter::audit())
        .await
        .unwrap();
    let stages: Vec<&str> = audit
        .iter()
        .map(|message| message.id.rsplit(':').next().unwrap())
        .collect();
    assert_eq!(stages, ["intent_recognition", "task_execution", "result_reporting"]);
    assert!(audit.iter().all(|message| message.visibility == Visibility::NOWHERE));
    let history = server.get("/api/v1/agent/history?threadId=t").await.json();
    assert_eq!(history["messages"].as_array().unwrap().len(), 2);
    server.stop().await;
}

#[tokio::test]
async fn a_question_of_an_agent_suspends_the_flow_and_an_answer_continues_it() {
    let provider = ScriptedProvider::new([
        needs("Pay."),
        ScriptStep::calls([call("c1", "say"), call("c2", "pay")]),
        ScriptStep::text("It is paid."),
    ]);
    let (store, tools) = (flow_store(), Tools::default());
    let server = Running::start(builder(tools.flow(ROUTER, &provider), &store)).await;
    let events = server.run(&input("t", "r1", "Pay it.")).await;
    let asked = interrupts(&events);
    assert_eq!(
        (asked.len(), &asked[0]["reason"], &asked[0]["toolCallId"]),
        (1, &json!("approval"), &json!("c2"))
    );
    let session = server.get("/api/v1/agent/sessions/t").await.json();
    assert_eq!(
        (&session["status"], &session["pendingToolCallId"]),
        (&json!("pending"), &json!("c2"))
    );
    assert_eq!(session["questions"].as_array().unwrap().len(), 1);

    let answer = json!({"runId": "r2", "answers": [
        {"interruptId": asked[0]["id"], "status": "resolved", "payload": {"approved": true}},
    ]});
    let path = "/api/v1/agent/runs/t/r1/answers";
    let accepted = server.post(path, &answer).await;
    assert_eq!(accepted.status, StatusCode::ACCEPTED, "{}", accepted.text);
    let events: Vec<Value> = server
        .follow("t", "r2", None)
        .await
        .into_iter()
        .map(|event| event.data)
        .collect();
    assert_eq!(
        (text_of(&events), steps(&events)),
        ("It is paid.".to_owned(), vec!["worker"])
    );
    let results = events.iter().filter(|event| event["type"] == "TOOL_CALL_RESULT");
    assert_eq!(results.map(|event| &event["toolCallId"]).collect::<Vec<_>>(), ["c2"]);
    agcore_agui::check_order(events.iter().cloned()).unwrap();
    // The same answers are the same run, others come too late.
    let mut again = answer.clone();
    again["runId"] = json!("r3");
    assert_eq!(server.post(path, &again).await.json()["runId"], "r2");
    again["answers"][0]["payload"] = json!({"approved": false});
    server.post(path, &again).await.assert_problem(409, "already_answered");
    assert_eq!(tools.say_calls.load(Ordering::SeqCst), 1);
    let history = server.get("/api/v1/agent/history?threadId=t").await.json();
    let kinds: Vec<&str> = history["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["metadata"]["type"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        [
            "user_input",
            "tool_call",
            "tool_call",
            "tool_result",
            "tool_result",
            "assistant_output"
        ]
    );
    let session = server.get("/api/v1/agent/sessions/t").await.json();
    assert_eq!(
        (&session["status"], &session["questions"]),
        (&json!("completed"), &json!([]))
    );
    provider.assert_done();
    server.stop().await;
}

#[tokio::test]
async fn a_question_of_a_node_takes_the_payload_and_a_node_may_be_entered_again() {
    let provider = ScriptedProvider::new([ScriptStep::text("Tea."), ScriptStep::text("Better tea.")]);
    let store = flow_store();
    let server = Running::start(builder(Tools::default().flow(GRAPH, &provider), &store)).await;
    let missing = input("t", "r0", "tea");
    server
        .post("/api/v1/agent/run", &missing)
        .await
        .assert_problem(400, "invalid_request");
    let mut body = input("t", "r1", "tea");
    body["forwardedProps"] = json!({"variables": {"tone": "calm"}});
    let events = server.run(&body).await;
    let asked = interrupts(&events);
    assert_eq!(
        (&asked[0]["reason"], &asked[0]["message"]),
        (&json!("input"), &json!("Publish Tea.?"))
    );
    assert_eq!(asked[0].get("toolCallId"), None);
    assert_eq!(text_of(&events), "", "the draft is not the answer");

    let resume = |run: &str, id: &Value, payload: Value| {
        json!({"threadId": "t", "runId": run, "messages": [], "tools": [], "context": [], "state": {}, "forwardedProps": {},
               "protocolVersion": "1.0",
               "resume": [{"interruptId": id, "status": "resolved", "payload": payload}]})
    };
    let events = server.run(&resume("r2", &asked[0]["id"], json!("again"))).await;
    assert_eq!(steps(&events), ["publish", "draft", "publish_2"]);
    let asked_again = interrupts(&events);
    assert_ne!(asked[0]["id"], asked_again[0]["id"]);
    server
        .post("/api/v1/agent/run", &resume("r3", &json!("r1:nothing"), json!("done")))
        .await
        .assert_problem(404, "not_found");
    // Under the id of the first run, which it continues.
    let events = server.run(&resume("r1", &asked_again[0]["id"], json!("done"))).await;
    assert_eq!(
        (&events[0]["runId"], &events.last().unwrap()["type"]),
        (&json!("r1.2"), &json!("RUN_FINISHED"))
    );
    assert_eq!(text_of(&events), "done");
    provider.assert_done();
    server.stop().await;
}

#[tokio::test]
async fn a_flow_that_was_killed_continues_and_repeats_no_call() {
    let store = flow_store();
    let tools = Tools::default();
    let first = ScriptedProvider::new([
        needs("Say it."),
        ScriptStep::calls([call("c1", "say")]),
        ScriptStep::text("Half of").then_hang(),
    ]);
    let server = Running::start(builder(tools.flow(ROUTER, &first), &store)).await;
    let body = input("t", "r1", "Say it.");
    let mut events = server.stream(Method::POST, "/api/v1/agent/run", &[], Some(&body)).await;
    events.until("TEXT_MESSAGE_CONTENT").await;
    let mut follower = server.follow_open("t", "r1", None).await;
    let seen = follower.until("TEXT_MESSAGE_CONTENT").await;
    server.kill().await;

    let second = ScriptedProvider::new([ScriptStep::text("The whole answer.")]);
    let server = Running::start(builder(tools.flow(ROUTER, &second), &store)).await;
    let rest = server.follow("t", "r1", seen.last().unwrap().id).await;
    let all = server.follow("t", "r1", None).await;
    assert_eq!([seen, rest].concat(), all);
    let data: Vec<Value> = all.into_iter().map(|event| event.data).collect();
    agcore_agui::check_order(data.iter().cloned()).unwrap();
    assert_eq!(types(&data).last(), Some(&"RUN_FINISHED"));
    assert_eq!(text_of(&data), "Half ofThe whole answer.");
    assert_eq!(steps(&data), ["router", "worker", "worker_2"]);
    assert_eq!(
        data.iter().filter(|event| event["type"] == "TOOL_CALL_RESULT").count(),
        1
    );
    assert_eq!(tools.say_calls.load(Ordering::SeqCst), 1);
    let history = server.get("/api/v1/agent/history?threadId=t").await.json();
    assert_eq!(history["messages"].as_array().unwrap().len(), 4, "{history}");
    second.assert_done();
    server.stop().await;
}

#[tokio::test]
async fn a_cancelled_flow_closes_its_calls() {
    let provider = ScriptedProvider::new([needs("Wait."), ScriptStep::calls([call("c1", "wait")])]);
    let (store, tools) = (flow_store(), Tools::default());
    let server = Running::start(builder(tools.flow(ROUTER, &provider), &store)).await;
    let body = input("t", "r1", "Wait.");
    let events = server.stream(Method::POST, "/api/v1/agent/run", &[], Some(&body)).await;
    tools.waits.notified().await;
    let cancelled = server.post("/api/v1/agent/runs/t/r1/cancel", &json!({})).await;
    assert_eq!(cancelled.status, StatusCode::OK);
    let data: Vec<Value> = events.rest().await.into_iter().map(|event| event.data).collect();
    agcore_agui::check_order(data.iter().cloned()).unwrap();
    assert_eq!(data.last().unwrap()["outcome"]["type"], "cancelled");
    assert!(types(&data).contains(&"TOOL_CALL_RESULT"));
    let rows = store
        .sessions
        .messages("local", "t", &MessageFilter::new())
        .await
        .unwrap();
    let last = rows.last().unwrap();
    assert!(
        matches!(&last.metadata, Some(MessageMetadata::ToolResult { call_id, is_error: true, .. }) if call_id == "c1"),
        "{rows:#?}"
    );
    let session = server.get("/api/v1/agent/sessions/t").await.json();
    assert_eq!(
        (&session["status"], &session["errorId"]),
        (&json!("failed"), &json!("RUN_CANCELED"))
    );
    check_settled(&store.sessions).await;
    // Clients of 0.x and of the superset see an error.
    let path = "/api/v1/agent/runs/t/events?runId=r1&dialect=superset";
    let superset = server.stream(Method::GET, path, &[], None).await.rest().await;
    let end = &superset.last().unwrap().data;
    assert_eq!(
        (&end["type"], &end["code"]),
        (&json!("RUN_ERROR"), &json!("RUN_CANCELED"))
    );
    server.stop().await;
}

#[tokio::test]
async fn a_cancellation_that_was_stored_is_carried_out_by_the_next_process() {
    let provider = ScriptedProvider::new([needs("Wait."), ScriptStep::calls([call("c1", "wait")])]);
    let (store, tools) = (flow_store(), Tools::default());
    let server = Running::start(builder(tools.flow(ROUTER, &provider), &store)).await;
    server.post("/api/v1/agent/runs/t", &input("t", "r1", "Wait.")).await;
    tools.waits.notified().await;
    // Of this server, no write may take place after the next one has read the log.
    server.follow_open("t", "r1", None).await.until("TOOL_CALL_END").await;
    server.kill().await;
    // The process ended after the wish was stored, before it was carried out.
    store.sessions.request_cancel("local", "t", "r1").await.unwrap();

    let server = Running::start(builder(tools.flow(ROUTER, &provider), &store)).await;
    let followed = server.follow("t", "r1", None).await;
    let data: Vec<Value> = followed.into_iter().map(|event| event.data).collect();
    agcore_agui::check_order(data.iter().cloned()).unwrap();
    assert_eq!(data.last().unwrap()["outcome"]["type"], "cancelled", "{data:#?}");
    let result = data.iter().find(|event| event["type"] == "TOOL_CALL_RESULT").unwrap();
    assert_eq!(result["metadata"]["agcore"]["error"]["code"], "RUN_CANCELED");
    check_settled(&store.sessions).await;
    provider.assert_done();
    server.stop().await;
}

/// Checks that no session runs or waits, and no run of any is open.
async fn check_settled(store: &Store) {
    let all = store.sessions(&SessionFilter::new("local")).await.unwrap();
    assert!(all.len() > 1, "{all:?}");
    for session in all {
        let open = RunFilter::new().open();
        let runs = store.runs("local", &session.id, &open).await.unwrap();
        assert_eq!(runs, [], "{}", session.id);
        assert_ne!(session.status, SessionStatus::Running, "{}", session.id);
        assert_eq!(session.pending_tool_call_id, None, "{}", session.id);
    }
}

#[tokio::test]
async fn a_flow_that_waits_can_be_cancelled_or_replaced() {
    let asks = || [needs("Pay."), ScriptStep::calls([call("c1", "pay")])];
    let provider = ScriptedProvider::new(asks().into_iter().chain(asks()).chain([direct("Never mind.")]));
    let (store, tools) = (flow_store(), Tools::default());
    let builder = builder(tools.flow(ROUTER, &provider), &store).with_busy(BusyPolicy::Interrupt);
    let server = Running::start(builder).await;
    let first = interrupts(&server.run(&input("t", "r1", "Pay.")).await);
    server.post("/api/v1/agent/runs/t/r1/cancel", &json!({})).await;
    let session = server.get("/api/v1/agent/sessions/t").await.json();
    assert_eq!(
        (&session["runs"][0]["status"], &session["questions"]),
        (&json!("cancelled"), &json!([]))
    );
    assert_eq!(
        (&session["status"], &session["errorId"]),
        (&json!("failed"), &json!("RUN_CANCELED"))
    );
    check_settled(&store.sessions).await;
    let second = interrupts(&server.run(&input("t", "r2", "Pay.")).await);
    assert_ne!(first[0]["id"], second[0]["id"]);
    // Another message replaces the question.
    let events = server.run(&input("t", "r3", "Forget it.")).await;
    assert_eq!(text_of(&events), "Never mind.");
    let answer = json!({"answers": [{"interruptId": second[0]["id"], "status": "resolved", "payload": true}]});
    let late = server.post("/api/v1/agent/runs/t/r2/answers", &answer).await;
    late.assert_problem(409, "already_answered");
    let session = server.get("/api/v1/agent/sessions/t").await.json();
    assert_eq!(session["questions"], json!([]));
    provider.assert_done();
    server.stop().await;
}

#[tokio::test]
async fn a_node_that_fails_ends_the_run_with_its_error() {
    let refused = LlmError::new(LlmErrorKind::Authentication, "the key is not valid");
    let provider = ScriptedProvider::new([
        needs("Fail."),
        ScriptStep::calls([call("c1", "fail")]),
        ScriptStep::error(refused),
        direct("Better."),
    ]);
    let (store, tools) = (flow_store(), Tools::default());
    let server = Running::start(builder(tools.flow(ROUTER, &provider), &store)).await;
    let events = server.run(&input("t", "r1", "Fail.")).await;
    agcore_agui::check_order(events.iter().cloned()).unwrap();
    let end = events.last().unwrap();
    assert_eq!(
        (&end["type"], &end["code"]),
        (&json!("RUN_ERROR"), &json!("auth")),
        "{end}"
    );
    let result = events.iter().find(|event| event["type"] == "TOOL_CALL_RESULT").unwrap();
    assert_eq!(result["metadata"]["agcore"]["status"], "failure");
    let session = server.get("/api/v1/agent/sessions/t").await.json();
    assert_eq!(
        (&session["status"], &session["errorId"]),
        (&json!("failed"), &json!("auth"))
    );
    // The thread can be used again.
    assert_eq!(text_of(&server.run(&input("t", "r2", "Again.")).await), "Better.");
    server.stop().await;
}

#[tokio::test]
async fn usage_counts_every_call_once_and_sessions_of_stages_are_hidden() {
    let provider = ScriptedProvider::new([
        needs("Say it."),
        ScriptStep::calls([call("c1", "say")]),
        ScriptStep::text("Said."),
    ]);
    let (store, tools) = (flow_store(), Tools::default());
    let server = Running::start(builder(tools.flow(ROUTER, &provider), &store)).await;
    server.run(&input("t", "r1", "Say it.")).await;
    let all = sessions(&store.sessions).await;
    assert_eq!(all.len(), 3, "{all:?}");
    let listed = server.get("/api/v1/agent/sessions").await.json();
    assert_eq!(listed["sessions"].as_array().unwrap().len(), 1);
    let stage = all.iter().find(|id| *id != "t").unwrap().replace('/', "%2F");
    server
        .get(&format!("/api/v1/agent/sessions/{stage}"))
        .await
        .assert_problem(404, "not_found");
    let report = server.get("/api/v1/agent/usage?threadId=t").await.json();
    assert_eq!(report["total"]["modelCalls"], 3, "{report}");
    assert_eq!(report["total"], server.get("/api/v1/agent/usage").await.json()["total"]);

    let deleted = server.with(Method::DELETE, "/api/v1/agent/sessions/t", &[], None).await;
    assert_eq!(deleted.status, StatusCode::NO_CONTENT);
    assert_eq!(sessions(&store.sessions).await, Vec::<String>::new());
    server.stop().await;
}

#[test]
fn a_server_with_flows_needs_checkpoints_and_tools() {
    let provider = ScriptedProvider::new([]);
    let FlowStore {
        sessions: store,
        checkpoints,
    } = flow_store();
    let flow = || Tools::default().flow(ROUTER, &provider);
    let error = Server::builder()
        .with_flow("desk", flow())
        .in_store(&store)
        .build()
        .unwrap_err();
    assert!(matches!(error, ServerError::NoCheckpoints), "{error}");
    let other = FileFlow::builder(flow().file().clone(), agent(&provider).build().unwrap());
    let server = Server::builder()
        .with_flow("desk", other)
        .in_store(&store)
        .with_checkpoints(checkpoints);
    let error = server.build().unwrap_err();
    assert!(
        matches!(&error, ServerError::Flow(name, _) if name == "desk"),
        "{error}"
    );
}

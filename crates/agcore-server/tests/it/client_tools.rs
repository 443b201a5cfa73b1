//! Tools that clients offer and run.

use agcore_agent::AgentSpec;
use agcore_chat::{Actor, Message};
use agcore_server::{BusyPolicy, Role, Server, Sharing};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use agcore_tools::{PermissionRules, Rule, RuleState};
use http::Method;
use serde_json::{Value, json};

use crate::{
    flows::{ROUTER, Tools},
    support::{InStore, Running, agent, builder, call, flow_store, input, store, text_of, texts, types},
    tenants::{bearer, tokens},
};

/// Returns the input of a run whose client offers a tool that shows a map, and one that asks for a date.
fn offering(run: &str, text: &str) -> Value {
    let mut input = input("t", run, text);
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    input["tools"] = json!([
        {"name": "show_map", "description": "Shows a map.", "parameters": schema},
        {"name": "pick_date", "description": "Lets the user pick a date.", "parameters": {}},
    ]);
    input
}

/// Returns the input of a run that continues with results of calls.
fn results<const N: usize>(run: &str, results: [(&str, &str); N]) -> Value {
    let mut input = offering(run, "Where?");
    let calls =
        results.map(|(id, _)| json!({"id": id, "type": "function", "function": {"name": "x", "arguments": "{}"}}));
    let mut messages = vec![
        json!({"id": "m1", "role": "user", "content": "Where?"}),
        json!({"id": "m2", "role": "assistant", "toolCalls": calls.to_vec()}),
    ];
    messages.extend(
        results.map(|(id, text)| json!({"id": format!("{id}-r"), "role": "tool", "toolCallId": id, "content": text})),
    );
    input["messages"] = Value::from(messages);
    input
}

fn map_call(id: &str) -> agcore_chat::ToolCall {
    agcore_chat::ToolCall::function(id, "show_map", r#"{"city": "Rome"}"#)
}

fn mapping() -> ScriptedProvider {
    ScriptedProvider::new([ScriptStep::calls([map_call("c1")]), ScriptStep::text("There.")])
}

fn end(events: &[Value]) -> &Value {
    agcore_agui::check_order(events.iter().cloned()).unwrap();
    events.last().unwrap()
}

/// Checks that a run has ended because calls wait for the client.
#[track_caller]
fn assert_pending(events: &[Value], calls: &[&str]) {
    let end = end(events);
    assert_eq!(end["type"], "RUN_FINISHED", "{events:#?}");
    assert_eq!(
        end["outcome"],
        json!({"type": "success", "pendingToolCallIds": calls}),
        "{events:#?}"
    );
}

/// Returns the texts of the results that the model has got with its last request.
fn seen_results(provider: &ScriptedProvider) -> Vec<String> {
    let requests = provider.requests();
    let messages = requests.last().unwrap().messages.iter();
    let results = messages.filter(|message| matches!(***message, Message::Tool(_)));
    results.map(|message| message.text().into_owned()).collect()
}

#[tokio::test]
async fn the_client_runs_its_tools_and_sends_the_results_with_the_next_run() {
    let provider = mapping();
    let server = Running::start(builder(&provider, &store())).await;
    let events = server.run(&offering("r1", "Where is Rome?")).await;
    assert_pending(&events, &["c1"]);
    let call: Vec<&Value> = events.iter().filter(|event| event["toolCallId"] == "c1").collect();
    let args: String = call.iter().filter_map(|event| event["delta"].as_str()).collect();
    assert_eq!(serde_json::from_str::<Value>(&args).unwrap(), json!({"city": "Rome"}));
    assert_eq!(call[0]["toolCallName"], "show_map");
    let session = server.get("/api/v1/agent/sessions/t").await.json();
    assert_eq!(session["runs"][0]["status"], "interrupted");
    assert_eq!(session["questions"][0]["question"]["kind"], "client");

    let events = server.run(&results("r2", [("c1", "shown")])).await;
    assert_eq!(
        (&end(&events)["type"], text_of(&events).as_str()),
        (&json!("RUN_FINISHED"), "There.")
    );
    // The client has the result.
    assert!(!types(&events).contains(&"TOOL_CALL_RESULT"), "{events:#?}");
    assert_eq!(seen_results(&provider), ["shown"]);
    let session = server.get("/api/v1/agent/sessions/t").await.json();
    assert_eq!(
        (&session["status"], &session["questions"]),
        (&json!("completed"), &json!([]))
    );
    let requests = provider.requests();
    let request = serde_json::to_value(&*requests[0]).unwrap();
    let names: Vec<_> = request["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| &tool["function"]["name"])
        .collect();
    assert_eq!(names, ["pay", "pick_date", "say", "show_map"]);
    server.stop().await;
}

#[tokio::test]
async fn a_call_waits_for_its_client_while_the_server_is_replaced() {
    let (provider, store) = (mapping(), store());
    let server = Running::start(builder(&provider, &store)).await;
    assert_pending(&server.run(&offering("r1", "Where is Rome?")).await, &["c1"]);
    server.kill().await;

    let server = Running::start(builder(&provider, &store)).await;
    // A client that offers its tools only once.
    let mut answer = results("r2", [("c1", "shown")]);
    answer["tools"] = json!([]);
    assert_eq!(text_of(&server.run(&answer).await), "There.");
    // The same results are the same run, also with another id; others are too late.
    answer["runId"] = json!("r3");
    assert_eq!(text_of(&server.run(&answer).await), "There.");
    let other = server
        .post("/api/v1/agent/run", &results("r4", [("c1", "other")]))
        .await;
    other.assert_problem(409, "already_answered");
    assert_eq!(seen_results(&provider), ["shown"]);
    provider.assert_done();
    server.stop().await;
}

#[tokio::test]
async fn results_of_several_calls_may_come_one_after_the_other() {
    let calls = [map_call("c1"), call("c2", "say"), call("c3", "pick_date")];
    let provider = ScriptedProvider::new([ScriptStep::calls(calls), ScriptStep::text("Done.")]);
    let server = Running::start(builder(&provider, &store())).await;
    let events = server.run(&offering("r1", "Go.")).await;
    assert_pending(&events, &["c1", "c3"]);
    let own: Vec<&Value> = events
        .iter()
        .filter(|event| event["type"] == "TOOL_CALL_RESULT")
        .collect();
    assert_eq!((own.len(), &own[0]["toolCallId"]), (1, &json!("c2")));
    assert_pending(&server.run(&results("r2", [("c3", "May 1")])).await, &["c1"]);
    // Clients send all results of a reply, also those that they have sent before, and those of the server.
    let all = results("r3", [("c1", "shown"), ("c2", "said"), ("c3", "May 1")]);
    assert_eq!(text_of(&server.run(&all).await), "Done.");
    assert_eq!(seen_results(&provider), ["shown", "said", "May 1"]);
    // The same results again are the same run; a result that differs is too late.
    let mut again = all.clone();
    again["runId"] = json!("r4");
    assert_eq!(text_of(&server.run(&again).await), "Done.");
    let other = results("r5", [("c1", "shown"), ("c2", "said"), ("c3", "May 2")]);
    let late = server.post("/api/v1/agent/run", &other).await;
    late.assert_problem(409, "already_answered");
    provider.assert_done();
    server.stop().await;
}

#[tokio::test]
async fn a_tool_whose_call_waits_stays_when_the_client_offers_others() {
    let provider = mapping();
    let server = Running::start(builder(&provider, &store()).with_busy(BusyPolicy::Queue)).await;
    server.run(&offering("r1", "Where is Rome?")).await;
    // A message that waits offers no tools, and is not continued by the result.
    server.post("/api/v1/agent/runs/t", &input("t", "r2", "Thanks.")).await;
    let mut answer = results("r3", [("c1", "shown")]);
    answer["tools"] = json!([{"name": "print", "description": "Prints.", "parameters": {}}]);
    provider.push(ScriptStep::text("Welcome."));
    assert_eq!(text_of(&server.run(&answer).await), "There.");
    server.follow("t", "r2", None).await;
    let requests = provider.requests();
    let request = &requests[1];
    let result = request.messages.last().unwrap();
    assert_eq!(result.text(), "shown");
    let names = serde_json::to_string(&request.tools).unwrap();
    assert!(names.contains("\"print\"") && names.contains("\"show_map\""), "{names}");
    assert!(!names.contains("pick_date"), "{names}");
    server.stop().await;
}

#[tokio::test]
async fn results_may_arrive_while_an_earlier_one_is_processed() {
    for policy in [BusyPolicy::Queue, BusyPolicy::Interrupt] {
        let calls = [map_call("c1"), call("c2", "pick_date")];
        let (provider, store) = (
            ScriptedProvider::new([ScriptStep::calls(calls), ScriptStep::text("Done.")]),
            store(),
        );
        let start = || builder(&provider, &store).with_busy(policy);
        let server = Running::start(start()).await;
        assert_pending(&server.run(&offering("r1", "Go.")).await, &["c1", "c2"]);
        server.stop().await;
        // Both results are accepted before one of them is processed.
        let api = Sharing::new("api").with_role(Role::Api);
        let server = Running::start(start().with_sharing(api)).await;
        for (run, result) in [("r2", ("c1", "shown")), ("r3", ("c2", "May 1"))] {
            let accepted = server.post("/api/v1/agent/runs/t", &results(run, [result])).await;
            assert_eq!(accepted.status.as_u16(), 202, "{}", accepted.text);
        }
        server.stop().await;
        let server = Running::start(start()).await;
        for run in ["r2", "r3"] {
            server.follow("t", run, None).await;
        }
        assert_eq!(seen_results(&provider), ["shown", "May 1"]);
        let session = server.get("/api/v1/agent/sessions/t").await.json();
        let runs = session["runs"].as_array().unwrap();
        assert!(
            runs.iter().all(|run| run["status"] == "completed"),
            "{policy:?}: {runs:#?}"
        );
        // Nothing waits any more.
        provider.push(ScriptStep::text("Fine."));
        assert_eq!(text_of(&server.run(&input("t", "r4", "And now?")).await), "Fine.");
        server.stop().await;
    }
}

#[tokio::test]
async fn an_error_of_the_client_reaches_the_model() {
    let provider = mapping();
    let server = Running::start(builder(&provider, &store())).await;
    server.run(&offering("r1", "Where is Rome?")).await;
    let mut answer = results("r2", [("c1", "")]);
    answer["messages"][2]["error"] = json!("the map service is down");
    assert_eq!(text_of(&server.run(&answer).await), "There.");
    assert!(seen_results(&provider)[0].contains("the map service is down"));
    server.stop().await;
}

#[tokio::test]
async fn approvals_and_tools_of_the_client_wait_together() {
    let calls = [call("c1", "pay"), map_call("c2")];
    let provider = ScriptedProvider::new([ScriptStep::calls(calls), ScriptStep::text("Done.")]);
    let server = Running::start(builder(&provider, &store())).await;
    let events = server.run(&offering("r1", "Pay, and show it.")).await;
    let interrupts = end(&events)["outcome"]["interrupts"].as_array().unwrap();
    assert_eq!((interrupts.len(), &interrupts[0]["reason"]), (1, &json!("approval")));
    let mut answer = results("r2", [("c2", "shown")]);
    answer["resume"] = json!([{"interruptId": interrupts[0]["id"], "status": "resolved", "payload": true}]);
    let events = server.run(&answer).await;
    assert_eq!(text_of(&events), "Done.");
    // The client has only the result of its own call.
    let sent: Vec<&Value> = events
        .iter()
        .filter(|event| event["type"] == "TOOL_CALL_RESULT")
        .collect();
    assert_eq!((sent.len(), &sent[0]["toolCallId"]), (1, &json!("c1")));
    assert_eq!(seen_results(&provider), ["paid", "shown"]);
    server.stop().await;
}

#[tokio::test]
async fn the_inbox_answers_for_a_client() {
    let provider = mapping();
    let server = Running::start(builder(&provider, &store())).await;
    server.run(&offering("r1", "Where is Rome?")).await;
    let session = server.get("/api/v1/agent/sessions/t").await.json();
    let id = &session["questions"][0]["interruptId"];
    let answer = json!({"answers": [{"interruptId": id, "status": "resolved", "payload": {"zoom": 3}}]});
    let started = server.post("/api/v1/agent/runs/t/r1/answers", &answer).await.json();
    let events = server.follow("t", started["runId"].as_str().unwrap(), None).await;
    let events: Vec<Value> = events.into_iter().map(|event| event.data).collect();
    assert_eq!(text_of(&events), "There.");
    let result = events.iter().find(|event| event["type"] == "TOOL_CALL_RESULT").unwrap();
    assert_eq!(result["content"], r#"{"zoom":3}"#);
    server.stop().await;
}

#[tokio::test]
async fn a_client_replaces_no_tool_of_the_server() {
    let provider = texts(["Fine."]);
    let server = Running::start(builder(&provider, &store())).await;
    let schema = json!({"type": "object", "properties": {}});
    let tool = |name: &str, schema: &Value| json!({"name": name, "description": "", "parameters": schema});
    let deep = json!({"type": "object", "description": "x".repeat(1 << 20)});
    for (tools, status, code, words) in [
        (
            vec![tool("pay", &schema)],
            400,
            "invalid_request",
            "\"pay\" is already registered",
        ),
        (
            vec![tool("a", &schema), tool("a", &schema)],
            400,
            "invalid_request",
            "already registered",
        ),
        (
            vec![tool("f.x", &schema), tool("f_x", &schema)],
            400,
            "invalid_request",
            "f_x",
        ),
        (
            vec![tool("a", &json!({"type": "array"}))],
            400,
            "invalid_request",
            "object",
        ),
        (vec![tool("a", &json!({"type": 7}))], 400, "invalid_request", "schema"),
        (vec![tool("a b", &schema)], 400, "invalid_request", "tools[0].name"),
        (vec![tool("a", &deep)], 413, "body_too_large", "tools[0]"),
        (vec![tool("a", &schema); 129], 413, "body_too_large", "tools"),
    ] {
        let mut input = input("t", "r1", "Hello");
        input["tools"] = Value::from(tools);
        let refused = server.post("/api/v1/agent/run", &input).await;
        refused.assert_problem(status, code);
        assert!(refused.text.contains(&words.replace('"', "\\\"")), "{}", refused.text);
    }
    // Nothing was stored.
    server
        .get("/api/v1/agent/sessions/t")
        .await
        .assert_problem(404, "not_found");
    server.stop().await;
}

#[tokio::test]
async fn flows_refuse_tools_of_clients() {
    let flow = Tools::default().flow(ROUTER, &texts([]));
    let server = Running::start(flow_store().add_to(Server::builder().with_flow("desk", flow))).await;
    let refused = server.post("/api/v1/agent/run", &offering("r1", "Hello")).await;
    refused.assert_problem(400, "invalid_request");
    assert!(refused.text.contains("agents only"), "{}", refused.text);
    server.stop().await;
}

#[tokio::test]
async fn results_of_unknown_calls_are_refused() {
    let provider = mapping();
    let store = store();
    let tokens = tokens(&store);
    let ann = bearer(&tokens, 1, Actor::new("acme", "ann")).await;
    let bob = bearer(&tokens, 2, Actor::new("acme", "bob")).await;
    let server = Running::start(builder(&provider, &store).with_authenticator(tokens)).await;
    let post = async |user: &str, body: &Value| {
        let headers = [("authorization", user)];
        server
            .with(Method::POST, "/api/v1/agent/run", &headers, Some(body))
            .await
    };
    post(&ann, &results("r0", [("c1", "shown")]))
        .await
        .assert_problem(404, "not_found");
    post(&ann, &offering("r1", "Where is Rome?")).await;
    post(&ann, &results("r2", [("c9", "shown")]))
        .await
        .assert_problem(404, "not_found");
    post(&bob, &results("r2", [("c1", "shown")]))
        .await
        .assert_problem(404, "not_found");
    let private = json!([{"type": "image", "source": {"type": "url", "value": "http://169.254.169.254/x.png"}}]);
    let mut hostile = results("r2", [("c1", "")]);
    hostile["messages"][2]["content"] = private;
    post(&ann, &hostile).await.assert_problem(400, "invalid_request");
    let hostile = json!({"done": [{"type": "image_url", "image_url": {"url": "http://169.254.169.254/x.png"}}]});
    let headers = [("authorization", &*ann)];
    let session = server
        .with(Method::GET, "/api/v1/agent/sessions/t", &headers, None)
        .await;
    let id = &session.json()["questions"][0]["interruptId"];
    let hostile = json!({"answers": [{"interruptId": id, "status": "resolved", "payload": hostile}]});
    let path = "/api/v1/agent/runs/t/r1/answers";
    let refused = server.with(Method::POST, path, &headers, Some(&hostile)).await;
    refused.assert_problem(400, "invalid_request");
    let events = post(&ann, &results("r3", [("c1", "shown")])).await;
    assert!(events.text.contains("There."), "{}", events.text);
    server.stop().await;
}

#[tokio::test]
async fn rules_and_schemas_hold_for_tools_of_clients() {
    let provider = ScriptedProvider::new([
        ScriptStep::calls([map_call("c1"), call("c2", "pick_date")]),
        ScriptStep::calls([call("c3", "show_map")]),
        ScriptStep::text("Well."),
    ]);
    let rules = PermissionRules::default().with_rule(Rule::tool(RuleState::Deny, "pick_date"));
    let bundle = agent(&provider).with_permissions(rules).build().unwrap();
    // The agent lists its tools: those of the client are offered as well.
    let spec = AgentSpec::new("ada", "Be Ada.").with_tools(["say"]);
    let server = Server::builder().with_agent("ada", bundle, spec).in_store(&store());
    let server = Running::start(server).await;
    assert_pending(&server.run(&offering("r1", "Go.")).await, &["c1"]);
    // The next call has no city.
    let events = server.run(&results("r2", [("c1", "shown")])).await;
    assert_eq!(text_of(&events), "Well.");
    let seen = seen_results(&provider);
    assert!(seen[1].contains("pick_date") && seen[2].contains("city"), "{seen:?}");
    server.stop().await;
}

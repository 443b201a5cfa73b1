//! The state that threads share with their clients.

use std::sync::Arc;

use agcore_agent::AgentSpec;
use agcore_chat::{
    Actor, SystemClock, ToolCall,
    redact::{Redacted, redactor_fn},
};
use agcore_server::Server;
use agcore_session::InMemorySessionStore;
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use agcore_tools::{NoArguments, typed};
use http::Method;
use serde_json::{Value, json};

use crate::{
    flows::{ROUTER, Tools},
    support::{InStore, Running, Store, agent, builder, call, flow_store, input, store, text_of, texts, types},
    tenants::{bearer, tokens},
};

const STATE: &str = "/api/v1/agent/sessions/t/state";

fn with_state(run: &str, state: &Value) -> Value {
    let mut input = input("t", run, "Add a step.");
    input["state"] = state.clone();
    input
}

/// Returns a call that changes the state.
fn update(id: &str, version: u64, patch: &Value) -> ToolCall {
    let arguments = json!({"version": version, "patch": patch});
    ToolCall::function(id, "update_state", arguments.to_string())
}

fn add_step(step: &str) -> Value {
    json!([{"op": "add", "path": "/steps/-", "value": step}])
}

/// Returns the state events of a run, without what else they have.
fn states(events: &[Value]) -> Vec<Value> {
    agcore_agui::check_order(events.iter().cloned()).unwrap();
    let state = |event: &Value| match event["type"].as_str() {
        Some("STATE_SNAPSHOT") => Some(json!([event["metadata"]["agcore"]["version"], event["snapshot"]])),
        Some("STATE_DELTA") => Some(json!([event["metadata"]["agcore"]["version"], event["delta"]])),
        _ => None,
    };
    events.iter().filter_map(state).collect()
}

/// Returns the state that each request has shown to the model, and checks that none has more than one.
fn shown(provider: &ScriptedProvider) -> Vec<Value> {
    let requests = provider.requests();
    let state = |text: &str| {
        assert_eq!(text.matches("<shared-state").count(), 1, "{text}");
        let line = text.lines().nth(2).unwrap();
        serde_json::from_str::<Value>(line).unwrap()
    };
    let states = requests.iter().map(|request| {
        let texts: Vec<_> = request
            .messages
            .iter()
            .map(|message| message.text().into_owned())
            .collect();
        let with: Vec<&String> = texts.iter().filter(|text| text.contains("<shared-state")).collect();
        match with[..] {
            [] => Value::Null,
            [text] => state(text),
            _ => panic!("two messages show a state"),
        }
    });
    states.collect()
}

fn recipe() -> Value {
    // Long enough for a change to be shorter than the whole.
    json!({"title": "Tea for two, with lemon", "steps": ["Boil 300 ml of water"], "servings": 2})
}

#[tokio::test]
async fn an_agent_changes_the_state_of_its_client() {
    let provider = ScriptedProvider::new([
        ScriptStep::calls([update("c1", 1, &add_step("Wait")), update("c2", 2, &add_step("Pour"))]),
        ScriptStep::text("Added."),
        ScriptStep::text("Bye."),
    ]);
    let server = Running::start(builder(&provider, &store())).await;
    let events = server.run(&with_state("r1", &recipe())).await;
    assert_eq!(text_of(&events), "Added.");
    assert_eq!(types(&events)[..2], ["RUN_STARTED", "STATE_SNAPSHOT"]);
    let add = |place: u32, step: &str| json!([{"op": "add", "path": format!("/steps/{place}"), "value": step}]);
    assert_eq!(
        states(&events),
        [
            json!([1, recipe()]),
            json!([2, add(1, "Wait")]),
            json!([3, add(2, "Pour")])
        ]
    );
    let mut changed = recipe();
    changed["steps"] = json!(["Boil 300 ml of water", "Wait", "Pour"]);
    assert_eq!(server.get(STATE).await.json(), json!({"version": 3, "state": changed}));
    // The model sees its changes, and no older version.
    assert_eq!(shown(&provider), [recipe(), changed.clone()]);
    let history = server.get("/api/v1/agent/history?threadId=t").await;
    assert!(!history.text.contains("shared-state"), "{}", history.text);

    // A client that sends what it has changes nothing; neither does one that has nothing.
    let events = server.run(&with_state("r2", &changed)).await;
    assert_eq!(states(&events), [json!([3, changed])]);
    assert_eq!(shown(&provider)[2], changed);
    provider.assert_done();
    // The same input again is the same run.
    assert_eq!(server.run(&with_state("r2", &changed)).await, events);
    server.stop().await;
}

#[tokio::test]
async fn the_model_does_not_see_what_the_redactor_removes() {
    let redactor = redactor_fn(|text| text.replace("sk-123", "[redacted]").into());
    let inner = InMemorySessionStore::new(Arc::new(SystemClock::new()));
    let store: Store = Arc::new(Redacted::new(inner, redactor));
    let provider = ScriptedProvider::new([
        ScriptStep::calls([update(
            "c1",
            1,
            &json!([{"op": "add", "path": "/other", "value": "sk-123-b"}]),
        )]),
        ScriptStep::text("Added."),
    ]);
    let server = Running::start(builder(&provider, &store)).await;
    let events = server.run(&with_state("r1", &json!({"key": "sk-123"}))).await;
    assert_eq!(text_of(&events), "Added.", "{events:?}");
    assert_eq!(
        shown(&provider),
        [
            json!({"key": "[redacted]"}),
            json!({"key": "[redacted]", "other": "[redacted]-b"})
        ]
    );
    server.stop().await;
}

#[tokio::test]
async fn without_a_state_nothing_is_offered() {
    let provider = texts(["Hello."]);
    let server = Running::start(builder(&provider, &store())).await;
    let events = server.run(&with_state("r1", &json!({}))).await;
    assert!(states(&events).is_empty());
    let request = serde_json::to_value(&*provider.requests()[0]).unwrap();
    assert!(!request.to_string().contains("update_state"), "{request}");
    assert_eq!(server.get(STATE).await.json(), json!({"version": 0, "state": null}));
    server.stop().await;
}

#[tokio::test]
async fn old_versions_are_refused() {
    let server = Running::start(builder(&texts(["One.", "Two.", "Three."]), &store())).await;
    server.run(&with_state("r1", &recipe())).await;
    let patch = |version: u64, change: Value| {
        let mut body = json!({"version": version});
        body.as_object_mut()
            .unwrap()
            .extend(change.as_object().unwrap().clone());
        body
    };
    let send = async |body: Value| server.with(Method::PATCH, STATE, &[], Some(&body)).await;
    let changed = send(patch(
        1,
        json!({"patch": [{"op": "replace", "path": "/servings", "value": 3}]}),
    ))
    .await;
    let mut expected = recipe();
    expected["servings"] = json!(3);
    assert_eq!(changed.json(), json!({"version": 2, "state": expected}));

    send(patch(1, json!({"patch": add_step("late")})))
        .await
        .assert_problem(409, "state_changed");
    send(patch(3, json!({"state": 1})))
        .await
        .assert_problem(409, "state_changed");
    for wrong in [
        json!({}),
        json!({"state": 1, "patch": []}),
        json!({"patch": {"op": "add"}}),
        json!({"patch": [{"op": "add", "path": "/missing/place", "value": 1}]}),
    ] {
        send(patch(2, wrong)).await.assert_problem(400, "invalid_request");
    }
    send(json!({"state": 1})).await.assert_problem(400, "invalid_body");
    send(patch(2, json!({"state": "x".repeat(70_000)})))
        .await
        .assert_problem(413, "body_too_large");

    // A run of a client that has not seen the change.
    let mut late = with_state("r2", &json!({"title": "mine"}));
    late["forwardedProps"] = json!({"stateVersion": 1});
    server
        .post("/api/v1/agent/run", &late)
        .await
        .assert_problem(409, "state_changed");
    late["forwardedProps"] = json!({"stateVersion": "2"});
    server
        .post("/api/v1/agent/run", &late)
        .await
        .assert_problem(400, "invalid_request");
    late["forwardedProps"] = json!({"stateVersion": 2});
    assert_eq!(states(&server.run(&late).await), [json!([3, {"title": "mine"}])]);
    // The user has cleared the page.
    let mut cleared = with_state("r3", &json!({}));
    cleared["forwardedProps"] = json!({"stateVersion": 2});
    server
        .post("/api/v1/agent/run", &cleared)
        .await
        .assert_problem(409, "state_changed");
    cleared["forwardedProps"] = json!({"stateVersion": 3});
    assert_eq!(states(&server.run(&cleared).await), [json!([4, {}])]);
    // What changes nothing makes no version.
    assert_eq!(
        send(patch(4, json!({"patch": []}))).await.json(),
        json!({"version": 4, "state": {}})
    );
    let deep = (0..70).fold(json!(1), |value, _| json!([value]));
    send(patch(4, json!({"state": deep})))
        .await
        .assert_problem(400, "invalid_request");
    // `null` is a state as well.
    let null = send(patch(4, json!({"state": null}))).await;
    assert_eq!(null.json(), json!({"version": 5, "state": null}));

    let large = with_state("r4", &json!("x".repeat(70_000)));
    server
        .post("/api/v1/agent/run", &large)
        .await
        .assert_problem(413, "body_too_large");
    server.stop().await;
}

#[tokio::test]
async fn a_state_survives_the_server() {
    let (store, pay) = (store(), call("c1", "pay"));
    let provider = ScriptedProvider::new([
        ScriptStep::calls([pay]),
        ScriptStep::calls([update("c2", 1, &add_step("Pay"))]),
        ScriptStep::text("Paid."),
    ]);
    let server = Running::start(builder(&provider, &store)).await;
    let events = server.run(&with_state("r1", &recipe())).await;
    assert_eq!(events.last().unwrap()["outcome"]["type"], "interrupt");
    server.kill().await;

    let server = Running::start(builder(&provider, &store)).await;
    let interrupt = events.last().unwrap()["outcome"]["interrupts"][0]["id"].clone();
    let mut answer = with_state("r2", &json!({}));
    answer["messages"] = json!([]);
    answer["resume"] = json!([{"interruptId": interrupt, "status": "resolved", "payload": {"approved": true}}]);
    let events = server.run(&answer).await;
    assert_eq!(text_of(&events), "Paid.");
    let states = states(&events);
    assert_eq!((&states[0], &states[1][0]), (&json!([1, recipe()]), &json!(2)));
    provider.assert_done();
    server.stop().await;
}

#[tokio::test]
async fn names_of_tools_do_not_clash() {
    let provider = texts(["One.", "Two."]);
    let own = agent(&provider).with_tool(typed("update_state", "Own.", |_: NoArguments| async { Ok("own") }));
    let own = own.build().unwrap();
    let server = Server::builder()
        .with_agent("own", own, AgentSpec::new("own", "Be own."))
        .in_store(&store());
    let server = Running::start(server).await;
    // An agent with a tool of that name keeps it, and does not see the state.
    let events = server.run(&with_state("r1", &recipe())).await;
    assert_eq!(states(&events), [json!([1, recipe()])]);
    assert_eq!(shown(&provider), [Value::Null]);
    server.stop().await;

    let provider = ScriptedProvider::new([
        ScriptStep::calls([call("c1", "update_state")]),
        ScriptStep::text("Two."),
    ]);
    let server = Running::start(builder(&provider, &store())).await;
    let mut offering = with_state("r1", &recipe());
    offering["tools"] = json!([{"name": "update_state", "description": "", "parameters": {}}]);
    let events = server.run(&offering).await;
    assert_eq!(events.last().unwrap()["outcome"]["pendingToolCallIds"], json!(["c1"]));
    assert_eq!(shown(&provider), [Value::Null]);
    server.stop().await;
}

#[tokio::test]
async fn others_neither_see_nor_change_a_state() {
    let store = store();
    let tokens = tokens(&store);
    let (ann, bob) = (Actor::new("acme", "ann"), Actor::new("acme", "bob"));
    let (ann, bob) = (bearer(&tokens, 1, ann).await, bearer(&tokens, 2, bob).await);
    let server = Running::start(builder(&texts(["One."]), &store).with_authenticator(tokens)).await;
    let started = server
        .with(
            Method::POST,
            "/api/v1/agent/runs/t",
            &[("authorization", &ann)],
            Some(&with_state("r1", &recipe())),
        )
        .await;
    assert_eq!(started.status, 202);
    let body = json!({"version": 1, "state": {}});
    for (method, body) in [(Method::GET, None), (Method::PATCH, Some(&body))] {
        let refused = server.with(method, STATE, &[("authorization", &bob)], body).await;
        refused.assert_problem(404, "not_found");
    }
    let own = server
        .with(Method::GET, STATE, &[("authorization", &ann)], None)
        .await
        .json();
    assert_eq!(own["version"], 1);
    server.stop().await;
}

#[tokio::test]
async fn clients_of_flows_get_the_state_back() {
    let provider = texts([r#"{"route": "DIRECT_EXECUTION", "assistant_text": "Hello."}"#]);
    let flow = Tools::default().flow(ROUTER, &provider);
    let server = Running::start(flow_store().add_to(Server::builder().with_flow("desk", flow))).await;
    let events = server.run(&with_state("r1", &recipe())).await;
    assert_eq!(states(&events), [json!([1, recipe()])]);
    server.stop().await;
}

//! Budgets of runs that continue in another process, or with answers.

use agcore_agent::{AgentBuilder, AgentSpec, SubAgent};
use agcore_chat::ToolCall;
use agcore_server::{Server, ServerBuilder};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use agcore_tools::{NoArguments, typed};
use http::Method;
use serde_json::{Value, json};

use super::{limit, with_budget};
use crate::{
    flows::{self, ROUTER, Tools, needs},
    support::{InStore, Running, Store, builder, call, flow_store, store, text_of},
};

fn say(id: &str) -> ScriptStep {
    ScriptStep::calls([call(id, "say")])
}

/// Starts a run on the thread `t`, waits until its model has written a part of a text, and kills the server.
async fn kill_while_it_writes(server: Running, budget: &Value) {
    let body = with_budget("t", "r1", "Say it.", budget);
    let mut events = server.stream(Method::POST, "/api/v1/agent/run", &[], Some(&body)).await;
    events.until("TEXT_MESSAGE_CONTENT").await;
    server.kill().await;
}

async fn events(server: &Running, run: &str) -> Vec<Value> {
    let events = server.follow("t", run, None).await;
    events.into_iter().map(|event| event.data).collect()
}

/// Answers the question of a run on the thread `t`. Returns the id of the run that continues it.
async fn answer(server: &Running, run: &str) -> String {
    let asked = events(server, run).await;
    let question = asked.last().unwrap()["outcome"]["interrupts"][0]["id"].clone();
    let answer = json!({"answers": [{"interruptId": question, "status": "resolved", "payload": true}]});
    let started = server
        .post(&format!("/api/v1/agent/runs/t/{run}/answers"), &answer)
        .await;
    started.json()["runId"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn what_a_killed_process_has_recorded_counts() {
    // The call that was being made when the first process was killed is not recorded. Another one fits then, and no third.
    for (calls, fits) in [(2, false), (3, true)] {
        let store = store();
        let first = ScriptedProvider::new([say("c1"), ScriptStep::text("Half of").then_hang()]);
        let server = Running::start(builder(&first, &store)).await;
        kill_while_it_writes(server, &json!({"modelCalls": calls})).await;

        let second = ScriptedProvider::new([say("c2"), ScriptStep::text("The end.")]);
        let server = Running::start(builder(&second, &store)).await;
        let events = events(&server, "r1").await;
        match fits {
            true => assert_eq!(events.last().unwrap()["type"], "RUN_FINISHED"),
            false => assert!(limit(&events).contains("2 model calls are used"), "{}", limit(&events)),
        }
        assert_eq!(second.unused(), usize::from(!fits));
        server.stop().await;
    }
}

/// Returns a server whose agent asks an expert.
fn team(provider: &ScriptedProvider, store: &Store) -> ServerBuilder {
    let bundle = AgentBuilder::new()
        .with_provider(provider.clone())
        .with_tool(typed("say", "Says it.", |_: NoArguments| async { Ok("said") }))
        .with_tool(SubAgent::new(AgentSpec::new("expert", ""), "Finds things."))
        .build()
        .unwrap();
    Server::builder()
        .with_agent("ada", bundle, AgentSpec::new("ada", "Be Ada."))
        .in_store(store)
}

#[tokio::test]
async fn what_sub_agents_had_spent_counts() {
    for (calls, fits) in [(3, false), (4, true)] {
        let store = store();
        let ask = ToolCall::function("c1", "ask_expert", r#"{"task": "Find it."}"#);
        let first = ScriptedProvider::new([
            ScriptStep::calls([ask]),
            ScriptStep::text("Found."),
            ScriptStep::text("Half of").then_hang(),
        ]);
        let server = Running::start(team(&first, &store)).await;
        let body = with_budget("t", "r1", "Find it.", &json!({"modelCalls": calls}));
        let mut shown = server.stream(Method::POST, "/api/v1/agent/run", &[], Some(&body)).await;
        while !text_of([&shown.next().await.unwrap().data]).contains("Half of") {}
        server.kill().await;

        let second = ScriptedProvider::new([say("c2"), ScriptStep::text("The end.")]);
        let server = Running::start(team(&second, &store)).await;
        let events = events(&server, "r1").await;
        match fits {
            true => assert_eq!(events.last().unwrap()["type"], "RUN_FINISHED"),
            false => assert!(limit(&events).contains("3 model calls are used"), "{}", limit(&events)),
        }
        server.stop().await;
    }
}

#[tokio::test]
async fn earlier_turns_of_the_thread_do_not_count() {
    let store = store();
    let first = ScriptedProvider::new([ScriptStep::text("One."), ScriptStep::text("Half of").then_hang()]);
    let server = Running::start(builder(&first, &store)).await;
    let budget = json!({"modelCalls": 1});
    server.run(&with_budget("t", "r0", "Hello", &budget)).await;
    kill_while_it_writes(server, &budget).await;
    let second = ScriptedProvider::new([ScriptStep::text("Two.")]);
    let server = Running::start(builder(&second, &store)).await;
    assert_eq!(events(&server, "r1").await.last().unwrap()["type"], "RUN_FINISHED");
    server.stop().await;
}

#[tokio::test]
async fn a_run_that_continues_another_one_has_the_rest_of_its_budget() {
    for is_restarted in [false, true] {
        let store = store();
        let provider = ScriptedProvider::new([
            ScriptStep::calls([call("p1", "pay")]),
            say("c1"),
            ScriptStep::text("Too much."),
        ]);
        let mut server = Running::start(builder(&provider, &store)).await;
        server
            .run(&with_budget("t", "r1", "Pay it.", &json!({"modelCalls": 2})))
            .await;
        if is_restarted {
            server.stop().await;
            server = Running::start(builder(&provider, &store)).await;
        }
        let run = answer(&server, "r1").await;
        let events = events(&server, &run).await;
        assert!(
            limit(&events).contains("allows 2 model calls; 2 model calls are used"),
            "{}",
            limit(&events)
        );
        assert_eq!(provider.unused(), 1);
        server.stop().await;
    }
}

#[tokio::test]
async fn answers_may_come_with_another_budget() {
    let steps = || {
        ScriptedProvider::new([
            ScriptStep::calls([call("p1", "pay")]),
            say("c1"),
            ScriptStep::text("Paid."),
        ])
    };
    for (calls, fits) in [(2, false), (3, true)] {
        let server = Running::start(builder(&steps(), &store())).await;
        let first = json!({"modelCalls": 1, "money": "1 USD"});
        let refused = server.run(&with_budget("t", "r0", "Pay it.", &first)).await;
        assert_eq!(refused.last().unwrap()["type"], "RUN_ERROR", "there are no prices");
        server
            .run(&with_budget("t", "r1", "Pay it.", &json!({"modelCalls": 1})))
            .await;
        let asked = events(&server, "r1").await;
        let question = &asked.last().unwrap()["outcome"]["interrupts"][0]["id"];
        let mut body = with_budget("t", "r2", "", &json!({"modelCalls": calls}));
        body["messages"] = json!([]);
        body["resume"] = json!([{"interruptId": question, "status": "resolved", "payload": true}]);
        let mut bad = body.clone();
        bad["forwardedProps"]["budget"] = json!({"modelCalls": 0});
        let refused = server.post("/api/v1/agent/runs/t", &bad).await;
        refused.assert_problem(400, "invalid_request");

        let events = server.run(&body).await;
        match fits {
            true => assert_eq!(text_of(&events), "Paid."),
            false => assert!(limit(&events).contains("2 model calls are used"), "{}", limit(&events)),
        }
        server.stop().await;
    }
}

#[tokio::test]
async fn what_the_nodes_of_a_flow_had_spent_counts() {
    for (calls, fits) in [(2, false), (3, true)] {
        let store = flow_store();
        let tools = Tools::default();
        let serve = |provider: &ScriptedProvider| flows::builder(tools.flow(ROUTER, provider), &store);
        let first = ScriptedProvider::new([needs("Say it."), ScriptStep::text("Half of").then_hang()]);
        let server = Running::start(serve(&first)).await;
        kill_while_it_writes(server, &json!({"modelCalls": calls})).await;

        let second = ScriptedProvider::new([say("c2"), ScriptStep::text("The end.")]);
        let server = Running::start(serve(&second)).await;
        let events = events(&server, "r1").await;
        match fits {
            true => assert_eq!(events.last().unwrap()["type"], "RUN_FINISHED"),
            false => assert!(limit(&events).contains("2 model calls are used"), "{}", limit(&events)),
        }
        assert_eq!(second.unused(), usize::from(!fits));
        server.stop().await;
    }
}

#[tokio::test]
async fn a_flow_that_continues_with_an_answer_has_the_rest_of_its_budget() {
    for (calls, fits) in [(3, false), (4, true)] {
        let store = flow_store();
        let provider = ScriptedProvider::new([
            needs("Pay it."),
            ScriptStep::calls([call("p1", "pay")]),
            say("c1"),
            ScriptStep::text("Paid."),
        ]);
        let serve = || flows::builder(Tools::default().flow(ROUTER, &provider), &store);
        let server = Running::start(serve()).await;
        server
            .run(&with_budget("t", "r1", "Pay it.", &json!({"modelCalls": calls})))
            .await;
        server.stop().await;
        let server = Running::start(serve()).await;
        let run = answer(&server, "r1").await;
        let events = events(&server, &run).await;
        match fits {
            true => assert_eq!(events.last().unwrap()["type"], "RUN_FINISHED"),
            false => assert!(limit(&events).contains("3 model calls are used"), "{}", limit(&events)),
        }
        server.stop().await;
    }
}

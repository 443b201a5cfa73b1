//! Quotas of runs in which several agents work.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use agcore_agent::{AgentBuilder, AgentSpec, SubAgent};
use agcore_chat::{Actor, AssistantMessage, ChatRequest, Message, ToolCall};
use agcore_flow_files::{FileFlow, FlowFile};
use agcore_llm::provider_fn;
use agcore_server::Server;
use agcore_session::quota::{QuotaDefaults, QuotaScope, QuotaWindow};
use agcore_tools::{NoArguments, typed};
use serde_json::json;

use super::fixture::{Model, Watched, daily, limited, reply, spec, used};
use crate::{
    flows::{ROUTER, decision},
    planner::{PLANNER, judgement, plan},
    support::{InStore, Running, flow_store, input, store, text_of},
};

/// Returns the reply of the agents of flows, by what a request contains.
fn flow_reply(request: &ChatRequest) -> AssistantMessage {
    let contains = |text: &str| request.messages.iter().any(|message| message.text().contains(text));
    AssistantMessage::new(match () {
        () if contains("Decide.") => decision("Work.").to_string(),
        () if contains("Plan.") => plan("list", json!([{}])),
        () if contains("Judge.") => judgement(),
        () => "Fine.".to_owned(),
    })
}

/// Runs a flow, and returns the number of its calls of the model, and its text or the message of its error.
async fn run_flow(text: &str, quotas: &Arc<Watched>) -> (u64, String) {
    let file = FlowFile::parse("test.flow.yaml", text, |_| Err("there are no other files".to_owned())).unwrap();
    let calls = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&calls);
    let provider = provider_fn(move |call| {
        counted.fetch_add(1, Ordering::SeqCst);
        let response = reply(flow_reply(&call.request));
        async move { Ok(response) }
    });
    let list = typed("list", "Lists.", |_: NoArguments| async { Ok("roses") });
    let bundle = AgentBuilder::new()
        .with_provider(provider)
        .with_tool(list)
        .build()
        .unwrap();
    let store = flow_store();
    let served = store.add_to(Server::builder().with_flow("desk", FileFlow::builder(file, bundle)));
    let server = Running::start(served.with_quotas(Arc::clone(quotas) as _, QuotaDefaults::default())).await;
    let events = server.run(&input("t", "r1", "Hello")).await;
    let end = events.last().unwrap();
    let text = match end["type"].as_str() {
        Some("RUN_ERROR") => format!("{}: {}", end["code"], end["message"]),
        _ => text_of(&events),
    };
    server.stop().await;
    (calls.load(Ordering::SeqCst), text)
}

#[tokio::test]
async fn the_calls_of_the_nodes_of_flows_are_counted() {
    let router = ROUTER.replace("[say, pay, wait, fail]", "[]");
    let planner = PLANNER.replace("[list, pay]", "[list]");
    for (text, expected) in [(&router, 2), (&planner, 3)] {
        let quotas = limited(daily(QuotaScope::Tenant).with_model_calls(100).with_tokens(1_000_000)).await;
        let (calls, answer) = run_flow(text, &quotas).await;
        assert_eq!((calls, &*answer), (expected, "Fine."));
        let own = used(&quotas, &Actor::local(), QuotaWindow::Day).await;
        assert_eq!(
            (own.model_calls, own.tokens, own.runs),
            (calls, calls * Model::TOKENS, 1)
        );

        let quotas = limited(daily(QuotaScope::Tenant).with_model_calls(expected - 1)).await;
        let (calls, answer) = run_flow(text, &quotas).await;
        assert_eq!(calls, expected - 1);
        assert!(
            answer.starts_with("\"limit\"") && answer.contains("your tenant may use"),
            "{answer}"
        );
    }
}

#[tokio::test]
async fn sub_agents_wait_for_each_other_and_are_counted() {
    // Two experts do not fit beside each other, but one after the other.
    let quotas = limited(daily(QuotaScope::Tenant).with_tokens(1_800)).await;
    let (calls, watched) = (Arc::new(AtomicU64::new(0)), Arc::clone(&quotas));
    let counted = Arc::clone(&calls);
    let provider = provider_fn(move |call| {
        let number = counted.fetch_add(1, Ordering::SeqCst);
        let request = &call.request.messages;
        let is_expert = request.iter().any(|message| message.text() == "Find it.");
        let has_result = request.iter().any(|message| matches!(**message, Message::Tool(_)));
        let ask = |id: &str| ToolCall::function(id, "ask_expert", r#"{"task": "Find it."}"#);
        let message = match is_expert || has_result {
            true => AssistantMessage::new("Found."),
            false => AssistantMessage::from_blocks([ask("c1"), ask("c2")].map(Into::into)),
        };
        let watched = Arc::clone(&watched);
        async move {
            if is_expert && number == 1 {
                watched.shortages(1).await;
            }
            Ok(reply(message))
        }
    });
    let own = ChatRequest::default().with_max_tokens(1_000);
    let expert = SubAgent::new(AgentSpec::new("expert", "").with_request(own), "Finds things.");
    let bundle = AgentBuilder::new()
        .with_provider(provider)
        .with_tool(expert)
        .build()
        .unwrap();
    let served = Server::builder().with_agent("ada", bundle, spec()).in_store(&store());
    let server = Running::start(served.with_quotas(Arc::clone(&quotas) as _, QuotaDefaults::default())).await;
    let events = server.run(&input("t", "r1", "Hello")).await;
    assert_eq!(events.last().unwrap()["type"], "RUN_FINISHED", "{events:#?}");
    assert_eq!(calls.load(Ordering::SeqCst), 4);
    let own = used(&quotas, &Actor::local(), QuotaWindow::Day).await;
    assert_eq!((own.model_calls, own.tokens, own.runs), (4, 4 * Model::TOKENS, 1));
    server.stop().await;
}

//! Budgets of runs in which several agents work.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use agcore_agent::{AgentBuilder, AgentSpec, SubAgent};
use agcore_chat::{AssistantMessage, ChatRequest, Message, ToolCall};
use agcore_llm::provider_fn;
use agcore_server::Server;
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use serde_json::json;

use super::{limit, with_budget};
use crate::{
    flows::{self, ROUTER, Tools, needs},
    quotas::fixture::{reply, spec},
    support::{InStore, Running, flow_store, store, text_of},
};

/// Returns a server whose agent asks two experts at once, and the number of the calls of their model.
async fn team() -> (Running, Arc<AtomicU64>) {
    let calls = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&calls);
    let provider = provider_fn(move |call| {
        counted.fetch_add(1, Ordering::SeqCst);
        let request = &call.request.messages;
        let is_expert = request.iter().any(|message| message.text() == "Find it.");
        let has_result = request.iter().any(|message| matches!(**message, Message::Tool(_)));
        let ask = |id: &str| ToolCall::function(id, "ask_expert", r#"{"task": "Find it."}"#);
        let message = match is_expert || has_result {
            true => AssistantMessage::new("Found."),
            false => AssistantMessage::from_blocks([ask("c1"), ask("c2")].map(Into::into)),
        };
        async move { Ok(reply(message)) }
    });
    let own = ChatRequest::default().with_max_tokens(1_000);
    let expert = SubAgent::new(AgentSpec::new("expert", "").with_request(own), "Finds things.");
    let bundle = AgentBuilder::new()
        .with_provider(provider)
        .with_tool(expert)
        .build()
        .unwrap();
    let served = Server::builder().with_agent("ada", bundle, spec()).in_store(&store());
    (Running::start(served).await, calls)
}

#[tokio::test]
async fn sub_agents_spend_the_budget_of_the_run() {
    for (allowed, fits) in [(3, false), (4, true)] {
        let (server, calls) = team().await;
        let budget = json!({"modelCalls": allowed});
        let events = server.run(&with_budget("t", "r1", "Hello", &budget)).await;
        match fits {
            true => assert_eq!(events.last().unwrap()["type"], "RUN_FINISHED"),
            false => assert!(limit(&events).contains("allows 3 model calls"), "{}", limit(&events)),
        }
        assert_eq!(calls.load(Ordering::SeqCst), allowed);
        server.stop().await;
    }
}

#[tokio::test]
async fn the_nodes_of_a_flow_spend_the_budget_of_the_run() {
    for (calls, fits) in [(1, false), (2, true)] {
        let provider = ScriptedProvider::new([needs("Work."), ScriptStep::text("Done.")]);
        let flow = Tools::default().flow(ROUTER, &provider);
        let server = Running::start(flows::builder(flow, &flow_store())).await;
        let budget = json!({"modelCalls": calls});
        let events = server.run(&with_budget("t", "r1", "Hello", &budget)).await;
        match fits {
            true => assert_eq!(text_of(&events), "Done."),
            false => {
                let message = limit(&events);
                assert!(
                    message.contains("the budget of the run allows 1 model calls; 1 model calls are used"),
                    "{message}"
                );
            }
        }
        assert_eq!(provider.unused(), usize::from(!fits));
        server.stop().await;
    }
}

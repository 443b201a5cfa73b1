//! Sub-agents whose process dies at any write: what they show obeys the same rule as what the agent that asks them shows.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use agcore_agent::{AgentBuilder, AgentSpec, RuntimeBundle, SubAgent};
use agcore_chat::{AssistantMessage, ChatResponse, Choice, FinishReason, Message, SystemClock, ToolCall};
use agcore_flow_files::{FileFlow, FlowFile};
use agcore_server::{Server, ServerBuilder};
use agcore_session::InMemorySessionStore;
use agcore_testkit::{
    scripted::{ScriptStep, ScriptedProvider},
    stores::faulty::{FaultPlan, FaultyStore, StoreFault},
};
use agcore_tools::{NoArguments, SuspendingApprover, typed};
use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    flows::{ROUTER, decision},
    support::{FlowStore, Running, call, input},
};

/// A model that answers each request by what it contains, so that repeated requests get the same reply.
fn model() -> ScriptedProvider {
    let step = || {
        ScriptStep::from_fn(|request| {
            let contains = |text: &str| request.messages.iter().any(|message| message.text().contains(text));
            let has_result = request
                .messages
                .iter()
                .any(|message| matches!(**message, Message::Tool(_)));
            let message = match (contains("Look things up."), has_result) {
                _ if contains("Decide.") => AssistantMessage::new(decision("Ask.").to_string()),
                (true, false) => AssistantMessage::new("I look it up.").with_call(call("c1", "say")),
                (true, true) => AssistantMessage::new("It was in the third book."),
                (false, false) => {
                    let ask = ToolCall::function("c1", "ask_expert", r#"{"task": "Find it."}"#);
                    AssistantMessage::from_blocks([ask.into()])
                }
                (false, true) => AssistantMessage::new("Found it."),
            };
            let finish = match message.has_tool_calls() {
                true => FinishReason::ToolCalls,
                false => FinishReason::Stop,
            };
            let choice = Choice {
                message,
                finish_reason: Some(finish),
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

/// Returns the bundle of an agent that can ask an expert, who has the tool `say`.
fn bundle(provider: &ScriptedProvider, spoken: &Arc<AtomicUsize>) -> RuntimeBundle {
    let spoken = Arc::clone(spoken);
    let say = move |_: NoArguments| {
        spoken.fetch_add(1, Ordering::SeqCst);
        async { Ok("said") }
    };
    let new = || {
        AgentBuilder::new()
            .with_provider(provider.clone())
            .with_approver(SuspendingApprover)
    };
    let own = new().with_tool(typed("say", "Says it.", say)).build().unwrap();
    let expert = SubAgent::new(AgentSpec::new("expert", "Look things up."), "Looks things up.").with_bundle(own);
    new().with_tool(expert).build().unwrap()
}

/// The agent that asks: one that is served itself, or one in a flow.
#[derive(Debug, Clone, Copy)]
enum Served {
    Agent,
    Flow,
}

impl Served {
    fn builder(self, store: &FlowStore, provider: &ScriptedProvider, spoken: &Arc<AtomicUsize>) -> ServerBuilder {
        let bundle = bundle(provider, spoken);
        let builder = match self {
            Self::Agent => Server::builder().with_agent("ada", bundle, AgentSpec::new("ada", "Be Ada.")),
            Self::Flow => {
                let text = ROUTER.replace("[say, pay, wait, fail]", "[ask_expert]");
                let file = FlowFile::parse("test.flow.yaml", &text, |_| Err("there are no other files".to_owned()));
                Server::builder().with_flow("desk", FileFlow::builder(file.unwrap(), bundle))
            }
        };
        store.add_to(builder)
    }
}

/// Returns all events of a conversation, through the questions whether a call runs again, which are denied.
async fn events_of(server: &Running, case: &str) -> Vec<Value> {
    let mut run = "r1".to_owned();
    let mut all = Vec::new();
    loop {
        let followed = server.follow("t", &run, None).await;
        let data: Vec<Value> = followed.into_iter().map(|event| event.data).collect();
        agcore_agui::check_order(data.iter().cloned()).unwrap_or_else(|error| panic!("{case}: {error}: {data:#?}"));
        let end = data.last().unwrap().clone();
        all.extend(data);
        assert_eq!(end["type"], "RUN_FINISHED", "{case}: {end}");
        let Some(asked) = end["outcome"]["interrupts"].as_array() else {
            return all;
        };
        assert_eq!(asked[0]["reason"], "uncertain", "{case}");
        let answer = json!({"answers": [{"interruptId": asked[0]["id"], "status": "resolved", "payload": false}]});
        let started = server
            .post(&format!("/api/v1/agent/runs/t/{run}/answers"), &answer)
            .await;
        run = started.json()["runId"].as_str().unwrap().to_owned();
    }
}

/// Returns the texts that count, each with the sub-agent that wrote it.
fn texts(events: &[Value]) -> Vec<(bool, &str)> {
    let ends = events.iter().filter(|event| event["type"] == "TEXT_MESSAGE_END");
    let kept = ends.filter(|event| event["metadata"]["agcore"].get("discarded").is_none());
    kept.map(|event| {
        let answer = event["metadata"]["agcore"]["answer"].as_str().unwrap();
        (event.get("subagentRunId").is_some(), answer)
    })
    .collect()
}

async fn kill_at_any_write(served: Served) {
    for kill in 1.. {
        let inner = Arc::new(InMemorySessionStore::new(Arc::new(SystemClock::new())));
        let writes = AtomicUsize::new(0);
        let plan = FaultPlan::from_fn(move |_, method| {
            let is_write = matches!(method, "commit" | "save_checkpoint" | "create" | "append");
            (is_write && writes.fetch_add(1, Ordering::SeqCst) == kill).then_some(StoreFault::Hold)
        });
        let faulty = Arc::new(FaultyStore::new(Arc::clone(&inner), plan));
        let store = FlowStore::of(Arc::clone(&faulty));
        let (spoken, provider) = (Arc::default(), model());
        let server = Running::start(served.builder(&store, &provider, &spoken)).await;
        let body = input("t", "r1", "Where is it?");
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
            assert!(kill > 8, "only {kill} writes");
            return;
        }
        let store = FlowStore::of(inner);
        let server = Running::start(served.builder(&store, &provider, &spoken)).await;
        // The client starts the run again, in case that it was not stored.
        server.post("/api/v1/agent/runs/t", &body).await;
        let case = format!("{served:?} killed at write {kill}");
        let events = events_of(&server, &case).await;
        let expected = [
            (true, "I look it up."),
            (true, "It was in the third book."),
            (false, "Found it."),
        ];
        assert_eq!(texts(&events), expected, "{case}: {events:#?}");
        for kind in ["TOOL_CALL_START", "TOOL_CALL_RESULT"] {
            let of_kind = events.iter().filter(|event| event["type"] == kind);
            let calls: Vec<&Value> = of_kind.map(|event| &event["toolCallId"]).collect();
            assert_eq!(calls.len(), 2, "{case}: {kind} of {calls:?}: {events:#?}");
        }
        assert!(spoken.load(Ordering::SeqCst) <= 1, "{case}");
        server.stop().await;
    }
}

#[tokio::test]
async fn a_sub_agent_that_is_killed_at_any_write_loses_and_repeats_nothing() {
    kill_at_any_write(Served::Agent).await;
}

#[tokio::test]
async fn a_sub_agent_in_a_flow_that_is_killed_at_any_write_loses_and_repeats_nothing() {
    kill_at_any_write(Served::Flow).await;
}

//! Flows that were built in Rust: how they are served and stored.

use std::sync::Arc;

use agcore_agent::AgentBuilder;
use agcore_chat::SystemClock;
use agcore_flow::{END, Flow, FlowBuilder, FlowError, Step};
use agcore_flow_files::{FlowFile, FlowRequest, RequestState, StagedFlow};
use agcore_server::{ServedFlow, Server, ServerError};
use agcore_session::SessionFilter;
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use agcore_tools::{NoArguments, typed};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    flows::{STAGED, needs},
    support::{FlowStore, InStore, Running, Store, call, flow_store, input, text_of, types},
};

/// A parcel that a person has to release.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Parcel {
    address: String,
    tone: String,
    label: Option<String>,
}

impl RequestState for Parcel {
    fn begin(request: FlowRequest) -> Self {
        let tone = request.variables.get("tone").and_then(Value::as_str);
        Self {
            address: request.request,
            tone: tone.unwrap_or("dry").to_owned(),
            label: None,
        }
    }

    fn answer(&self) -> Option<String> {
        self.label.clone()
    }
}

fn parcels() -> Flow<Parcel> {
    FlowBuilder::new("parcels", SystemClock::new())
        .with_node("weigh", |state: Parcel, at: agcore_flow::NodeContext| async move {
            at.emit(json!({"grams": 100}));
            Ok(Step::new(state).to("release"))
        })
        .with_node(
            "release",
            |mut state: Parcel, at: agcore_flow::NodeContext| async move {
                let question = format!("Send it to {}?", state.address);
                let answer: String = at.ask("release", question).await?;
                state.label = Some(format!("{answer}, {}", state.tone));
                Ok(Step::new(state).end())
            },
        )
        .with_edge("weigh", "release")
        .with_edge("release", END)
        .build()
        .unwrap()
}

#[tokio::test]
async fn a_flow_is_served_with_its_steps_questions_and_answer() {
    let FlowStore {
        sessions: store,
        checkpoints,
    } = flow_store();
    let open = || {
        let builder = Server::builder().with_flow("parcels", parcels());
        builder.in_store(&store).with_checkpoints(Arc::clone(&checkpoints))
    };
    let server = Running::start(open()).await;
    let mut body = input("t", "r1", "Berlin");
    body["forwardedProps"] = json!({"variables": {"tone": "calm"}});
    let events = server.run(&body).await;
    agcore_agui::check_order(events.iter().cloned()).unwrap();
    let custom = events.iter().find(|event| event["type"] == "CUSTOM").unwrap();
    assert_eq!(custom["value"], json!({"step": "weigh", "data": {"grams": 100}}));
    let asked = &events.last().unwrap()["outcome"]["interrupts"][0];
    assert_eq!(asked["message"], "Send it to Berlin?");
    server.stop().await;

    // Another process continues it.
    let server = Running::start(open()).await;
    let answer =
        json!({"runId": "r2", "answers": [{"interruptId": asked["id"], "status": "resolved", "payload": "yes"}]});
    server.post("/api/v1/agent/runs/t/r1/answers", &answer).await;
    let followed = server.follow("t", "r2", None).await;
    let events: Vec<Value> = followed.into_iter().map(|event| event.data).collect();
    assert_eq!(text_of(&events), "yes, calm");
    assert_eq!(types(&events).last(), Some(&"RUN_FINISHED"));
    let history = server.get("/api/v1/agent/history?threadId=t").await.json();
    assert_eq!(history["messages"][1]["content"], "yes, calm");
    let agents = server.get("/api/v1/agent/agents").await.json();
    assert_eq!(
        (&agents["agents"][0]["name"], &agents["agents"][0]["kind"]),
        (&json!("parcels"), &json!("flow"))
    );
    assert_eq!(server.get("/api/v1/agent/models").await.json()["models"], json!([]));
    server.stop().await;
}

/// Returns a flow that is built for each run, with a tool of the application.
fn desk(provider: &ScriptedProvider) -> ServedFlow {
    let text = STAGED.replace("backstory: ''", "backstory: '', tools: [say]");
    let file = FlowFile::parse("desk.flow.yaml", &text, |_| Err("there are no other files".to_owned())).unwrap();
    let say = typed("say", "Says it.", |_: NoArguments| async { Ok("said") });
    let bundle = AgentBuilder::new()
        .with_provider(provider.clone())
        .with_tool(say)
        .build();
    let bundle = bundle.unwrap();
    ServedFlow::new(move |setup| {
        let flow = StagedFlow::new(file.clone(), setup.bundle(&bundle)).with_actor(setup.actor().clone());
        Ok(flow.build(setup.clock())?.into())
    })
}

async fn sessions(store: &Store) -> usize {
    store.sessions(&SessionFilter::new("local")).await.unwrap().len()
}

#[tokio::test]
async fn agents_of_a_flow_that_is_built_for_each_run_keep_their_sessions() {
    let execution = json!({
        "status": "SUCCESS", "execution_summary": "done", "execution_data": {}, "report_brief": "Report it.",
        "error_message": null,
    });
    let report = json!({"assistant_text": "It is said.", "response_metadata": {}});
    let first = ScriptedProvider::new([
        needs("Say it."),
        ScriptStep::calls([call("c1", "say")]),
        ScriptStep::text("{").then_hang(),
    ]);
    let second = ScriptedProvider::new([execution, report].map(|reply| ScriptStep::text(reply.to_string())));
    let FlowStore {
        sessions: store,
        checkpoints,
    } = flow_store();
    let open = |provider: &ScriptedProvider| {
        let builder = Server::builder().with_flow("desk", desk(provider));
        builder.in_store(&store).with_checkpoints(Arc::clone(&checkpoints))
    };
    let server = Running::start(open(&first)).await;
    server.post("/api/v1/agent/runs/t", &input("t", "r1", "Say it.")).await;
    let mut events = server.follow_open("t", "r1", None).await;
    events.until("TOOL_CALL_RESULT").await;
    server.kill().await;

    // Neither the decision nor the call is repeated.
    let server = Running::start(open(&second)).await;
    let followed = server.follow("t", "r1", None).await;
    let events: Vec<Value> = followed.into_iter().map(|event| event.data).collect();
    agcore_agui::check_order(events.iter().cloned()).unwrap();
    assert_eq!(text_of(&events), "It is said.");
    let of_type = |kind: &str| events.iter().filter(|event| event["type"] == kind).count();
    assert_eq!((of_type("TOOL_CALL_START"), of_type("TOOL_CALL_RESULT")), (1, 1));
    assert_eq!(sessions(&store).await, 4);
    let listed = server.get("/api/v1/agent/sessions").await.json();
    assert_eq!(listed["sessions"].as_array().unwrap().len(), 1);
    second.assert_done();
    server.stop().await;
}

#[test]
fn a_flow_that_cannot_be_built_is_found_when_the_server_is_built() {
    let FlowStore {
        sessions: store,
        checkpoints,
    } = flow_store();
    let broken = ServedFlow::new(|setup| {
        let none: Result<Flow<Parcel>, FlowError> = FlowBuilder::new("empty", setup.clock()).build();
        Ok(none?.into())
    });
    let server = Server::builder()
        .with_flow("empty", broken)
        .in_store(&store)
        .with_checkpoints(checkpoints);
    let error = server.build().unwrap_err();
    assert!(
        matches!(&error, ServerError::Flow(name, _) if name == "empty"),
        "{error}"
    );
}

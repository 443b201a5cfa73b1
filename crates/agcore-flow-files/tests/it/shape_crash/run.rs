//! The run that processes are killed in: a flow file, whose agents have sessions in the store of the run.

use std::sync::Arc;

use agcore_agent::AgentBuilder;
use agcore_chat::{Actor, ChatRequest, SystemClock, ToolAnnotations};
use agcore_flow_files::{FileFlow, FlowFile, FlowRequest, StoredMemory};
use agcore_llm::provider_fn;
use agcore_memory::MemoryFilter;
use agcore_session::{RunKey, SessionFilter};
use agcore_testkit::crash::{Boundaries, Place};
use agcore_tools::{
    schemars::{self, JsonSchema},
    typed,
};
use serde::Deserialize;
use serde_json::Value;

use super::model::reply;
use crate::crash::{RUN, Stores};

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
struct Work {
    number: usize,
}

/// Returns the owner of everything in a run: places in a schema share its tables.
fn owner(place: &Place) -> Actor {
    Actor::new(place.name(), "user")
}

/// Returns everything that the run has stored, as text.
pub(super) async fn stored(place: &Place) -> String {
    let stores = Stores::open(place).await.unwrap();
    let owner = owner(place);
    let mut text = String::new();
    let filter = SessionFilter::owned_by(owner.clone()).with_limit(1000);
    for session in stores.sessions.sessions(&filter).await.unwrap() {
        text += &format!("{:?}", stores.sessions.read(&session.stream(), 1).await.unwrap());
    }
    let name = place.name();
    let run = RunKey::new(&owner.tenant, &name, RUN);
    // There is no run before its session exists.
    for checkpoint in stores.checkpoints.checkpoints(run, 0).await.unwrap_or_default() {
        text += &checkpoint.data.to_string();
    }
    text
}

/// Continues the run of a flow file, or begins it. Returns its final state.
pub(super) async fn run(place: &Place, file: &str, boundaries: &Boundaries) -> Value {
    let stores = Stores::open(place).await.unwrap();
    let owner = owner(place);
    let checkpoints = stores.run(place, &owner, boundaries).await;
    let flow = FileFlow::builder(
        FlowFile::parse("shape.flow.yaml", file, |_| Err(String::new())).unwrap(),
        bundle(place, &stores, boundaries),
    );
    let memory = StoredMemory::new(Arc::clone(&stores.memory), owner.clone());
    let flow = flow.with_actor(owner.clone()).with_memory(memory);
    let flow = flow.build(SystemClock::new()).unwrap();
    let request = FlowRequest::new("Begin").with_conversation("talk");
    let result = flow.start(request).with_checkpoints(checkpoints).await.unwrap();
    // Notes are kept once, however often the node that keeps them began.
    let notes = MemoryFilter::owned_by(owner).with_limit(100);
    let notes = stores.memory.list(&notes).await.unwrap();
    let mut notes: Vec<String> = notes.into_iter().map(|item| item.id).collect();
    notes.sort();
    serde_json::json!({"answer": result.answer, "state": result.state, "notes": notes})
}

fn bundle(place: &Place, stores: &Stores, boundaries: &Boundaries) -> agcore_agent::RuntimeBundle {
    let at = boundaries.clone();
    let model = provider_fn(move |call| {
        let at = at.clone();
        async move {
            at.pass().await;
            let ChatRequest { messages, .. } = &*call.request;
            Ok(reply(messages))
        }
    });
    let (log, at) = (place.log(), boundaries.clone());
    let tool = typed("work", "Works.", move |work: Work| {
        let (log, at) = (log.clone(), at.clone());
        async move {
            at.pass().await;
            log.add(&format!("call {}", work.number));
            at.pass().await;
            Ok(format!("result of {}", work.number))
        }
    });
    let tool = tool.with_annotations(ToolAnnotations::new().with_idempotent(true));
    let builder = AgentBuilder::new().with_provider(model).with_tool(tool);
    builder
        .with_session_store(Arc::clone(&stores.sessions))
        .build()
        .unwrap()
}

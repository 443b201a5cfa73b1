//! States, nodes and stores of the tests.

use std::sync::{Arc, Mutex};

use agcore_chat::{Actor, SystemClock};
use agcore_flow::{Checkpoints, FlowEvent, NodeContext, NodeError, Step};
use agcore_session::InMemorySessionStore;
use agcore_testkit::clock::ManualClock;
use serde::{Deserialize, Serialize};

/// The names of the nodes that a run visited.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Path {
    pub(crate) nodes: Vec<String>,
}

/// A function that decides what comes next.
pub(crate) type Choice = fn(Path) -> Step<Path>;

/// A node that notes its name.
pub(crate) async fn note(mut state: Path, context: NodeContext) -> Result<Step<Path>, NodeError> {
    state.nodes.push(context.node().to_owned());
    Ok(Step::new(state))
}

pub(crate) fn clock() -> SystemClock {
    SystemClock::new()
}

pub(crate) fn jumping() -> Arc<ManualClock> {
    Arc::new(ManualClock::jumping())
}

pub(crate) fn store() -> Arc<InMemorySessionStore> {
    Arc::new(InMemorySessionStore::new(Arc::new(clock())))
}

pub(crate) async fn checkpoints(store: &Arc<InMemorySessionStore>) -> Checkpoints {
    let store = Arc::clone(store);
    Checkpoints::create(store, &Actor::local(), "session", "run")
        .await
        .unwrap()
}

/// Collects events.
#[derive(Clone, Default)]
pub(crate) struct Events(Arc<Mutex<Vec<FlowEvent>>>);

impl Events {
    pub(crate) fn observer(&self) -> impl Fn(&FlowEvent) + Send + Sync + 'static {
        let events = Arc::clone(&self.0);
        move |event: &FlowEvent| events.lock().unwrap().push(event.clone())
    }

    pub(crate) fn all(&self) -> Vec<FlowEvent> {
        self.0.lock().unwrap().clone()
    }

    /// Returns a short name for each event.
    pub(crate) fn names(&self) -> Vec<String> {
        self.all().iter().map(name).collect()
    }
}

fn name(event: &FlowEvent) -> String {
    match event {
        FlowEvent::RunStarted { is_resumed, .. } => format!("run resumed={is_resumed}"),
        FlowEvent::NodeStarted { node, attempt, .. } => format!("start {node} {attempt}"),
        FlowEvent::NodeRetried { node, wait, .. } => format!("retry {node} {wait:?}"),
        FlowEvent::NodeFinished(record) => format!("finish {} -> {}", record.node, record.next.join(",")),
        FlowEvent::NodeFailed { node, fault, .. } => format!("fail {node}: {}", fault.message),
        FlowEvent::Interrupted(interrupt) => format!("ask {}", interrupt.id),
        FlowEvent::Inside { node, event, .. } => format!("{node}: {}", name(event)),
        FlowEvent::Custom { data, .. } => format!("custom {data}"),
        FlowEvent::RunFinished => "finished".to_owned(),
        FlowEvent::RunSuspended { .. } => "suspended".to_owned(),
        FlowEvent::RunFailed { .. } => "failed".to_owned(),
        other => format!("{other:?}"),
    }
}

//! Clocks, stores and events of the tests.

use std::sync::{Arc, Mutex};

use agcore_chat::{Actor, SystemClock};
use agcore_flow::{Checkpoints, FlowEvent};
use agcore_session::InMemorySessionStore;
use agcore_testkit::clock::ManualClock;
use serde_json::Value;

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
}

/// Removes what differs from run to run.
pub(crate) fn without_times(mut state: Value) -> Value {
    match &mut state {
        Value::Object(members) => {
            for name in ["completed_at", "timestamp", "execution_time", "created_at"] {
                members.remove(name);
            }
            members
                .values_mut()
                .for_each(|value| *value = without_times(value.take()));
        }
        Value::Array(items) => items.iter_mut().for_each(|value| *value = without_times(value.take())),
        _ => {}
    }
    state
}

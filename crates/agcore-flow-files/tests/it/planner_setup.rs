//! The flow of the tests of planner flows, and what its model replies.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use agcore_agent::AgentBuilder;
use agcore_chat::{Actor, SystemClock};
use agcore_files::{LocalStorage, StandardPreprocessor};
use agcore_flow::{NodeContext, NodeError};
use agcore_flow_files::{
    ActionRecord, CallTool, FlowFile, PlannerFlow, PlannerState, RuntimeState, StateTool, StateToolKind, StoredMemory,
};
use agcore_memory::InMemoryStore;
use agcore_profile::{ProfileDocument, Uuid};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use agcore_tools::{
    schemars::{self, JsonSchema},
    typed,
};
use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::clock;

pub(crate) const FILE: &str = include_str!("flows/garden.flow.yaml");
pub(crate) const PROFILE: &str = "# System Policy\n\n# USER_PROFILE (JSON)\n{\"username\":\"Ada\"}";

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
struct Measure {
    /// The name of the bed.
    bed: String,
}

/// Looks for plants in the tables of the user.
pub(crate) struct Catalog;

#[async_trait]
impl StateTool for Catalog {
    fn name(&self) -> &str {
        "catalog"
    }

    fn description(&self) -> &str {
        "Counts the plants in the tables of the user."
    }

    fn kind(&self) -> StateToolKind {
        StateToolKind::Both
    }

    async fn run(&self, state: &mut RuntimeState, _: &NodeContext) -> Result<ActionRecord, NodeError> {
        let plants: usize = state
            .preprocessed_files
            .tables
            .iter()
            .map(|table| table.rows.len())
            .sum();
        Ok(ActionRecord::new("ignored")
            .with_summary("counted")
            .with_result(format!("{plants} plants")))
    }
}

/// The parts of a flow.
pub(crate) struct Setup {
    pub(crate) model: ScriptedProvider,
    pub(crate) memory: Arc<InMemoryStore>,
    pub(crate) calls: Arc<AtomicUsize>,
    pub(crate) folder: tempfile::TempDir,
}

impl Setup {
    pub(crate) fn new(replies: impl IntoIterator<Item = Value>) -> Self {
        let replies = replies.into_iter().map(|reply| match reply {
            Value::String(text) => ScriptStep::text(text),
            other => ScriptStep::text(other.to_string()),
        });
        Self {
            model: ScriptedProvider::new(replies),
            memory: Arc::new(InMemoryStore::new(Arc::new(SystemClock::new()))),
            calls: Arc::default(),
            folder: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn flow(&self) -> PlannerFlow {
        let file = FlowFile::parse("garden.flow.yaml", FILE, |_| Err("none".to_owned())).unwrap();
        let bundle = AgentBuilder::new().with_provider(self.model.clone()).build().unwrap();
        let calls = Arc::clone(&self.calls);
        let measure = typed("measure", "Measures a bed.", move |arguments: Measure| {
            calls.fetch_add(1, Ordering::SeqCst);
            async move { Ok(format!("{} has 4 m²", arguments.bed)) }
        });
        let profiles = format!("profiles:\n  - user_id: {}\n    username: Ada\n", Uuid::from_u128(7));
        PlannerFlow::new(file, bundle)
            .with_system_prompt(PROFILE)
            .with_tool(CallTool::new(measure).unwrap())
            .with_tool(Catalog)
            .with_profiles(ProfileDocument::from_yaml(&profiles).unwrap())
            .with_memory(StoredMemory::new(self.memory.clone(), Actor::local()))
            .with_files(
                StandardPreprocessor::new(Arc::new(SystemClock::new())),
                LocalStorage::open(self.folder.path()).unwrap(),
            )
    }

    pub(crate) async fn run(&self, state: PlannerState) -> PlannerState {
        let flow = self.flow().build(clock()).unwrap();
        flow.run(state).await.unwrap().into_state().unwrap()
    }
}

pub(crate) fn state(request: &str) -> PlannerState {
    let state = PlannerState::new(request).with_conversation("talk");
    state.with_user(Uuid::from_u128(7).to_string())
}

pub(crate) fn scenario() -> Value {
    json!({"summary": "a plan is wanted", "scenario": "plan", "goals": ["a plan"]})
}

pub(crate) fn decide(next: &str, calls: &Value) -> Value {
    json!({"summary": format!("{next} comes next"), "next": next, "calls": calls})
}

pub(crate) fn reflect(is_todo_done: Option<bool>, is_finished: bool) -> Value {
    json!({"summary": "useful", "relevance": 0.5, "is_todo_done": is_todo_done, "todo_result": null, "is_finished": is_finished})
}

pub(crate) fn notes() -> Value {
    json!({"preferences": ["Likes beans."], "facts": ["Has two beds."]})
}

pub(crate) fn nodes(state: &PlannerState) -> Vec<&str> {
    let actions = state.runtime.action_history().get(state.runtime.turn()).unwrap();
    actions.iter().map(|action| action.node.as_str()).collect()
}

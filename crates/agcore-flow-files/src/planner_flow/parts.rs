//! [`Setup`]: the parts from which a planner flow is built. [`Parts`]: those that its nodes share.

use std::{collections::BTreeMap, sync::Arc};

use agcore_files::{FilePreprocessor, FileStorage};
use agcore_flow::{FlowError, NodeContext, NodeError, Step};
use agcore_profile::ProfileSource;
use agcore_prompt::{PromptTemplate, Value};
use agcore_session::Timestamp;

use super::{memory::PlannerMemory, phase, state::PlannerState, tools::Tools, view::View};
use crate::{
    file::{FlowFile, PLANNER},
    planner::ActionRecord,
    stage::{Agents, Stage},
};

/// The number of decisions of the planner if the file does not define it.
const DEFAULT_ROUNDS: u32 = 20;

/// The parts from which a planner flow is built.
pub(super) struct Setup {
    pub(super) file: FlowFile,
    pub(super) agents: Agents,
    pub(super) tools: Tools,
    pub(super) profiles: Option<Arc<dyn ProfileSource>>,
    pub(super) files: Option<Files>,
    pub(super) memory: Option<Arc<dyn PlannerMemory>>,
}

/// A reader of files, and where the files are.
pub(crate) type Files = (Arc<dyn FilePreprocessor>, Vec<Arc<dyn FileStorage>>);

/// The parts that the nodes of a planner flow share.
pub(super) struct Parts {
    pub(super) scenario: Option<Stage>,
    pub(super) planner: Stage,
    pub(super) reflection: Stage,
    pub(super) output: Stage,
    pub(super) archive: Option<Stage>,
    pub(super) scenarios: BTreeMap<String, String>,
    pub(super) rounds: u32,
    pub(super) tools: Tools,
    pub(super) profiles: Option<Arc<dyn ProfileSource>>,
    pub(super) files: Option<Files>,
    pub(super) memory: Option<Arc<dyn PlannerMemory>>,
    user_context: Option<PromptTemplate>,
}

impl Parts {
    pub(super) fn new(setup: Setup) -> Result<Self, FlowError> {
        let Setup {
            mut file,
            agents,
            tools,
            profiles,
            files,
            memory,
        } = setup;
        // The tools are nodes, and no agent calls them itself.
        file.agents.values_mut().for_each(|agent| agent.tools.clear());
        let [scenario, planner, reflection, output, archive] = PLANNER;
        let stage = |task: &str| Stage::new(&agents, &file, task);
        let optional = |task: &str| file.tasks.contains_key(task).then(|| stage(task)).transpose();
        Ok(Self {
            scenario: optional(scenario)?,
            planner: stage(planner)?,
            reflection: stage(reflection)?,
            output: stage(output)?,
            archive: optional(archive)?,
            scenarios: file.scenarios.clone(),
            rounds: file.limits.max_rounds.unwrap_or(DEFAULT_ROUNDS),
            user_context: file.user_context.clone(),
            tools,
            profiles,
            files,
            memory,
        })
    }

    /// Returns the state as the templates see it.
    pub(super) fn view(&self, state: &PlannerState, at: &NodeContext) -> Result<View, NodeError> {
        let mut view = View::of(state, &self.scenarios, now(at));
        view.tools = self.tools.described();
        if let Some(template) = &self.user_context {
            let user = serde_json::json!({"user": state.runtime.user_context});
            let text = Value::from_serialize(&user).and_then(|user| template.render(&user));
            text.map_err(|error| NodeError::from(error).with_retryable(false))?
                .trim()
                .clone_into(&mut view.user_context);
        }
        Ok(view)
    }
}

/// Returns the time of the flow.
pub(super) fn now(at: &NodeContext) -> Timestamp {
    Timestamp::from(at.clock().now())
}

/// Writes the record of a node, and continues where it leads.
pub(super) fn act(mut state: PlannerState, record: ActionRecord) -> Result<Step<PlannerState>, NodeError> {
    let usage = record.usage.clone();
    let next = state.record(record)?;
    let data = reference(&state);
    Ok(Step::new(state).to(next).with_data(data).with_usage(usage))
}

/// Returns the data of the record of a node: its action, by the id, which the state has. What users see of the output is there,
/// too.
pub(super) fn reference(state: &PlannerState) -> serde_json::Value {
    let Some(action) = state.runtime.last_action() else {
        return serde_json::Value::Null;
    };
    let mut data = serde_json::json!({"id": action.id, "summary": action.summary});
    if is_output(state, &action.node) {
        data["result"] = action.result.clone();
    }
    data
}

/// Returns whether the last action made a part of the output.
fn is_output(state: &PlannerState, node: &str) -> bool {
    let actions = state.runtime.action_history().get(state.runtime.turn());
    let mut actions = actions.into_iter().flatten();
    ![phase::FINISH, phase::ARCHIVE].contains(&node) && actions.any(|action| action.node == phase::FINISH)
}

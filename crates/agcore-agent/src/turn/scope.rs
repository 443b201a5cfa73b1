//! [`TurnScope`]: what tools that run other agents know about the turn in which they run.

use std::sync::Arc;

use agcore_chat::Actor;
use agcore_cycle::{BudgetPool, Observer, PauseFlag};
use agcore_tools::{RunState, ToolSession};

use crate::{bundle::RuntimeBundle, durable::SessionLog, session_data::SessionMemory};

/// The turn in which a tool runs.
pub(crate) struct TurnScope {
    pub(crate) bundle: RuntimeBundle,
    /// The agent that answers.
    pub(crate) agent: String,
    /// Receives the events of sub-agents, if anybody does.
    pub(crate) observer: Option<Observer>,
    /// Writes the turns of a stored session.
    pub(crate) recorder: Option<Arc<dyn SessionLog>>,
    pub(crate) session: Arc<str>,
    /// The memory of the session, if there is a store for it.
    pub(crate) memory: Option<SessionMemory>,
    pub(crate) tools: ToolSession,
    pub(crate) actor: Arc<Actor>,
    /// The index of the turn.
    pub(crate) turn: u32,
    pub(crate) lineage: Lineage,
    /// Pauses the turn before the next call of the model.
    pub(crate) pause: PauseFlag,
}

/// The place of a session among agents that ask others.
#[derive(Clone, Default)]
pub(crate) struct Lineage {
    /// The id of the session for which all of them work, if it is not this one.
    pub(crate) whole: Option<Arc<str>>,
    /// The number of agents above.
    pub(crate) depth: u32,
    /// The calls that lead to this agent.
    pub(crate) path: String,
    /// The id of the call that has asked this agent.
    pub(crate) call: Option<Arc<str>>,
    /// The budget of all sub-agents of the turn.
    pub(crate) pool: Option<BudgetPool>,
    /// The values of the turn in which it is noted what each sub-agent has spent, if nothing else does.
    pub(crate) ledger: Option<RunState>,
}

impl Lineage {
    /// Returns the place of an agent that a call of this one asks. The path is unique within the session.
    /// `own` is the id of the session of this one.
    pub(crate) fn child(&self, own: &Arc<str>, turn: u32, call: &str) -> Self {
        Self {
            whole: Some(Arc::clone(self.whole.as_ref().unwrap_or(own))),
            depth: self.depth + 1,
            path: format!("{}{call}", self.start_of_children(turn)),
            call: Some(Arc::from(call)),
            pool: self.pool.clone(),
            ledger: self.ledger.clone(),
        }
    }

    /// Returns the start of the paths of all agents that are asked in a turn of this one.
    pub(crate) fn start_of_children(&self, turn: u32) -> String {
        match self.path.as_str() {
            "" => format!("{turn}."),
            path => format!("{path}/{turn}."),
        }
    }
}

//! [`Agents`]: the agents and flows that a server offers.

use std::{borrow::Cow, sync::Arc};

use agcore_agent::{AgentError, AgentSpec, RuntimeBundle, SharedState, UPDATE_STATE};
use agcore_chat::{ToolDefinition, tool_name};

use crate::{
    error::ServerError,
    flows::ServedFlow,
    problem::{Problem, ProblemCode},
    webhooks::IncomingHook,
};

/// An agent or a flow, with its name.
#[derive(Debug, Clone)]
pub(crate) struct AgentEntry {
    pub(crate) name: String,
    pub(crate) work: Work,
}

/// The agent or flow that answers the messages of a thread.
#[derive(Debug, Clone)]
pub(crate) enum Work {
    Agent(Box<ServedAgent>),
    Flow(Box<ServedFlow>),
}

/// An agent with the bundle in which it works.
#[derive(Debug, Clone)]
pub(crate) struct ServedAgent {
    pub(crate) bundle: RuntimeBundle,
    pub(crate) spec: AgentSpec,
}

impl ServedAgent {
    /// Returns the agent with the tools that a client offers, which are visible to the model whatever tools the agent lists.
    ///
    /// # Errors
    /// When a tool has the name of one of the agent, or its schema is invalid.
    pub(crate) fn with_client_tools(&self, tools: &[ToolDefinition]) -> Result<Cow<'_, Self>, AgentError> {
        if tools.is_empty() {
            return Ok(Cow::Borrowed(self));
        }
        let mut agent = self.clone();
        agent.bundle = agent.bundle.with_client_tools(tools.iter().cloned())?;
        if let Some(listed) = &mut agent.spec.tools {
            listed.extend(tools.iter().map(|tool| tool.name.clone()));
        }
        Ok(Cow::Owned(agent))
    }

    /// Returns the agent with a state that it shares with the client. If it or the client has a tool of its own with the name of
    /// that for the state, the agent does not see the state.
    ///
    /// # Errors
    /// When the tool for the state cannot be registered.
    pub(crate) fn with_state(
        &self,
        state: Arc<dyn SharedState>,
        of_client: &[ToolDefinition],
    ) -> Result<Self, AgentError> {
        let mut agent = self.clone();
        let is_it = |name: &str| tool_name::portable(name) == UPDATE_STATE;
        let is_own = self.bundle.tools().list().iter().any(|tool| is_it(tool.name()));
        if is_own || of_client.iter().any(|tool| is_it(&tool.name)) {
            return Ok(agent);
        }
        agent.bundle = agent.bundle.with_shared_state(state)?;
        if let Some(listed) = &mut agent.spec.tools {
            listed.push(UPDATE_STATE.into());
        }
        Ok(agent)
    }
}

/// The agents and flows that a server offers. The first one is the default.
#[derive(Debug)]
pub(crate) struct Agents(Vec<AgentEntry>);

impl AgentEntry {
    pub(crate) fn agent(name: String, bundle: RuntimeBundle, spec: AgentSpec) -> Self {
        let work = Work::Agent(Box::new(ServedAgent { bundle, spec }));
        Self { name, work }
    }

    pub(crate) fn flow(name: String, flow: ServedFlow) -> Self {
        let work = Work::Flow(Box::new(flow));
        Self { name, work }
    }

    /// Returns the name for people: that of the file of a flow, if there is one.
    pub(crate) fn title(&self) -> &str {
        match &self.work {
            Work::Flow(flow) => flow.file().map_or(&self.name, |file| &file.name),
            Work::Agent(_) => &self.name,
        }
    }

    pub(crate) fn is_flow(&self) -> bool {
        matches!(self.work, Work::Flow(_))
    }
}

impl Agents {
    /// # Errors
    /// When there is no agent, or two have the same name.
    pub(crate) fn new(entries: Vec<AgentEntry>) -> Result<Self, ServerError> {
        if entries.is_empty() {
            return Err(ServerError::NoAgent);
        }
        for (index, entry) in entries.iter().enumerate() {
            if entries.iter().skip(index + 1).any(|other| other.name == entry.name) {
                return Err(ServerError::DuplicateAgent(entry.name.clone()));
            }
        }
        Ok(Self(entries))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &AgentEntry> {
        self.0.iter()
    }

    pub(crate) fn get(&self, name: &str) -> Option<&AgentEntry> {
        self.0.iter().find(|entry| entry.name == name)
    }

    /// Returns hooks that fit these agents. Those without an agent get the default.
    ///
    /// # Errors
    /// When two hooks have the same id, or the agent or the variables of one do not exist.
    pub(crate) fn fit(&self, mut hooks: Vec<IncomingHook>) -> Result<Vec<IncomingHook>, ServerError> {
        for index in 0..hooks.len() {
            let (known, rest) = hooks.split_at_mut(index);
            let Some(hook) = rest.first_mut() else { break };
            if known.iter().any(|other| other.id == hook.id) {
                return Err(ServerError::DuplicateHook(hook.id.clone()));
            }
            let Ok(entry) = self.choose(hook.agent.as_deref()) else {
                let name = hook.agent.clone().unwrap_or_default();
                let reason = format!("the server has no agent or flow {name:?}; add it, or choose another one");
                return Err(ServerError::Hook(hook.id.clone(), reason));
            };
            hook.agent = Some(entry.name.clone());
            hook.check_flow(match &entry.work {
                Work::Agent(_) => None,
                Work::Flow(flow) => Some(flow),
            })?;
        }
        Ok(hooks)
    }

    /// Returns the first of these agents that is named, or the default.
    ///
    /// # Errors
    /// `agent_not_found` if there is no agent with the name.
    pub(crate) fn choose(&self, name: Option<&str>) -> Result<&AgentEntry, Problem> {
        let found = match name {
            Some(name) => self.get(name),
            None => self.0.first(),
        };
        found.ok_or_else(|| {
            let detail = "the server has no agent with this name; GET /api/v1/agent/agents lists them";
            Problem::new(ProblemCode::AgentNotFound, detail)
        })
    }
}

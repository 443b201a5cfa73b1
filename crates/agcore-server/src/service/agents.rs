//! [`Agents`]: the agents that a server offers.

use agcore_agent::{AgentSpec, RuntimeBundle};

use crate::{
    error::ServerError,
    problem::{Problem, ProblemCode},
};

/// An agent with the bundle in which it works.
#[derive(Debug, Clone)]
pub(crate) struct AgentEntry {
    pub(crate) name: String,
    pub(crate) bundle: RuntimeBundle,
    pub(crate) spec: AgentSpec,
}

/// The agents that a server offers. The first one is the default.
#[derive(Debug)]
pub(crate) struct Agents(Vec<AgentEntry>);

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

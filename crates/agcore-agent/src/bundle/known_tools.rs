//! [`KnownTools`]: the tools that agents may name, to find wrong names when an agent is built.

use std::sync::Arc;

use agcore_chat::text::nearest_names;
use agcore_tools::{ToolRegistry, ToolSnapshot};

use crate::{agent::Agent, error::AgentError, skills::USE_SKILL};

/// The tools of a bundle that is being built. Tools that run other agents find it in the context with which they are checked.
#[derive(Debug, Clone)]
pub(crate) struct KnownTools {
    tools: Arc<ToolSnapshot>,
    /// Whether others have the registry, so that tools may still be added to it.
    may_grow: bool,
}

impl KnownTools {
    pub(crate) fn of(registry: &ToolRegistry) -> Self {
        Self {
            tools: registry.snapshot(),
            may_grow: registry.is_shared(),
        }
    }

    /// Checks that an agent names no unknown tool. If tools may still be added, the log has a warning instead: those of an MCP
    /// server are registered when it is connected.
    ///
    /// # Errors
    /// When one of the tools is unknown.
    pub(crate) fn check(&self, agent: &dyn Agent) -> Result<(), AgentError> {
        let names = agent.tool_names().unwrap_or_default();
        // The skills of a bundle can be set later.
        let mut unknown = names
            .iter()
            .filter(|name| self.tools.get(name).is_none() && *name != USE_SKILL);
        let Some(missing) = unknown.next() else {
            return Ok(());
        };
        let error = unknown_tool(agent.name(), missing, &self.tools);
        match self.may_grow {
            true => tracing::warn!("{error}"),
            false => return Err(error),
        }
        Ok(())
    }
}

/// Returns the error of an agent that names a tool which is not registered.
pub(crate) fn unknown_tool(agent: &str, missing: &str, known: &ToolSnapshot) -> AgentError {
    let names = known.tools().iter().map(|tool| &**tool.name());
    let near = nearest_names(missing, names, 3);
    let hint = match near.as_slice() {
        [] => "register it, or remove it from the agent's tools".to_owned(),
        near => format!("did you mean {}?", near.join(" or ")),
    };
    let problem = format!("the agent `{agent}` uses the tool `{missing}`, which is not registered; {hint}");
    AgentError::invalid_agent(problem)
}

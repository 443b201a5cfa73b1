//! The tools that an agent sees.

use std::{collections::HashSet, sync::Arc};

use agcore_chat::{AllowedTool, ToolChoice, text::nearest_names};
use agcore_tools::ToolSnapshot;

use crate::{
    agent::{Agent, CATEGORY, handoff_target},
    bundle::{Parts, unknown_tool},
    error::AgentError,
};

/// Returns whether one of the tools runs other agents.
pub(super) fn runs_agents(tools: &ToolSnapshot) -> bool {
    tools.tools().iter().any(|tool| tool.category() == Some(CATEGORY))
}

/// Returns the names of the tools that hand the conversation over.
pub(super) fn handoff_tools(tools: &ToolSnapshot) -> HashSet<String> {
    let handoffs = tools.tools().iter().filter(|tool| handoff_target(tool).is_some());
    handoffs.map(|tool| tool.name().to_string()).collect()
}

/// Returns the names of the tools that a choice names.
pub(super) fn forced_tools(choice: Option<&ToolChoice>) -> Vec<String> {
    match choice {
        Some(ToolChoice::Function(name) | ToolChoice::Custom(name)) => vec![name.clone()],
        Some(ToolChoice::Allowed { tools, .. }) => {
            let names = tools.iter().filter_map(|tool| match tool {
                AllowedTool::Function(name) | AllowedTool::Custom(name) => Some(name.clone()),
                _ => None,
            });
            names.collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the tools that an agent sees.
///
/// # Errors
/// When the agent names a tool that is not registered, or an agent that is not a member.
pub(super) fn visible_tools(parts: &Parts, agent: &dyn Agent) -> Result<Arc<ToolSnapshot>, AgentError> {
    let known = parts.tools.snapshot();
    let targets = agent.handoffs();
    if let Some(missing) = targets.iter().find(|name| parts.members.get(name).is_none()) {
        return Err(unknown_member(agent.name(), missing, parts));
    }
    if let Some(names) = agent.tool_names()
        && let Some(missing) = names.iter().find(|name| known.get(name).is_none())
    {
        return Err(unknown_tool(agent.name(), missing, &known));
    }
    if parts.members.is_empty() {
        return Ok(known.subset(|tool| agent.exposes(tool)));
    }
    Ok(known.subset(|tool| match handoff_target(tool) {
        Some(target) => targets.iter().any(|name| name == target),
        None => agent.exposes(tool),
    }))
}

pub(super) fn unknown_member(agent: &str, missing: &str, parts: &Parts) -> AgentError {
    let near = nearest_names(missing, parts.members.names(), 3);
    let hint = match near.as_slice() {
        [] => "add it with `with_member` when the bundle is built".to_owned(),
        near => format!("did you mean {}?", near.join(" or ")),
    };
    AgentError::invalid_agent(format!(
        "the agent `{agent}` hands over to `{missing}`, which is not a member of the bundle; {hint}"
    ))
}

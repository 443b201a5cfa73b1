//! Finds agents in files that name tools which do not exist.

use agcore::{ToolRegistry, chat::tool_name};

use crate::{
    exit::suggestion,
    settings::{FileAgent, McpServers, NamedServer},
};

/// Removes the tools that ask agents with unknown tools, whose every turn would fail. Returns a message for each of these agents.
///
/// Tools with the prefix of an MCP server are not unknown: the server may not be connected, or add them later.
pub(super) fn remove_unusable(registry: &ToolRegistry, agents: &[FileAgent], servers: &McpServers) -> Vec<String> {
    let prefixes: Vec<String> = servers.enabled().map(NamedServer::prefix).collect();
    let mut left: Vec<&FileAgent> = agents.iter().collect();
    let mut problems = Vec::new();
    // An agent that is removed may be one that another agent names.
    while let Some((index, tool)) = first_unusable(registry, &left, &prefixes) {
        let FileAgent { spec, file } = left.remove(index);
        let names = registry.list();
        let near = suggestion(tool, names.iter().map(|tool| &**tool.name()));
        problems.push(format!(
            "{file}: the agent `{}` cannot be used: it names the tool `{tool}`, which does not exist{near}",
            spec.name
        ));
        registry.unregister(&tool_name::portable(&format!("ask_{}", spec.name)));
    }
    problems
}

/// Returns the position of the first agent that names an unknown tool, and that tool.
fn first_unusable<'a>(
    registry: &ToolRegistry,
    agents: &[&'a FileAgent],
    prefixes: &[String],
) -> Option<(usize, &'a str)> {
    let is_unknown = |name: &&'a String| {
        registry.get(name).is_none() && !prefixes.iter().any(|prefix| name.starts_with(prefix.as_str()))
    };
    let found = agents.iter().enumerate().map(|(index, agent)| {
        let tool = agent.spec.tools.iter().flatten().find(is_unknown);
        tool.map(|tool| (index, tool.as_str()))
    });
    found.flatten().next()
}

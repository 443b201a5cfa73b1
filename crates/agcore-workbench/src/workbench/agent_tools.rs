//! Finds agents in files that name tools which do not exist.

use agcore::{ToolRegistry, chat::text::suggestion};
use agcore_settings::{FileAgent, McpServers};

/// Removes the tools that ask agents with unknown tools, whose every turn would fail. Returns a message for each of these agents.
///
/// Tools with the prefix of an MCP server are not unknown: the server may not be connected, or add them later.
pub(crate) fn remove_unusable(registry: &ToolRegistry, agents: &[FileAgent], servers: &McpServers) -> Vec<String> {
    let mut left: Vec<&FileAgent> = agents.iter().collect();
    let mut problems = Vec::new();
    // An agent that is removed may be one that another agent names.
    while let Some((index, tool)) = first_unusable(registry, &left, servers) {
        let agent = left.remove(index);
        let FileAgent { spec, file } = agent;
        let names = registry.list();
        let near = suggestion(tool, names.iter().map(|tool| &**tool.name()));
        problems.push(format!(
            "{file}: the agent `{}` cannot be used: it names the tool `{tool}`, which does not exist{near}",
            spec.name
        ));
        registry.unregister(&agent.tool());
    }
    problems
}

/// Returns the position of the first agent that names an unknown tool, and that tool.
fn first_unusable<'a>(
    registry: &ToolRegistry,
    agents: &[&'a FileAgent],
    servers: &McpServers,
) -> Option<(usize, &'a str)> {
    let is_unknown = |name: &&'a String| registry.get(name).is_none() && !servers.may_have(name);
    let found = agents.iter().enumerate().map(|(index, agent)| {
        let tool = agent.spec.tools.iter().flatten().find(is_unknown);
        tool.map(|tool| (index, tool.as_str()))
    });
    found.flatten().next()
}

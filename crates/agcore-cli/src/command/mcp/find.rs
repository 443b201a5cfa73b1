//! Reads the settings, and finds a server in them.

use agcore::chat::text::suggestion;
use agcore_settings::{NamedServer, PolicyOptions, ToolSettings};
use agcore_terminal::render::sanitized_line;

use crate::{exit::Failure, trust_dialog::print_notices};

/// Reads the settings that decide about servers and tools, and prints notices about ignored ones.
pub(super) fn settings(policy: &PolicyOptions) -> Result<ToolSettings, Failure> {
    let settings = ToolSettings::with_servers(policy)?;
    print_notices(&settings.notices())?;
    Ok(settings)
}

/// Finds a server, also one that is disabled.
pub(super) fn find<'a>(settings: &'a ToolSettings, name: &str) -> Result<&'a NamedServer, Failure> {
    let servers = settings.mcp.all();
    servers.iter().find(|server| server.name == name).ok_or_else(|| {
        let near = suggestion(name, servers.iter().map(|server| server.name.as_str()));
        Failure::usage(format!(
            "unknown MCP server `{}`{near}\nRun `agcore mcp list` to see all servers.",
            sanitized_line(name)
        ))
    })
}

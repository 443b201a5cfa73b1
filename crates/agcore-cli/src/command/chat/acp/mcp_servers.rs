//! The MCP servers that an editor hands over.

use std::collections::BTreeMap;

use agcore::mcp::ServerEntry;
use agcore_acp::schema::McpServer;
use agcore_settings::Settings;
use agcore_terminal::render::sanitized_line;

/// Adds the servers to those of the settings, if the user trusts the folder: a server is a command that runs without a question.
/// Returns a notice about those that are not used.
pub(super) fn add(settings: &mut Settings, servers: Vec<McpServer>) -> Option<String> {
    if servers.is_empty() {
        return None;
    }
    let mut entries: Vec<(String, ServerEntry)> = servers.into_iter().filter_map(entry).collect();
    if settings.trusted_folder().is_some() {
        let known = settings.tools.mcp.clone();
        settings.tools.mcp = known.with_editor(entries);
        return None;
    }
    entries.sort_by(|one, other| one.0.cmp(&other.0));
    let names: Vec<String> = entries.iter().map(|(name, _)| sanitized_line(name)).collect();
    Some(format!(
        "the MCP servers of the editor ({}) are not used, because this folder is not trusted: review its files and run `agcore trust`, or \
         pass --trust-folder",
        names.join(", ")
    ))
}

fn entry(server: McpServer) -> Option<(String, ServerEntry)> {
    let mut entry = ServerEntry::default();
    match server {
        McpServer::Stdio(server) => {
            entry.command = Some(server.command.to_str()?.to_owned());
            entry.args = server.args;
            entry.env = server
                .env
                .into_iter()
                .map(|variable| (variable.name, variable.value))
                .collect();
            Some((server.name, entry))
        }
        McpServer::Http(server) => {
            entry.url = Some(server.url);
            let headers: BTreeMap<String, String> = server
                .headers
                .into_iter()
                .map(|header| (header.name, header.value))
                .collect();
            entry.headers = headers;
            Some((server.name, entry))
        }
        _ => None,
    }
}

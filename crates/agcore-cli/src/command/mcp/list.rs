//! `agcore mcp list`: the servers with their state and tools.

use agcore::tools::{RegisteredTool, ToolRegistry};
use agcore_args::McpListArgs;
use agcore_settings::{NamedServer, ToolSettings};
use agcore_terminal::render::{sanitized_line, shown_lines};
use agcore_workbench::mcp::{Server, Servers};
use serde_json::{Value, json};

use super::find::settings;

use crate::{
    exit::Failure,
    stdout::{print, print_list},
};

/// The text that is printed if there are no servers.
const NONE: &str = "No MCP servers. `agcore mcp list --help` shows where to add them.\n";

/// Connects to all servers and lists them.
///
/// # Errors
/// When the settings are invalid, the output cannot be written, or a server failed. It is listed with its error.
pub(super) async fn run(args: &McpListArgs) -> Result<(), Failure> {
    let settings = settings(&args.policy)?;
    let tools = ToolRegistry::new();
    let servers = Servers::connect(&settings.mcp, &settings.startable, &tools, None).await;
    let printed = match args.json {
        true => {
            let list: Vec<Value> = entries(&settings, &servers)
                .map(|(named, server)| described(named, server, &tools))
                .collect();
            print(&format!("{:#}\n", json!({ "servers": list })))
        }
        false if settings.mcp.all().is_empty() => print(NONE),
        false => {
            let list = entries(&settings, &servers).map(|(named, server)| entry(named, server, &tools));
            print_list(&list.collect::<String>())
        }
    };
    let failed = servers.all().iter().filter(|server| server.connection.is_err()).count();
    let count = servers.all().len();
    servers.close().await;
    printed?;
    match failed {
        0 => Ok(()),
        failed => Err(Failure::task(format!(
            "{failed} of {count} MCP servers failed; `agcore mcp doctor` suggests fixes"
        ))),
    }
}

/// Returns all servers of the settings, those that are used with their connection.
fn entries<'a>(
    settings: &'a ToolSettings,
    servers: &'a Servers,
) -> impl Iterator<Item = (&'a NamedServer, Option<&'a Server>)> {
    let connected = |name: &str| servers.all().iter().find(|server| server.settings.name == name);
    let all = settings.mcp.all().iter();
    all.map(move |named| (named, connected(&named.name)))
}

/// Formats a server: `files: 11 tools` with how it is reached, where it is set and the names of its tools.
fn entry(named: &NamedServer, server: Option<&Server>, tools: &ToolRegistry) -> String {
    let state = match server.map(|server| &server.connection) {
        None => "disabled".to_owned(),
        Some(Err(error)) => format!("failed: {error}"),
        Some(Ok(connected)) => {
            let (peer, count) = (connected.peer(), tools_of(named, tools).len());
            let plural = if count == 1 { "" } else { "s" };
            let about = [peer.name, peer.version].into_iter().flatten();
            let about = about.chain([format!("protocol {}", peer.protocol)]).collect::<Vec<_>>();
            format!("{count} tool{plural} ({})", about.join(" "))
        }
    };
    let mut text = format!(
        "{}: {state}\n  {}, set in {}\n",
        sanitized_line(&named.name),
        shown_lines(&named.describe()).collect::<Vec<_>>().join("\n    │ "),
        named.origin
    );
    let prefix = named.prefix();
    let names: Vec<String> = tools_of(named, tools)
        .iter()
        .map(|tool| tool.name().as_str().replacen(&prefix, "", 1))
        .collect();
    if !names.is_empty() {
        text += &format!("  {}\n", names.join(", "));
    }
    if let Some(Ok(connected)) = server.map(|server| &server.connection) {
        for problem in connected.problems() {
            text += &format!("  not offered: {problem}\n");
        }
        for warning in connected.warnings() {
            text += &format!("  warning: {warning}\n");
        }
    }
    text
}

fn described(named: &NamedServer, server: Option<&Server>, tools: &ToolRegistry) -> Value {
    let mut shown = json!({
        "name": named.name,
        "transport": if named.entry.url.is_some() { "http" } else { "stdio" },
        "target": named.describe(),
        "origin": named.origin.to_string(),
    });
    let members = match server.map(|server| &server.connection) {
        None => json!({"status": "disabled"}),
        Some(Err(error)) => json!({"status": "failed", "error": error.to_string()}),
        Some(Ok(connected)) => {
            let peer = connected.peer();
            json!({
                "status": "connected",
                "protocol": peer.protocol,
                "server": {"name": peer.name, "version": peer.version, "instructions": peer.instructions},
                "tools": tools_of(named, tools).iter().map(tool).collect::<Vec<_>>(),
                "problems": connected.problems().collect::<Vec<_>>(),
                "warnings": connected.warnings().collect::<Vec<_>>(),
            })
        }
    };
    if let (Some(shown), Value::Object(members)) = (shown.as_object_mut(), members) {
        shown.extend(members);
    }
    shown
}

/// Returns the tools of a server.
fn tools_of(named: &NamedServer, tools: &ToolRegistry) -> Vec<RegisteredTool> {
    let tag = format!("mcp:{}", named.name);
    tools.list().iter().filter(|tool| tool.has_tag(&tag)).cloned().collect()
}

fn tool(tool: &RegisteredTool) -> Value {
    json!({
        "name": tool.name(),
        "description": tool.tool().description(),
        "annotations": tool.annotations(),
        "parameters": tool.tool().parameters(),
    })
}

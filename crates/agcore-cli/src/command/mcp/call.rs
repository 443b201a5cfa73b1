//! `agcore mcp call`: calls a tool of a server, subject to the same permission checks as a call by a model.

use agcore::{chat::text::suggestion, mcp::McpErrorKind, tools::ToolRegistry};
use agcore_args::McpCallArgs;
use agcore_terminal::{
    interrupt::Interrupts,
    render::{Color, sanitized_line},
};
use agcore_workbench::{
    mcp::Servers,
    policy::Policy,
    program_tools::{ToolFolder, WebAccess},
};

use super::find::{find, settings};

use crate::{
    command::tools::call::{self, CallArgs, ToolSet},
    exit::{Failure, FailureKind},
};

/// Calls a tool and prints its result.
///
/// # Errors
/// When there is no such server or tool, the server cannot be reached, the arguments are invalid, the call is denied, or
/// the tool fails.
pub(super) async fn run(args: &McpCallArgs, interrupts: &Interrupts, color: Color) -> Result<(), Failure> {
    let settings = settings(&args.policy)?;
    let server = find(&settings, &args.server)?;
    let tools = ToolRegistry::new();
    let servers = Servers::connect_to(vec![server.clone()], &settings.startable, &tools, None).await;
    if let Some(Err(error)) = servers.all().first().map(|server| server.connection.as_ref()) {
        let kind = match error.kind() {
            McpErrorKind::Config => FailureKind::Usage,
            McpErrorKind::Unauthorized => FailureKind::Key,
            _ => FailureKind::Unreachable,
        };
        let advice = format!("Run `agcore mcp doctor {}` to find out why.", args.server);
        return Err(Failure::new(kind, format!("{error}\n{advice}")));
    }
    let prefix = server.prefix();
    let name = prefix.clone() + &args.tool;
    let Some(tool) = tools.get(&name) else {
        let known = tools.list();
        let known = known
            .iter()
            .filter_map(|tool| tool.name().as_str().strip_prefix(&prefix));
        let near = suggestion(&args.tool, known);
        return Err(Failure::usage(format!(
            "the MCP server {} has no tool `{}`{near}\nRun `agcore mcp list` to see its tools.",
            args.server,
            sanitized_line(&args.tool)
        )));
    };
    let policy = Policy::new(&tools, &settings)?;
    let typed = CallArgs {
        json: args.json.as_deref(),
        yes: args.yes,
        show: "agcore mcp list --json".to_owned(),
    };
    let folder = ToolFolder::of_settings(&settings)?;
    let set = ToolSet {
        tools: &tools,
        policy: &policy,
        folder: &folder,
        urls: WebAccess::of_settings(&settings),
    };
    let result = call::run(&typed, &set, &tool, interrupts, color).await;
    servers.close().await;
    result
}

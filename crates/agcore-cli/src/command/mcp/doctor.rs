//! `agcore mcp doctor`: checks MCP servers, and suggests fixes.

use agcore::{
    mcp::{McpError, McpErrorKind},
    tools::ToolRegistry,
};
use agcore_args::McpDoctorArgs;
use agcore_settings::NamedServer;
use agcore_terminal::render::Color;
use agcore_workbench::mcp::{Server, Servers};

use super::find::{find, settings};

use crate::{
    command::setup::doctor::{Check, Report},
    exit::{Failure, FailureKind},
};

/// Connects to the servers, checks what they offer, and prints each result.
///
/// # Errors
/// When the settings are invalid, there is no such server, or a check fails.
pub(super) async fn run(args: &McpDoctorArgs, color: Color) -> Result<(), Failure> {
    let settings = settings(&args.policy)?;
    let named: Vec<&NamedServer> = match &args.server {
        Some(name) => vec![find(&settings, name)?],
        None => settings.mcp.all().iter().collect(),
    };
    let mut report = Report::new(args.json, color);
    if named.is_empty() {
        let message = "no servers are set";
        report.add(vec![Check::warn(
            "servers",
            message,
            "Run `agcore mcp list --help` to see where to add them.",
        )])?;
    }
    let (used, disabled): (Vec<_>, Vec<_>) = named.into_iter().partition(|server| !server.entry.disabled);
    let servers = Servers::connect_to(
        used.into_iter().cloned().collect(),
        &settings.startable,
        &ToolRegistry::new(),
        None,
    )
    .await;
    for server in servers.all() {
        report.add(checks(server).await)?;
    }
    for server in disabled {
        report.add(vec![Check::warn(
            &server.name,
            format!("disabled in {}", server.origin),
            "Remove `disabled` to use it.",
        )])?;
    }
    servers.close().await;
    report.finish()
}

/// Checks a server, connected or not.
async fn checks(server: &Server) -> Vec<Check> {
    let name = &server.settings.name;
    let connected = match &server.connection {
        Ok(connected) => connected,
        Err(error) => return vec![Check::fail(name, &failure(&server.settings, error))],
    };
    let (client, peer) = (&connected.client, connected.peer());
    let about: Vec<String> = [peer.name, peer.version].into_iter().flatten().collect();
    let about = if about.is_empty() {
        "server".to_owned()
    } else {
        about.join(" ")
    };
    let mut checks = vec![Check::ok(name, format!("{about} answers (protocol {})", peer.protocol))];
    if peer.has_tools {
        checks.push(match client.list_tools().await {
            Ok(tools) => Check::ok(name, format!("tools: {}", tools.len())),
            Err(error) => Check::fail(name, &failure(&server.settings, &error)),
        });
    }
    if peer.has_resources {
        checks.push(match client.list_resources().await {
            Ok(resources) => Check::ok(name, format!("resources: {}", resources.len())),
            Err(error) => Check::fail(name, &failure(&server.settings, &error)),
        });
    }
    if peer.has_prompts {
        checks.push(match client.list_prompts().await {
            Ok(prompts) => Check::ok(name, format!("prompts: {}", prompts.len())),
            Err(error) => Check::fail(name, &failure(&server.settings, &error)),
        });
    }
    let problems = connected.problems();
    checks.extend(problems.map(|problem| Check::warn(name, problem, "The tool is not offered to models.")));
    let warnings = connected.warnings();
    checks.extend(warnings.map(|warning| Check::warn(name, warning, "Report this to the authors of the server.")));
    checks
}

/// Converts an error, and adds what to do about it.
fn failure(server: &NamedServer, error: &McpError) -> Failure {
    let (kind, advice) = match error.kind() {
        McpErrorKind::Config => (FailureKind::Usage, format!("Change it in {}.", server.origin)),
        McpErrorKind::Start => (
            FailureKind::Task,
            format!(
                "It runs {}. Check that the command exists and is in PATH.",
                server.describe()
            ),
        ),
        McpErrorKind::Unauthorized => (
            FailureKind::Key,
            format!(
                "Run `agcore mcp login {}`, or add an `Authorization` header with a valid token in {}.",
                server.name, server.origin
            ),
        ),
        McpErrorKind::Timeout => (
            FailureKind::Unreachable,
            "If it is slow to start, set `connect_timeout_seconds`.".to_owned(),
        ),
        McpErrorKind::Unsupported if server.entry.url.is_some() => (
            FailureKind::Unreachable,
            format!("Change the server, or its entry in {}.", server.origin),
        ),
        McpErrorKind::Protocol | McpErrorKind::Server if server.entry.url.is_some() => (
            FailureKind::Unreachable,
            format!(
                "Something answers at {}, but not as an MCP server does. Check the URL in {}.",
                server.describe(),
                server.origin
            ),
        ),
        _ if server.entry.url.is_some() => (
            FailureKind::Unreachable,
            format!("Check that an MCP server is running at {}.", server.describe()),
        ),
        _ => (
            FailureKind::Task,
            format!("Run {} yourself to see what it prints.", server.describe()),
        ),
    };
    Failure::new(kind, format!("{error}\n{advice}"))
}

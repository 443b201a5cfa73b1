//! [`tool_server`]: the tools of the program for other MCP clients.

use std::sync::Arc;

use agcore::{
    llm::SystemClock,
    mcp::{Identity, McpServer},
    tools::{Approver, ToolContext, ToolSettings as ToolCalls},
};
use agcore_settings::{SettingsError, ToolSettings};

use crate::{
    hook_commands::{CommandHooks, HookedCalls},
    permission_mode::PermissionMode,
    policy::Policy,
    program_tools::{self, ToolFolder, WebAccess},
    sample_tools::NotesFile,
};

/// The id of the session that hooks and tools receive.
const SESSION: &str = "mcp";

/// Creates an MCP server for the tools of the program, with the rules, hooks and redaction of the settings. They hold although the
/// agent behind the client has its own. Without an approver, calls that need approval are denied.
///
/// # Errors
/// When a rule names an unknown tool, a hook has an invalid matcher, stored grants cannot be read, or the current directory cannot
/// be opened.
pub fn tool_server(
    identity: Identity,
    settings: &ToolSettings,
    approver: Option<Arc<dyn Approver>>,
) -> Result<McpServer, SettingsError> {
    let tools = program_tools::registry().map_err(|error| SettingsError::new(error.to_string()))?;
    let policy = Policy::new(&tools, settings)?;
    let folder = ToolFolder::of_settings(settings)?;
    let calls = calls(settings, &folder)?;
    let context = ToolContext::builder(Arc::new(SystemClock::new()))
        .with_session_id(SESSION)
        .with_state(NotesFile::default())
        .with_state(folder)
        .with_state(WebAccess::of_settings(settings));
    Ok(McpServer::new(tools)
        .with_identity(identity)
        .with_policy(policy.with_approver(approver))
        .with_tool_settings(calls)
        .with_context(context))
}

/// Returns what surrounds each call: the redaction, and around it the hooks, which receive redacted results as those of agents do.
fn calls(settings: &ToolSettings, folder: &ToolFolder) -> Result<ToolCalls, SettingsError> {
    let hooks = CommandHooks::new(&settings.hooks, folder.path().to_owned(), PermissionMode::Default)?
        .with_commands(settings.startable.clone(), settings.keep_env.clone())
        .with_logged_problems();
    let calls = ToolCalls::new().with_redactor(settings.redaction.clone());
    if hooks.is_empty() {
        return Ok(calls);
    }
    let hooks = Arc::new(hooks);
    Ok(calls.with_layer(move |inner| HookedCalls::new(inner, Arc::clone(&hooks))))
}

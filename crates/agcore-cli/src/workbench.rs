//! Opens the [`Workbench`] of a command and reports its warnings.

use agcore::tools::ToolError;
use agcore_settings::{Settings, ToolSettings};
use agcore_workbench::{Workbench, server_answers::ServerQuestions};

use crate::{exit::Failure, trust_dialog::print_notices};

/// Opens the tools of a command. MCP servers cannot ask the user.
///
/// # Errors
/// When two tools have the same name, or standard error is closed.
pub(crate) async fn open(settings: &ToolSettings, offers_tools: bool) -> Result<Workbench, Failure> {
    reported(Workbench::open(settings, offers_tools).await.map_err(failure)?)
}

/// Opens the tools of a command whose user MCP servers can ask.
///
/// # Errors
/// As for [`open`].
pub(crate) async fn open_for_user(
    settings: &Settings,
    offers_tools: bool,
) -> Result<(Workbench, ServerQuestions), Failure> {
    let opened = Workbench::open_for_user(settings, offers_tools).await;
    let (workbench, questions) = opened.map_err(failure)?;
    Ok((reported(workbench)?, questions))
}

/// Adds the tools that only chats and single messages have.
///
/// # Errors
/// When an MCP server has a tool with the name of one of them.
pub(crate) fn with_chat_tools(workbench: Workbench) -> Result<Workbench, Failure> {
    workbench.with_chat_tools().map_err(failure)
}

fn reported(workbench: Workbench) -> Result<Workbench, Failure> {
    let warnings = workbench.warnings.iter();
    let warnings: Vec<String> = warnings.map(|warning| format!("warning: {warning}")).collect();
    print_notices(&warnings)?;
    Ok(workbench)
}

#[expect(clippy::needless_pass_by_value, reason = "it is passed to `map_err`")]
fn failure(error: ToolError) -> Failure {
    Failure::task(error.to_string())
}

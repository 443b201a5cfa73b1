//! `agcore mcp`: the MCP servers of the settings, and the program as a server.

mod find;
mod call;
mod doctor;
mod list;
mod login;
mod serve;

use agcore_args::McpCommand;
use agcore_terminal::{interrupt::Interrupts, render::Color};

use crate::exit::Failure;

/// Runs an `mcp` command.
///
/// # Errors
/// When the settings are invalid, there is no such server or tool, a call fails, or a check fails.
pub(crate) async fn run(command: &McpCommand, interrupts: &Interrupts, color: Color) -> Result<(), Failure> {
    match command {
        McpCommand::List(args) => list::run(args).await,
        McpCommand::Call(args) => call::run(args, interrupts, color).await,
        McpCommand::Login(args) => login::login(args).await,
        McpCommand::Logout(args) => login::logout(args).await,
        McpCommand::Serve(args) => serve::run(args, interrupts).await,
        McpCommand::Doctor(args) => doctor::run(args, color).await,
    }
}

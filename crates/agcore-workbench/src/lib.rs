//! Tools for files, commands and web pages, and everything that limits an agent with them: rules, permission modes, hooks and MCP
//! servers. The program `agcore` is built on it; other programs use the same tools and the same sandbox.
//!
//! ```rust
//! use std::path::Path;
//!
//! use agcore::{AgentBuilder, AgentSession, LlmProvider};
//! use agcore_workbench::program_tools::{self, ToolFolder, WebAccess};
//!
//! /// Starts a session of an agent that works in a folder.
//! fn coder(model: impl LlmProvider + 'static, folder: &Path) -> Result<AgentSession, Box<dyn std::error::Error>> {
//!     let session = AgentBuilder::new()
//!         .with_provider(model)
//!         .with_instructions("You change the files of a project.")
//!         .with_tools(program_tools::folder_registry()?)
//!         .with_state(ToolFolder::at(folder, Vec::new())?)
//!         .with_state(WebAccess::default())
//!         .session()?;
//!     Ok(session)
//! }
//! # let model = agcore::llm::provider_fn(|_| async { Ok(agcore::ChatResponse::from_text("Done.")) });
//! # coder(model, &std::env::temp_dir())?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - **A sandbox for files.** Paths are resolved relative to a handle of the folder: neither `..` nor a link leads out of it. Files
//!   that usually contain secrets are not read, and files that can start programs are asked about each time.
//! - **What a person saw is what runs.** An edit that was approved is refused if the file has changed since.
//! - **One assembly.** `Workbench::agent` is the only place of the program that builds an agent with tools, so that rules, hooks,
//!   budgets and redaction hold in chats, flows, evaluations, replays and the server.
//!
//! # Features
//!
//! <!-- features -->
//!
//! | feature | description |
//! |---|---|
//! | `clap` | Permission modes can be parsed by clap. |
//! | `mcp` | Tools of MCP servers, and the program's tools for MCP clients. Without it, servers of the settings are reported and not connected. |
//! | `sqlite` | Tools for the knowledge and the memory of a database, with SQLite built in. |
//!
//! <!-- /features -->
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod bounded_output;
pub mod shell_command;
pub mod sample_tools;
pub mod program_tools;
pub mod permission_mode;
pub mod grants;
pub mod policy;
pub mod hook_commands;
#[cfg(feature = "mcp")]
pub mod server_answers;
#[cfg(feature = "mcp")]
pub mod mcp;
#[cfg(not(feature = "mcp"))]
mod without_mcp;
#[cfg(feature = "sqlite")]
pub mod kept_tools;
pub mod chat_tools;
mod workbench;
mod surface;
mod tool_list;
mod model_window;
mod chat_prompt;
mod agent;
#[cfg(feature = "mcp")]
mod tool_server;

#[cfg(feature = "mcp")]
pub use self::tool_server::tool_server;
#[cfg(not(feature = "mcp"))]
pub use self::without_mcp::{mcp, server_answers};
pub use self::{
    agent::GuardedAgent,
    chat_prompt::{PromptTools, chat_prompt, git_branch},
    model_window::ModelWindow,
    surface::{People, Surface},
    tool_list::tool_list,
    workbench::Workbench,
};

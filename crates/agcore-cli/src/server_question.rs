//! The questions of MCP servers at the terminal: a form, a visit to a web page, or a completion by the chat's model.

#[cfg(feature = "mcp")]
mod completion;
#[cfg(feature = "mcp")]
mod dialog;
#[cfg(not(feature = "mcp"))]
mod without_mcp;

pub(crate) use agcore_workbench::server_answers::{ServerQuestion, ServerQuestions};

#[cfg(not(feature = "mcp"))]
pub(crate) use self::without_mcp::{Completer, ServerDialog};
#[cfg(feature = "mcp")]
pub(crate) use self::{completion::Completer, dialog::ServerDialog};

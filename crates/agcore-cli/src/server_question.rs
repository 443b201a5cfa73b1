//! The questions of MCP servers at the terminal: a form, a visit to a web page, or a completion by the chat's model.

mod completion;
mod dialog;

pub(crate) use agcore_workbench::server_answers::{ServerQuestion, ServerQuestions};

pub(crate) use self::{completion::Completer, dialog::ServerDialog};

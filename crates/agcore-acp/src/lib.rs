//! Agents in editors: the [Agent Client Protocol](https://agentclientprotocol.com) for sessions of agcore.
//!
//! Editors such as Zed, the IDEs of JetBrains, Neovim and Emacs start a program, and talk to it over its standard input and output.
//! A program implements [`Host`], which has the sessions, and calls [`serve`]:
//!
//! ```rust
//! use agcore_acp::{AcpError, Host, serve};
//! use tokio_util::sync::CancellationToken;
//!
//! /// Serves the editor at the other end of two streams until it closes them.
//! async fn serve_editor(host: impl Host) -> Result<(), AcpError> {
//!     let (input, output) = (tokio::io::empty(), tokio::io::sink());
//!     serve(host, input, output, CancellationToken::new()).await
//! }
//! ```
//!
//! - **Turns as updates.** [`Translator`] turns the events of a turn into text, reasoning, tool calls with kinds, files and
//!   differences, plans, and the state of the context. [`history()`] does so for a session that is opened.
//! - **Prompts as messages.** [`content_of`] turns text, links, embedded files, images, sounds and documents into the content of a
//!   message, within limits.
//! - **Questions in the editor.** [`EditorApprover`] asks about calls, with the change that they would make. "Always" answers
//!   become grants. If the editor goes meanwhile, the turn is suspended, and the question can be answered later.
//! - **Files of the editor.** [`Editor`] reads and writes files with changes that are not saved.
//! - **Hostile input.** Lines, prompts and files have limits, unknown sessions and second prompts have errors, and an editor that
//!   does not read stops its turns.
//!
//! The types of the protocol are those of the crate `agent-client-protocol`, as [`schema`].
#![cfg_attr(docsrs, feature(doc_cfg))]

mod error;
mod prompt;
mod difference;
mod call_view;
mod plan_tool;
mod translator;
mod history;
mod permission;
mod editor;
mod approver;
mod host;
mod live;
mod turns;
mod transport;
mod door;

/// The types of the protocol, version 1.
pub use agent_client_protocol::v1::schema;

pub use self::{
    approver::EditorApprover,
    call_view::{CallView, DescribeCalls, FileChange},
    door::serve,
    editor::Editor,
    error::{AcpError, AcpErrorKind},
    history::history,
    host::{
        Choice, Choices, CommandInfo, CommandResult, Host, HostedSession, ListedSession, OpenRequest, Program,
        SessionPage,
    },
    permission::{WiderGrant, options},
    plan_tool::plan_tool,
    prompt::{PromptLimits, content_of},
    translator::Translator,
};

//! `/mcp`, `/prompt` and `@SERVER:URI` in a build without MCP, where there are no servers.

use std::convert::Infallible;

use agcore::chat::ContentPart;
use agcore_workbench::mcp::Servers;

use crate::command::chat::conversation::Conversation;
use crate::exit::{Failure, missing::MCP};

/// Returns the sentence that this build has no MCP.
pub(in crate::command::chat) fn listing(_: &Conversation) -> String {
    format!("{}\n", MCP.sentence("/mcp"))
}

/// Shows that this build has no MCP.
///
/// # Errors
/// When the terminal was closed.
pub(in crate::command::chat) async fn prompt(conversation: &mut Conversation, _: &str) -> Result<(), Failure> {
    conversation.screen.error(&MCP.sentence("/prompt"))
}

/// A resource that a message mentions: there are none.
pub(in crate::command::chat) enum Resource {
    /// A block of text, and what it is.
    Text(String, String),
    /// An image, and what it is.
    Image(ContentPart, String),
}

/// Finds the server of a mention: there is none.
pub(in crate::command::chat) fn mentioned<'m>(_: &Servers, _: &'m str) -> Option<(Infallible, &'m str)> {
    None
}

/// Is never called: no server can be mentioned.
pub(in crate::command::chat) async fn read(client: Infallible, _: &str) -> Result<Vec<Resource>, String> {
    match client {}
}

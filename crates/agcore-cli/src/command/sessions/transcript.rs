//! A conversation as text for people.

use agcore::session::{MessageMetadata, MessageRole, StoredMessage};
use agcore_terminal::render::{sanitized, sanitized_line, truncated};

use crate::approve::call_text;

/// The longest result of a tool that is shown, in columns.
const MAX_RESULT: usize = 500;

/// Formats messages: who wrote them, and the calls of tools with their results.
pub(super) fn transcript(messages: &[StoredMessage]) -> String {
    let mut text = String::new();
    for message in messages {
        text += &entry(message);
    }
    text
}

fn entry(message: &StoredMessage) -> String {
    match &message.metadata {
        Some(MessageMetadata::ToolCall { name, arguments, .. }) => format!("→ {}\n\n", call_text(name, arguments)),
        Some(MessageMetadata::ToolResult { name, is_error, .. }) => {
            let sign = if *is_error { '✗' } else { '✓' };
            let result = truncated(message.content.trim(), MAX_RESULT);
            format!("{sign} {}: {result}\n\n", sanitized_line(name))
        }
        _ => {
            let author = match message.role {
                MessageRole::User => "you",
                MessageRole::Assistant => "agent",
                MessageRole::System => "system",
                MessageRole::Tool => "tool",
            };
            format!("{author}\n{}\n\n", sanitized(message.content.trim_end()))
        }
    }
}

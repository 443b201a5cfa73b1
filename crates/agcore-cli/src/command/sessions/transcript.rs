//! A conversation as text for people.

use agcore::session::{MessageMetadata, MessageRole, StoredMessage};
use agcore_terminal::{
    render::{sanitized, sanitized_line, truncated},
    transcript::{Author, Part},
};

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

/// Returns a message for a page.
pub(super) fn part(message: &StoredMessage) -> Part {
    let author = match (&message.metadata, message.role) {
        (Some(MessageMetadata::ToolCall { name, arguments, .. }), _) => {
            return Part {
                author: Author::Call(name.clone()),
                text: arguments.to_string(),
            };
        }
        (Some(MessageMetadata::ToolResult { name, is_error, .. }), _) => Author::Tool {
            name: name.clone(),
            is_error: *is_error,
        },
        (_, MessageRole::User) => Author::User,
        (_, MessageRole::Assistant) => Author::Agent,
        (_, MessageRole::System | MessageRole::Tool) => Author::Tool {
            name: "the program".to_owned(),
            is_error: false,
        },
    };
    Part {
        author,
        text: message.content.clone(),
    }
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

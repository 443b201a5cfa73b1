//! Notices about the compaction of a conversation.

use agcore_chat::{CompactionMethod, ContextEvent};

use super::text::sanitized;

/// Describes how a conversation was compacted. The token counts are estimates for a whole request.
pub fn compaction_line(method: CompactionMethod, before: u64, after: u64) -> String {
    let action = match method {
        CompactionMethod::Prune => "Removed old tool results",
        CompactionMethod::Summary => "Summarized the older part of the conversation",
        _ => "Shortened the conversation",
    };
    format!("{action}: about {before} tokens before, {after} after.")
}

/// Describes an automatic compaction, or returns `None` if there is nothing to show.
pub(super) fn context_line(event: &ContextEvent) -> Option<String> {
    match event {
        ContextEvent::Compacted {
            method,
            tokens_before,
            tokens_after,
        } => Some(format!("⇣ {}", compaction_line(*method, *tokens_before, *tokens_after))),
        ContextEvent::CompactionFailed { fault } => Some(format!(
            "⇣ Could not summarize the conversation: {}",
            sanitized(&fault.to_string())
        )),
        _ => None,
    }
}

//! What became of a conversation that was too long, in words.

use agcore::chat::{CompactionMethod, ContextEvent};

use super::text::harmless;

/// How a conversation was made shorter; tokens are estimates of a whole request.
pub(crate) fn made_shorter(method: CompactionMethod, before: u64, after: u64) -> String {
    let what = match method {
        CompactionMethod::Prune => "Old tool results were taken out",
        CompactionMethod::Summary => "The older part was summed up",
        _ => "The conversation was made shorter",
    };
    format!("{what}: about {before} tokens before, {after} after.")
}

/// What happened by itself; nothing where there is nothing to say.
pub(super) fn context_line(event: &ContextEvent) -> Option<String> {
    match event {
        ContextEvent::Compacted {
            method,
            tokens_before,
            tokens_after,
        } => Some(format!("⇣ {}", made_shorter(*method, *tokens_before, *tokens_after))),
        ContextEvent::CompactionFailed { fault } => Some(format!(
            "⇣ The conversation could not be summed up: {}",
            harmless(&fault.to_string())
        )),
        _ => None,
    }
}

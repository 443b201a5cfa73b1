//! The text of a [`NeutralResult`] for people.

use std::fmt;

use agcore_chat::text::sanitized;

use super::{NeutralCall, NeutralError, NeutralResult, NeutralUsage};

impl fmt::Display for NeutralResult {
    /// Formats the parts that the reply has, each on a line with its name before it. Control characters are replaced.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |text: &str| Some(text.trim_end().to_owned());
        let calls = self.tool_calls.iter().map(|call| ("call", Some(shown_call(call))));
        let parts = [
            ("outcome", text(&self.outcome)),
            ("reasoning", text(&self.reasoning)),
            ("text", text(&self.text)),
            ("refusal", self.refusal.clone()),
        ];
        let end = [
            ("finish", self.finish.clone()),
            ("usage", self.usage.as_ref().map(tokens)),
            ("error", self.error.as_ref().map(describe_error)),
        ];
        for (name, text) in parts.into_iter().chain(calls).chain(end) {
            let Some(text) = text.filter(|text| !text.is_empty()) else {
                continue;
            };
            writeln!(f, "{name:<10} {}", sanitized(&text).replace('\n', "\n           "))?;
        }
        Ok(())
    }
}

fn shown_call(call: &NeutralCall) -> String {
    let arguments = call.arguments_raw.clone().unwrap_or_else(|| call.arguments.to_string());
    format!("{} {} {arguments}", call.id, call.name)
}

fn tokens(usage: &NeutralUsage) -> String {
    let counts = [
        ("in", usage.input),
        ("out", usage.output),
        ("cached", usage.cached),
        ("written to cache", usage.cache_write),
        ("reasoning", usage.reasoning),
    ];
    let known = counts
        .iter()
        .filter_map(|(name, count)| Some(format!("{} {name}", (*count)?)));
    known.collect::<Vec<_>>().join(", ")
}

fn describe_error(error: &NeutralError) -> String {
    let retry = match (error.retryable, error.retry_after_ms) {
        (false, _) => String::new(),
        (true, None) => ", retryable".to_owned(),
        (true, Some(wait)) => format!(", retryable after {wait} ms"),
    };
    format!("{}{retry}: {}", error.kind, error.message)
}

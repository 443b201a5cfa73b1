//! The text of log lines.

use std::time::Duration;

use agcore_chat::text::HumanDuration;

use super::fields::Fields;

/// The width of a line of details, in bytes.
const WIDTH: usize = 90;

/// Fields that the first line shows, or that say nothing to people.
const SUMMARIZED: [&str; 15] = [
    "otel.name",
    "otel.kind",
    "otel.status_code",
    "error.type",
    "gen_ai.operation.name",
    "gen_ai.agent.name",
    "gen_ai.request.model",
    "gen_ai.tool.name",
    "gen_ai.tool.type",
    "gen_ai.workflow.name",
    "agcore.flow.node",
    "mcp.method.name",
    "gen_ai.usage.input_tokens",
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.cache_read.input_tokens",
];

/// Fields with contents of the conversation, which exist only on request, and their titles.
const CONTENTS: [(&str, &str); 6] = [
    ("gen_ai.system_instructions", "system"),
    ("gen_ai.tool.definitions", "tools"),
    ("gen_ai.input.messages", "input"),
    ("gen_ai.output.messages", "output"),
    ("gen_ai.tool.call.arguments", "arguments"),
    ("gen_ai.tool.call.result", "result"),
];

/// Returns what a span is about: `chat gpt-5-mini`.
pub(super) fn title(name: &str, fields: &Fields) -> String {
    let field = |name| fields.get(name).unwrap_or_default();
    let title = match name {
        "invoke_agent" => format!("turn {}", field("gen_ai.agent.name")),
        "execute_tool" => format!("tool {}", field("gen_ai.tool.name")),
        "invoke_workflow" => format!("flow {}", field("gen_ai.workflow.name")),
        "flow_node" => format!("node {}", field("agcore.flow.node")),
        "mcp_server" => format!("{} {}", field("mcp.method.name"), field("gen_ai.tool.name")),
        "chat" => format!("{} {}", field("gen_ai.operation.name"), field("gen_ai.request.model")),
        name => name.to_owned(),
    };
    title.trim().to_owned()
}

/// Returns the line of a span that ended: `chat gpt-5-mini: 812 in, 64 out, 1.3 s`.
pub(super) fn summary(name: &str, fields: &Fields, duration: Duration) -> String {
    let failed = fields.get("error.type").map(|kind| format!("failed ({kind})"));
    let cached = fields
        .get("gen_ai.usage.cache_read.input_tokens")
        .filter(|tokens| *tokens != "0");
    let cached = cached.map(|tokens| format!(" ({tokens} cached)")).unwrap_or_default();
    let tokens_in = fields
        .get("gen_ai.usage.input_tokens")
        .map(|tokens| format!("{tokens} in{cached}"));
    let tokens_out = fields
        .get("gen_ai.usage.output_tokens")
        .map(|tokens| format!("{tokens} out"));
    let duration = Some(HumanDuration(duration).to_string());
    let parts: Vec<String> = [failed, tokens_in, tokens_out, duration]
        .into_iter()
        .flatten()
        .collect();
    format!("{}: {}", title(name, fields), parts.join(", "))
}

/// Returns the other fields of a span, on as many lines as they need.
pub(super) fn details(fields: &Fields) -> Vec<String> {
    let is_detail = |name| !SUMMARIZED.contains(&name) && CONTENTS.iter().all(|(content, _)| *content != name);
    let mut lines: Vec<String> = Vec::new();
    for (name, value) in fields.iter().filter(|(name, _)| is_detail(*name)) {
        let field = format!("{}={value}", name.trim_start_matches("gen_ai."));
        match lines.last_mut() {
            Some(line) if line.len() + field.len() < WIDTH => {
                line.push(' ');
                line.push_str(&field);
            }
            _ => lines.push(format!("  {field}")),
        }
    }
    lines
}

/// Returns the contents of the conversation that the span has.
pub(super) fn contents(fields: &Fields) -> Vec<String> {
    let shown = CONTENTS.iter().filter_map(|(name, title)| {
        let content = fields.get(name)?;
        Some(format!("  {title}: {content}"))
    });
    shown.collect()
}

/// Returns the line of an event: its message, then its fields.
pub(super) fn event(fields: &Fields) -> String {
    let message = fields.get("message").unwrap_or_default().to_owned();
    let others = fields.iter().filter(|(name, _)| *name != "message");
    others.fold(message, |line, (name, value)| {
        format!("{line} {name}={value}").trim_start().to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_call_is_one_short_line() {
        let fields = Fields::from([
            ("gen_ai.operation.name", "chat"),
            ("gen_ai.request.model", "gpt-5-mini"),
            ("gen_ai.request.stream", "true"),
            ("gen_ai.usage.input_tokens", "812"),
            ("gen_ai.usage.output_tokens", "64"),
            ("gen_ai.usage.cache_read.input_tokens", "0"),
        ]);
        let line = summary("chat", &fields, Duration::from_millis(1300));
        assert_eq!(line, "chat gpt-5-mini: 812 in, 64 out, 1.3 s");
        assert_eq!(details(&fields), ["  request.stream=true"]);
        assert!(contents(&fields).is_empty());
    }

    #[test]
    fn a_failed_tool_names_the_kind_of_failure() {
        let fields = Fields::from([("gen_ai.tool.name", "save_note"), ("error.type", "tool")]);
        let line = summary("execute_tool", &fields, Duration::from_millis(3));
        assert_eq!(line, "tool save_note: failed (tool), 3 ms");
    }

    #[test]
    fn contents_and_details_have_lines_of_their_own() {
        let long = "x".repeat(86);
        let fields = Fields::from([("a", "1"), ("b", &long), ("gen_ai.input.messages", "[]")]);
        assert_eq!(details(&fields), ["  a=1".to_owned(), format!("  b={long}")]);
        assert_eq!(contents(&fields), ["  input: []"]);
    }

    #[test]
    fn an_event_shows_its_message_first() {
        let fields = Fields::from([("fault", "rate_limit"), ("message", "the call failed")]);
        assert_eq!(event(&fields), "the call failed fault=rate_limit");
    }
}

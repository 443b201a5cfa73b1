//! Messages and replies in the format of the conventions: a role and parts.
//!
//! See <https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/#recording-content-on-attributes>.

use agcore_chat::{
    AssistantMessage, Block, ChatRequest, ChatResponse, Content, ContentPart, Message, Role, Tool,
    redact::{KeyRedactor, redact_json},
};
use agcore_trace::attribute;
use serde_json::{Value, json};
use tracing::Span;

/// Records the system prompt, the other messages, and the tools.
pub(super) fn record_request(span: &Span, request: &ChatRequest) {
    let is_instruction = |message: &&Message| matches!(message.role(), Role::System | Role::Developer);
    let messages = || request.messages.iter().map(|message| &**message);
    // Those at the beginning are what some APIs have a place of its own for.
    let instructions: Vec<Value> = messages()
        .take_while(is_instruction)
        .map(|message| text(&message.text()))
        .collect();
    let others: Vec<Value> = messages().skip(instructions.len()).map(input).collect();
    if !instructions.is_empty() {
        record(span, attribute::SYSTEM_INSTRUCTIONS, instructions);
    }
    record(span, attribute::INPUT_MESSAGES, others);
    if !request.tools.is_empty() {
        record(
            span,
            attribute::TOOL_DEFINITIONS,
            request.tools.iter().map(definition).collect(),
        );
    }
}

/// Records values without the keys in them.
fn record(span: &Span, name: &'static str, values: Vec<Value>) {
    let mut values = Value::from(values);
    redact_json(&KeyRedactor, &mut values);
    span.record(name, values.to_string());
}

fn definition(tool: &Tool) -> Value {
    match tool {
        Tool::Function(tool) => json!({
            "type": "function", "name": tool.name, "description": tool.description, "parameters": tool.parameters,
        }),
        _ => json!({"type": "custom", "name": tool.name()}),
    }
}

pub(super) fn record_reply(span: &Span, response: &ChatResponse) {
    let choice = |choice: &agcore_chat::Choice| {
        let mut message = with_parts("assistant", assistant(&choice.message));
        let reason = choice.finish_reason.as_ref();
        // A reply without a reason has not ended as it should.
        message["finish_reason"] = reason.map_or("error", |reason| reason.as_str()).into();
        message
    };
    let messages: Vec<Value> = response.choices.iter().map(choice).collect();
    record(span, attribute::OUTPUT_MESSAGES, messages);
}

fn input(message: &Message) -> Value {
    let parts = match message {
        Message::Assistant(message) => assistant(message),
        Message::Tool(result) => vec![json!({
            "type": "tool_call_response", "id": result.tool_call_id, "response": message.text(),
        })],
        Message::User(message) => match &message.content {
            Content::Parts(parts) => parts.iter().map(user_part).collect(),
            content @ Content::Text(_) => vec![text(&content.text())],
        },
        _ => vec![text(&message.text())],
    };
    with_parts(&message.role().to_string(), parts)
}

fn with_parts(role: &str, parts: Vec<Value>) -> Value {
    json!({"role": role, "parts": parts})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "content": text})
}

/// Returns a part of a message of a user. Files and media are named, and not recorded.
fn user_part(part: &ContentPart) -> Value {
    match part {
        ContentPart::Text(part) => text(&part.text),
        ContentPart::ImageUrl(part) => match shown_url(&part.image_url.url) {
            Some(url) => json!({"type": "uri", "modality": "image", "uri": url}),
            None => json!({"type": "image"}),
        },
        ContentPart::InputAudio(_) => json!({"type": "audio"}),
        ContentPart::File(_) => json!({"type": "document"}),
        _ => json!({"type": "other"}),
    }
}

/// Returns a URL without its user, query and fragment, which may be passwords and signatures. `None` unless it is one of HTTP:
/// others may contain the image itself.
fn shown_url(url: &str) -> Option<String> {
    let (scheme, rest) = url.trim_start().split_once("://")?;
    if !["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
        return None;
    }
    // Browsers skip further slashes, and take backslashes for slashes.
    let rest = rest.trim_start_matches(['/', '\\']);
    let rest = &rest[..rest.find(['?', '#']).unwrap_or(rest.len())];
    let (host, path) = rest.split_at(rest.find(['/', '\\']).unwrap_or(rest.len()));
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    Some(format!("{scheme}://{host}{path}"))
}

fn assistant(message: &AssistantMessage) -> Vec<Value> {
    let part = |block: &Block| match block {
        Block::Text(block) => Some(text(&block.text)),
        Block::Refusal(part) => Some(text(&part.refusal)),
        Block::Reasoning(block) if block.text.is_empty() => None,
        Block::Reasoning(block) => Some(json!({"type": "reasoning", "content": block.text})),
        Block::Call(call) => Some(json!({
            "type": "tool_call", "id": call.id, "name": call.name,
            "arguments": call.arguments().cloned().map_or_else(|_| call.raw_input().into(), Value::from),
        })),
        _ => None,
    };
    message.blocks.iter().filter_map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_of_images_have_no_secrets() {
        let check = |url: &str, expected: Option<&str>| assert_eq!(shown_url(url).as_deref(), expected, "{url}");
        check("https://c.example/a.png", Some("https://c.example/a.png"));
        check("https://c.example", Some("https://c.example"));
        check(
            "HTTPS://u:p@c.example:8443/a.png?sig=1#x",
            Some("HTTPS://c.example:8443/a.png"),
        );
        check("https://u:p@@c.example#x", Some("https://c.example"));
        check("https://c.example?u@d", Some("https://c.example"));
        check("https://c.example/@a/b", Some("https://c.example/@a/b"));
        check("https:///u:p@c.example/a", Some("https://c.example/a"));
        check(" http://u@c.example\\a@b", Some("http://c.example\\a@b"));
        for url in [
            "data:image/png;base64,AAAA",
            "DATA:image/png;base64,AA://A",
            "file:///a.png",
            "s3://k@b/a",
            "a.png",
            "",
        ] {
            check(url, None);
        }
    }
}

//! Reading and validating a Messages request.

use serde_json::Value;

use crate::mock_server::{
    reply::{ApiError, ToolCall},
    wire::{
        json::{content_text, items, object, reject, require_model_and, text},
        prompt::{OfferedTool, Prompt, Role, Turn},
    },
};

/// The number of cache marks that a request may have.
const MAX_MARKS: usize = 4;

pub(super) fn read(body: &Value) -> Prompt {
    let system = content_text(&body["system"]);
    let system = (!system.is_empty()).then(|| Turn::new(Role::System, system));
    let tool = |tool: &Value| OfferedTool::from_json(&tool["name"], &tool["description"], &tool["input_schema"]);
    Prompt {
        model: text(&body["model"]).to_owned(),
        turns: system
            .into_iter()
            .chain(items(&body["messages"]).iter().flat_map(turns))
            .collect(),
        tools: items(&body["tools"]).iter().map(tool).collect(),
        schema: object(&body["output_config"]["format"]["schema"]),
        stream: body["stream"] == true,
        include_usage: true,
    }
}

/// Converts a message into turns: each tool result and the text of a user message become separate turns.
fn turns(message: &Value) -> Vec<Turn> {
    let content = content_text(&message["content"]);
    let blocks = items(&message["content"]);
    if message["role"] == "assistant" {
        let calls = blocks
            .iter()
            .filter(|block| block["type"] == "tool_use")
            .map(call)
            .collect();
        return vec![Turn::new(Role::Assistant, content).with_calls(calls)];
    }
    let results = blocks.iter().filter(|block| block["type"] == "tool_result");
    let mut turns: Vec<Turn> = results
        .map(|block| Turn::tool(text(&block["tool_use_id"]), content_text(&block["content"])))
        .collect();
    if turns.is_empty() || !content.is_empty() {
        turns.push(Turn::new(Role::User, content));
    }
    turns
}

fn call(block: &Value) -> ToolCall {
    ToolCall::new(text(&block["name"]), &block["input"]).with_id(text(&block["id"]))
}

pub(super) fn validate(body: &Value) -> Result<(), ApiError> {
    require_model_and("messages", body)?;
    if body["max_tokens"].as_u64().is_none_or(|limit| limit == 0) {
        return reject("max_tokens", "max_tokens: field required, at least 1");
    }
    if body["tools"].is_null() && !body["tool_choice"].is_null() {
        return reject("tool_choice", "tool_choice may only be specified while providing tools");
    }
    for (index, tool) in items(&body["tools"]).iter().enumerate() {
        validate_tool(tool, &format!("tools.{index}"))?;
    }
    for (index, message) in items(&body["messages"]).iter().enumerate() {
        validate_message(message, &format!("messages.{index}"))?;
    }
    validate_marks(body)
}

/// Validates the cache marks of a request.
fn validate_marks(body: &Value) -> Result<(), ApiError> {
    let messages = items(&body["messages"]);
    let contents = messages.iter().flat_map(|message| items(&message["content"]));
    let within = contents.clone().flat_map(|block| items(&block["content"]));
    let lists = [items(&body["tools"]), items(&body["system"])];
    let all = lists.into_iter().flatten().chain(contents).chain(within);
    let marked: Vec<&Value> = all.filter(|block| !block["cache_control"].is_null()).collect();
    if marked.len() > MAX_MARKS {
        let message = format!(
            "A maximum of {MAX_MARKS} blocks with cache_control may be provided. Found {}.",
            marked.len()
        );
        return reject("cache_control", message);
    }
    let is_forbidden = |block: &&Value| match text(&block["type"]) {
        "thinking" | "redacted_thinking" => true,
        "text" => text(&block["text"]).is_empty(),
        _ => block["defer_loading"] == true,
    };
    match marked.into_iter().find(is_forbidden) {
        Some(_) => reject(
            "cache_control",
            "cache_control cannot be set for thinking, empty text blocks and deferred tools",
        ),
        None => Ok(()),
    }
}

/// Validates a tool. Tools hosted by Anthropic have a dated type and no schema.
fn validate_tool(tool: &Value, path: &str) -> Result<(), ApiError> {
    if text(&tool["name"]).is_empty() {
        return reject(format!("{path}.name"), format!("{path}.name: field required"));
    }
    let is_custom = matches!(text(&tool["type"]), "" | "custom");
    if is_custom && tool["input_schema"]["type"] != "object" {
        return reject(
            format!("{path}.input_schema"),
            format!("{path}.input_schema.type: must be 'object'"),
        );
    }
    Ok(())
}

fn validate_message(message: &Value, path: &str) -> Result<(), ApiError> {
    let role = text(&message["role"]);
    if !matches!(role, "user" | "assistant") {
        return reject(
            format!("{path}.role"),
            format!("{path}.role: must be 'user' or 'assistant', is '{role}'"),
        );
    }
    let blocks = items(&message["content"]);
    if blocks.is_empty() && text(&message["content"]).is_empty() {
        return reject(
            format!("{path}.content"),
            format!("{path}: all messages must have non-empty content"),
        );
    }
    validate_blocks(role, blocks, path)
}

fn validate_blocks(role: &str, blocks: &[Value], path: &str) -> Result<(), ApiError> {
    let kind = |block: &Value, kinds: &[&str]| kinds.contains(&text(&block["type"]));
    let empty = |block: &Value| kind(block, &["text"]) && text(&block["text"]).is_empty();
    let is_thinking = |block: &Value| kind(block, &["thinking", "redacted_thinking"]);
    let has_invalid_input = |block: &Value| kind(block, &["tool_use"]) && !block["input"].is_object();
    let results_first = blocks.is_sorted_by_key(|block| !kind(block, &["tool_result"]));
    let rules = [
        (!blocks.iter().any(empty), "text content blocks must be non-empty"),
        (results_first, "tool_result blocks must come first in the content"),
        (
            role != "assistant" || !blocks.last().is_some_and(is_thinking),
            "the final block of an assistant message cannot be `thinking`",
        ),
        (
            !blocks.iter().any(has_invalid_input),
            "tool_use.input: input should be a valid dictionary",
        ),
    ];
    match rules.into_iter().find(|(is_satisfied, _)| !is_satisfied) {
        Some((_, rule)) => reject(format!("{path}.content"), format!("{path}: {rule}")),
        None => Ok(()),
    }
}

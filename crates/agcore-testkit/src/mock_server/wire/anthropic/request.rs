//! A Messages request: what it says, and whether Anthropic would take it.

use serde_json::Value;

use super::super::super::api_error::ApiError;
use super::super::super::call::ToolCall;
use super::super::super::prompt::{OfferedTool, Prompt, Role, Turn};
use super::super::json::{content_text, items, need_model_and, refuse, text};

pub(super) fn read(body: &Value) -> Prompt {
    let system = content_text(&body["system"]);
    let system = (!system.is_empty()).then(|| Turn::new(Role::System, system));
    let tool = |tool: &Value| OfferedTool::new(&tool["name"], &tool["description"], &tool["input_schema"]);
    Prompt {
        model: text(&body["model"]).to_owned(),
        turns: system
            .into_iter()
            .chain(items(&body["messages"]).iter().flat_map(turns))
            .collect(),
        tools: items(&body["tools"]).iter().map(tool).collect(),
        stream: body["stream"] == true,
        include_usage: true,
    }
}

/// A user message holds tool results and what the person said: each is a turn of its own.
fn turns(message: &Value) -> Vec<Turn> {
    let said = content_text(&message["content"]);
    let blocks = items(&message["content"]);
    if message["role"] == "assistant" {
        let calls = blocks
            .iter()
            .filter(|block| block["type"] == "tool_use")
            .map(call)
            .collect();
        return vec![Turn::new(Role::Assistant, said).with_calls(calls)];
    }
    let results = blocks.iter().filter(|block| block["type"] == "tool_result");
    let mut turns: Vec<Turn> = results
        .map(|block| Turn::tool(text(&block["tool_use_id"]), content_text(&block["content"])))
        .collect();
    if turns.is_empty() || !said.is_empty() {
        turns.push(Turn::new(Role::User, said));
    }
    turns
}

fn call(block: &Value) -> ToolCall {
    ToolCall::new(text(&block["name"]), &block["input"]).with_id(text(&block["id"]))
}

pub(super) fn judge(body: &Value) -> Result<(), ApiError> {
    need_model_and("messages", body)?;
    if body["max_tokens"].as_u64().is_none_or(|limit| limit == 0) {
        return refuse("max_tokens", "max_tokens: field required, at least 1");
    }
    if body["tools"].is_null() && !body["tool_choice"].is_null() {
        return refuse("tool_choice", "tool_choice may only be specified while providing tools");
    }
    for (index, tool) in items(&body["tools"]).iter().enumerate() {
        judge_tool(tool, &format!("tools.{index}"))?;
    }
    for (index, message) in items(&body["messages"]).iter().enumerate() {
        judge_message(message, &format!("messages.{index}"))?;
    }
    Ok(())
}

/// Hosted tools carry a dated type and no schema.
fn judge_tool(tool: &Value, place: &str) -> Result<(), ApiError> {
    if text(&tool["name"]).is_empty() {
        return refuse(format!("{place}.name"), format!("{place}.name: field required"));
    }
    let own = matches!(text(&tool["type"]), "" | "custom");
    if own && tool["input_schema"]["type"] != "object" {
        return refuse(
            format!("{place}.input_schema"),
            format!("{place}.input_schema.type: must be 'object'"),
        );
    }
    Ok(())
}

fn judge_message(message: &Value, place: &str) -> Result<(), ApiError> {
    let role = text(&message["role"]);
    if !matches!(role, "user" | "assistant") {
        return refuse(
            format!("{place}.role"),
            format!("{place}.role: must be 'user' or 'assistant', is '{role}'"),
        );
    }
    let blocks = items(&message["content"]);
    if blocks.is_empty() && text(&message["content"]).is_empty() {
        return refuse(
            format!("{place}.content"),
            format!("{place}: all messages must have non-empty content"),
        );
    }
    judge_blocks(role, blocks, place)
}

fn judge_blocks(role: &str, blocks: &[Value], place: &str) -> Result<(), ApiError> {
    let kind = |block: &Value, kinds: &[&str]| kinds.contains(&text(&block["type"]));
    let empty = |block: &Value| kind(block, &["text"]) && text(&block["text"]).is_empty();
    let thinks = |block: &Value| kind(block, &["thinking", "redacted_thinking"]);
    let raw = |block: &Value| kind(block, &["tool_use"]) && !block["input"].is_object();
    let results_first = blocks.is_sorted_by_key(|block| !kind(block, &["tool_result"]));
    let rules = [
        (!blocks.iter().any(empty), "text content blocks must be non-empty"),
        (results_first, "tool_result blocks must come first in the content"),
        (
            role != "assistant" || !blocks.last().is_some_and(thinks),
            "the final block of an assistant message cannot be `thinking`",
        ),
        (
            !blocks.iter().any(raw),
            "tool_use.input: input should be a valid dictionary",
        ),
    ];
    match rules.into_iter().find(|(kept, _)| !kept) {
        Some((_, rule)) => refuse(format!("{place}.content"), format!("{place}: {rule}")),
        None => Ok(()),
    }
}

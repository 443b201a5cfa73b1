//! A Responses request: what it says, and whether OpenAI would take it.

use serde_json::Value;

use super::super::super::api_error::ApiError;
use super::super::super::call::ToolCall;
use super::super::super::prompt::{OfferedTool, Prompt, Role, Turn};
use super::super::json::{content_text, items, need_model_and, refuse, text};

pub(super) fn read(body: &Value) -> Prompt {
    let mut turns = Vec::new();
    if let Some(instructions) = body["instructions"].as_str() {
        turns.push(Turn::new(Role::System, instructions));
    }
    match &body["input"] {
        Value::String(said) => turns.push(Turn::new(Role::User, said)),
        input => items(input).iter().for_each(|item| add(&mut turns, item)),
    }
    let tool = |tool: &Value| OfferedTool::new(&tool["name"], &tool["description"], &tool["parameters"]);
    Prompt {
        model: text(&body["model"]).to_owned(),
        turns,
        tools: items(&body["tools"]).iter().map(tool).collect(),
        stream: body["stream"] == true,
        include_usage: true,
    }
}

/// Calls are items of their own; those in a row are one assistant turn, together with a text before them.
fn add(turns: &mut Vec<Turn>, item: &Value) {
    match text(&item["type"]) {
        "function_call" | "custom_tool_call" => match turns.last_mut() {
            Some(turn) if turn.role == Role::Assistant => turn.calls.push(call(item)),
            _ => turns.push(Turn::new(Role::Assistant, "").with_calls(vec![call(item)])),
        },
        "function_call_output" | "custom_tool_call_output" => {
            turns.push(Turn::tool(text(&item["call_id"]), content_text(&item["output"])));
        }
        "message" | "" => turns.push(Turn::new(role(item), content_text(&item["content"]))),
        _ => {}
    }
}

fn role(item: &Value) -> Role {
    match text(&item["role"]) {
        "assistant" => Role::Assistant,
        "system" | "developer" => Role::System,
        _ => Role::User,
    }
}

fn call(item: &Value) -> ToolCall {
    let input = if item["type"] == "custom_tool_call" {
        "input"
    } else {
        "arguments"
    };
    ToolCall::raw(text(&item["name"]), text(&item[input])).with_id(text(&item["call_id"]))
}

pub(super) fn judge(body: &Value) -> Result<(), ApiError> {
    if text(&body["input"]).is_empty() {
        need_model_and("input", body)?;
    }
    for (index, tool) in items(&body["tools"]).iter().enumerate() {
        if tool["type"] == "function" && text(&tool["name"]).is_empty() {
            return refuse(
                format!("tools[{index}].name"),
                format!("Missing required parameter: 'tools[{index}].name'."),
            );
        }
    }
    for (index, item) in items(&body["input"]).iter().enumerate() {
        judge_item(item, &format!("input[{index}]"))?;
    }
    Ok(())
}

fn judge_item(item: &Value, place: &str) -> Result<(), ApiError> {
    let needs: &[&str] = match text(&item["type"]) {
        "function_call" => &["call_id", "name", "arguments"],
        "function_call_output" => &["call_id", "output"],
        "message" | "" => &["role", "content"],
        _ => &[],
    };
    if let Some(missing) = needs.iter().find(|member| item[**member].is_null()) {
        return refuse(
            format!("{place}.{missing}"),
            format!("Missing required parameter: '{place}.{missing}'."),
        );
    }
    let speaks = role(item) == Role::Assistant;
    for (index, part) in items(&item["content"]).iter().enumerate() {
        judge_part(text(&part["type"]), speaks, &format!("{place}.content[{index}].type"))?;
    }
    Ok(())
}

/// What the model said is `output_text` or `refusal`; what it is told is `input_…`.
fn judge_part(kind: &str, speaks: bool, place: &str) -> Result<(), ApiError> {
    let fits = if speaks {
        matches!(kind, "output_text" | "refusal")
    } else {
        kind.starts_with("input_")
    };
    // Reasoning items carry parts of their own.
    if fits || kind == "reasoning_text" {
        return Ok(());
    }
    refuse(place, format!("Invalid value: '{kind}'."))
}

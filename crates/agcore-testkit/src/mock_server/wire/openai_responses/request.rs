//! Reading and validating a Responses request.

use serde_json::Value;

use crate::mock_server::{
    reply::{ApiError, ToolCall},
    wire::{
        json::{content_text, items, object, reject, require_model_and, text},
        prompt::{OfferedTool, Prompt, Role, Turn},
    },
};

pub(super) fn read(body: &Value) -> Prompt {
    let mut turns = Vec::new();
    if let Some(instructions) = body["instructions"].as_str() {
        turns.push(Turn::new(Role::System, instructions));
    }
    match &body["input"] {
        Value::String(text) => turns.push(Turn::new(Role::User, text)),
        input => items(input).iter().for_each(|item| push_item(&mut turns, item)),
    }
    let tool = |tool: &Value| OfferedTool::from_json(&tool["name"], &tool["description"], &tool["parameters"]);
    Prompt {
        model: text(&body["model"]).to_owned(),
        turns,
        tools: items(&body["tools"]).iter().map(tool).collect(),
        schema: object(&body["text"]["format"]["schema"]),
        stream: body["stream"] == true,
        include_usage: true,
    }
}

/// Appends an item to the turns. Calls are separate items in this API: consecutive ones are merged into one assistant
/// turn, together with the assistant message before them.
fn push_item(turns: &mut Vec<Turn>, item: &Value) {
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

pub(super) fn validate(body: &Value) -> Result<(), ApiError> {
    if text(&body["input"]).is_empty() {
        require_model_and("input", body)?;
    }
    for (index, tool) in items(&body["tools"]).iter().enumerate() {
        if tool["type"] == "function" && text(&tool["name"]).is_empty() {
            return reject(
                format!("tools[{index}].name"),
                format!("Missing required parameter: 'tools[{index}].name'."),
            );
        }
    }
    for (index, item) in items(&body["input"]).iter().enumerate() {
        validate_item(item, &format!("input[{index}]"))?;
    }
    Ok(())
}

fn validate_item(item: &Value, path: &str) -> Result<(), ApiError> {
    let required: &[&str] = match text(&item["type"]) {
        "function_call" => &["call_id", "name", "arguments"],
        "function_call_output" => &["call_id", "output"],
        "message" | "" => &["role", "content"],
        _ => &[],
    };
    if let Some(missing) = required.iter().find(|member| item[**member].is_null()) {
        return reject(
            format!("{path}.{missing}"),
            format!("Missing required parameter: '{path}.{missing}'."),
        );
    }
    let is_assistant = role(item) == Role::Assistant;
    for (index, part) in items(&item["content"]).iter().enumerate() {
        validate_part(
            text(&part["type"]),
            is_assistant,
            &format!("{path}.content[{index}].type"),
        )?;
    }
    Ok(())
}

/// Validates the type of a content part: `output_text` or `refusal` in assistant messages, `input_…` in all others.
fn validate_part(kind: &str, is_assistant: bool, path: &str) -> Result<(), ApiError> {
    let is_valid = if is_assistant {
        matches!(kind, "output_text" | "refusal")
    } else {
        kind.starts_with("input_")
    };
    // Reasoning items have parts of their own type.
    if is_valid || kind == "reasoning_text" {
        return Ok(());
    }
    reject(path, format!("Invalid value: '{kind}'."))
}

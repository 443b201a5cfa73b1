//! Reading and validating a Chat Completions request.

use serde_json::Value;

use crate::mock_server::{
    reply::{ApiError, ToolCall},
    wire::{
        json::{content_text, items, object, reject, require_model_and, text},
        prompt::{OfferedTool, Prompt, Role, Turn},
    },
};

const ROLES: [&str; 6] = ["developer", "system", "user", "assistant", "tool", "function"];

pub(super) fn read(body: &Value) -> Prompt {
    Prompt {
        model: text(&body["model"]).to_owned(),
        turns: items(&body["messages"]).iter().map(turn).collect(),
        tools: items(&body["tools"]).iter().map(tool).collect(),
        schema: object(&body["response_format"]["json_schema"]["schema"]),
        stream: body["stream"] == true,
        include_usage: body["stream_options"]["include_usage"] == true,
    }
}

fn turn(message: &Value) -> Turn {
    let content = content_text(&message["content"]);
    match text(&message["role"]) {
        "tool" => Turn::tool(text(&message["tool_call_id"]), content),
        "assistant" => {
            Turn::new(Role::Assistant, content).with_calls(items(&message["tool_calls"]).iter().map(call).collect())
        }
        "system" | "developer" => Turn::new(Role::System, content),
        _ => Turn::new(Role::User, content),
    }
}

/// Reads a function call, or a custom call with free-form text.
fn call(call: &Value) -> ToolCall {
    let (body, input) = if call["custom"].is_object() {
        ("custom", "input")
    } else {
        ("function", "arguments")
    };
    ToolCall::raw(text(&call[body]["name"]), text(&call[body][input])).with_id(text(&call["id"]))
}

fn tool(tool: &Value) -> OfferedTool {
    let body = if tool["custom"].is_object() {
        &tool["custom"]
    } else {
        &tool["function"]
    };
    OfferedTool::from_json(&body["name"], &body["description"], &body["parameters"])
}

pub(super) fn validate(body: &Value) -> Result<(), ApiError> {
    require_model_and("messages", body)?;
    validate_tools(body)?;
    if !body["stream_options"].is_null() && body["stream"] != true {
        return reject(
            "stream_options",
            "'stream_options' is only allowed when 'stream' is true",
        );
    }
    for (index, message) in items(&body["messages"]).iter().enumerate() {
        validate_message(message, &format!("messages[{index}]"))?;
    }
    Ok(())
}

/// Rejects an empty list of tools, and options for tools if there are none.
fn validate_tools(body: &Value) -> Result<(), ApiError> {
    if body["tools"].as_array().is_some_and(Vec::is_empty) {
        return reject("tools", "[] is too short - 'tools'");
    }
    for member in ["tool_choice", "parallel_tool_calls"] {
        if body["tools"].is_null() && !body[member].is_null() {
            return reject(member, format!("'{member}' is only allowed when 'tools' are specified"));
        }
    }
    for (index, tool) in items(&body["tools"]).iter().enumerate() {
        if !matches!(text(&tool["type"]), "function" | "custom") {
            return reject(
                format!("tools[{index}].type"),
                "the type of a tool must be 'function' or 'custom'",
            );
        }
        if self::tool(tool).name.is_empty() {
            return reject(format!("tools[{index}]"), "a tool needs a name");
        }
    }
    Ok(())
}

fn validate_message(message: &Value, path: &str) -> Result<(), ApiError> {
    let role = text(&message["role"]);
    if !ROLES.contains(&role) {
        return reject(format!("{path}.role"), format!("'{role}' is not one of {ROLES:?}"));
    }
    if message["content"].is_null() && !may_omit_content(role, message) {
        return reject(
            format!("{path}.content"),
            "expected a string or an array of parts, got null",
        );
    }
    if message["tool_calls"].as_array().is_some_and(Vec::is_empty) {
        return reject(format!("{path}.tool_calls"), "[] is too short - 'tool_calls'");
    }
    for (index, item) in items(&message["tool_calls"]).iter().enumerate() {
        validate_call(item, &format!("{path}.tool_calls[{index}]"))?;
    }
    Ok(())
}

/// Returns whether a message may lack content: an assistant message must have another member instead, and a legacy
/// function may return nothing.
fn may_omit_content(role: &str, message: &Value) -> bool {
    let alternatives = ["tool_calls", "function_call", "refusal", "audio"];
    let has_alternative = alternatives.iter().any(|member| !message[*member].is_null());
    role == "function" || (role == "assistant" && has_alternative)
}

fn validate_call(item: &Value, path: &str) -> Result<(), ApiError> {
    if text(&item["id"]).is_empty() {
        return reject(format!("{path}.id"), "a tool call needs an id");
    }
    if call(item).name.is_empty() {
        return reject(format!("{path}.function.name"), "a tool call needs a name");
    }
    if text(&item["type"]) == "function" && !item["function"]["arguments"].is_string() {
        return reject(format!("{path}.function.arguments"), "arguments must be a string");
    }
    Ok(())
}

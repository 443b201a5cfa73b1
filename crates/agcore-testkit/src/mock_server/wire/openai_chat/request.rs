//! A chat request: what it says, and whether OpenAI would take it.

use serde_json::Value;

use super::super::super::api_error::ApiError;
use super::super::super::call::ToolCall;
use super::super::super::prompt::{OfferedTool, Prompt, Role, Turn};
use super::super::json::{content_text, items, need_model_and, refuse, text};

const ROLES: [&str; 6] = ["developer", "system", "user", "assistant", "tool", "function"];

pub(super) fn read(body: &Value) -> Prompt {
    Prompt {
        model: text(&body["model"]).to_owned(),
        turns: items(&body["messages"]).iter().map(turn).collect(),
        tools: items(&body["tools"]).iter().map(tool).collect(),
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

/// A function call, or a custom call with its free text.
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
    OfferedTool::new(&body["name"], &body["description"], &body["parameters"])
}

pub(super) fn judge(body: &Value) -> Result<(), ApiError> {
    need_model_and("messages", body)?;
    judge_tools(body)?;
    if !body["stream_options"].is_null() && body["stream"] != true {
        return refuse(
            "stream_options",
            "'stream_options' is only allowed when 'stream' is true",
        );
    }
    for (index, message) in items(&body["messages"]).iter().enumerate() {
        judge_message(message, &format!("messages[{index}]"))?;
    }
    Ok(())
}

/// An empty list of tools is refused, and so is what steers tools when there are none.
fn judge_tools(body: &Value) -> Result<(), ApiError> {
    if body["tools"].as_array().is_some_and(Vec::is_empty) {
        return refuse("tools", "[] is too short - 'tools'");
    }
    for member in ["tool_choice", "parallel_tool_calls"] {
        if body["tools"].is_null() && !body[member].is_null() {
            return refuse(member, format!("'{member}' is only allowed when 'tools' are specified"));
        }
    }
    for (index, tool) in items(&body["tools"]).iter().enumerate() {
        if !matches!(text(&tool["type"]), "function" | "custom") {
            return refuse(
                format!("tools[{index}].type"),
                "a tool is of type 'function' or 'custom'",
            );
        }
        if self::tool(tool).name.is_empty() {
            return refuse(format!("tools[{index}]"), "a tool needs a name");
        }
    }
    Ok(())
}

fn judge_message(message: &Value, place: &str) -> Result<(), ApiError> {
    let role = text(&message["role"]);
    if !ROLES.contains(&role) {
        return refuse(format!("{place}.role"), format!("'{role}' is not one of {ROLES:?}"));
    }
    if message["content"].is_null() && !may_be_silent(role, message) {
        return refuse(
            format!("{place}.content"),
            "expected a string or an array of parts, got null",
        );
    }
    if message["tool_calls"].as_array().is_some_and(Vec::is_empty) {
        return refuse(format!("{place}.tool_calls"), "[] is too short - 'tool_calls'");
    }
    for (index, item) in items(&message["tool_calls"]).iter().enumerate() {
        judge_call(item, &format!("{place}.tool_calls[{index}]"))?;
    }
    Ok(())
}

/// An assistant message that says nothing must do something; a legacy function may return nothing.
fn may_be_silent(role: &str, message: &Value) -> bool {
    let deeds = ["tool_calls", "function_call", "refusal", "audio"];
    let does = deeds.iter().any(|deed| !message[*deed].is_null());
    role == "function" || (role == "assistant" && does)
}

fn judge_call(item: &Value, place: &str) -> Result<(), ApiError> {
    if text(&item["id"]).is_empty() {
        return refuse(format!("{place}.id"), "a tool call needs an id");
    }
    if call(item).name.is_empty() {
        return refuse(format!("{place}.function.name"), "a tool call needs a name");
    }
    if text(&item["type"]) == "function" && !item["function"]["arguments"].is_string() {
        return refuse(format!("{place}.function.arguments"), "arguments must be a string");
    }
    Ok(())
}

//! An Ollama chat request: what it says, and whether the server would take it.

use serde_json::Value;

use super::super::super::api_error::ApiError;
use super::super::super::call::ToolCall;
use super::super::super::prompt::{OfferedTool, Prompt, Role, Turn};
use super::super::json::{items, refuse, text};

/// Streaming is what Ollama does unless told otherwise.
pub(super) fn read(body: &Value) -> Prompt {
    let tool = |tool: &Value| {
        let body = &tool["function"];
        OfferedTool::new(&body["name"], &body["description"], &body["parameters"])
    };
    Prompt {
        model: text(&body["model"]).to_owned(),
        turns: turns(items(&body["messages"])),
        tools: items(&body["tools"]).iter().map(tool).collect(),
        stream: body["stream"] != false,
        include_usage: true,
    }
}

/// A result names its call by id, or, as older clients do, by the tool's name and by order: such pairs get made-up ids here.
fn turns(messages: &[Value]) -> Vec<Turn> {
    let mut turns = Vec::new();
    let mut open: Vec<ToolCall> = Vec::new();
    for message in messages {
        let content = text(&message["content"]);
        turns.push(match text(&message["role"]) {
            "tool" => {
                let (id, name) = (text(&message["tool_call_id"]), text(&message["tool_name"]));
                Turn::tool(close(&mut open, id, name), content)
            }
            "assistant" => {
                open = items(&message["tool_calls"]).iter().enumerate().map(call).collect();
                Turn::new(Role::Assistant, content).with_calls(open.clone())
            }
            "system" => Turn::new(Role::System, content),
            _ => Turn::new(Role::User, content),
        });
    }
    turns
}

fn call((index, call): (usize, &Value)) -> ToolCall {
    let body = &call["function"];
    let id = match text(&call["id"]) {
        "" => format!("#{index}"),
        id => id.to_owned(),
    };
    ToolCall::new(text(&body["name"]), &body["arguments"]).with_id(id)
}

/// The id that the result names, else that of the first open call of that name, else of the first open call.
fn close(open: &mut Vec<ToolCall>, id: &str, name: &str) -> String {
    if !id.is_empty() {
        open.retain(|call| call.id != id);
        return id.to_owned();
    }
    let place = open.iter().position(|call| call.name == name).unwrap_or(0);
    if place < open.len() {
        open.remove(place).id
    } else {
        String::new()
    }
}

/// The types that the server's own request has (ollama/ollama, api/types.go): anything else does not unmarshal.
pub(super) fn judge(body: &Value) -> Result<(), ApiError> {
    if text(&body["model"]).is_empty() {
        return refuse("model", "model is required");
    }
    if !matches!(&body["options"], Value::Null | Value::Object(_)) {
        return refuse("options", "cannot unmarshal options: want an object");
    }
    if !matches!(&body["options"]["stop"], Value::Null | Value::Array(_)) {
        return refuse("options", "option \"stop\" must be of type array");
    }
    if !is_think(&body["think"]) {
        return refuse(
            "think",
            "think must be a boolean or \"high\", \"medium\", \"low\", \"max\"",
        );
    }
    items(&body["messages"]).iter().try_for_each(judge_message)
}

fn is_think(think: &Value) -> bool {
    match think {
        Value::Null | Value::Bool(_) => true,
        other => matches!(text(other), "high" | "medium" | "low" | "max"),
    }
}

fn judge_message(message: &Value) -> Result<(), ApiError> {
    if !matches!(&message["content"], Value::Null | Value::String(_)) {
        return refuse("messages", "cannot unmarshal messages.content: want a string");
    }
    let is_base64 = |image: &Value| {
        let is_of_it = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
        image
            .as_str()
            .is_some_and(|text| text.len() % 4 == 0 && text.bytes().all(is_of_it))
    };
    if !items(&message["images"]).iter().all(is_base64) {
        return refuse("messages", "illegal base64 data in messages.images");
    }
    let is_object = |call: &Value| call["function"]["arguments"].is_object();
    if !items(&message["tool_calls"]).iter().all(is_object) {
        return refuse(
            "messages",
            "cannot unmarshal tool_calls.function.arguments: want an object",
        );
    }
    Ok(())
}

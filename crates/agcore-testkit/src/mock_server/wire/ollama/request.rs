//! Reading and validating an Ollama chat request.

use serde_json::Value;

use crate::mock_server::{
    reply::{ApiError, ToolCall},
    wire::{
        json::{items, object, reject, text},
        prompt::{OfferedTool, Prompt, Role, Turn},
    },
};

/// Reads a request. Ollama streams by default.
pub(super) fn read(body: &Value) -> Prompt {
    let tool = |tool: &Value| {
        let body = &tool["function"];
        OfferedTool::from_json(&body["name"], &body["description"], &body["parameters"])
    };
    Prompt {
        model: text(&body["model"]).to_owned(),
        turns: turns(items(&body["messages"])),
        tools: items(&body["tools"]).iter().map(tool).collect(),
        schema: object(&body["format"]),
        stream: body["stream"] != false,
        include_usage: true,
    }
}

/// Reads the turns. A result refers to its call by id or, from older clients, by the tool's name and by order; calls
/// without an id get a generated one.
fn turns(messages: &[Value]) -> Vec<Turn> {
    let mut turns = Vec::new();
    let mut open: Vec<ToolCall> = Vec::new();
    for message in messages {
        let content = text(&message["content"]);
        turns.push(match text(&message["role"]) {
            "tool" => {
                let (id, name) = (text(&message["tool_call_id"]), text(&message["tool_name"]));
                Turn::tool(remove_answered(&mut open, id, name), content)
            }
            "assistant" => {
                let calls = items(&message["tool_calls"]).iter().enumerate();
                open = calls.map(|(index, item)| call(index, item)).collect();
                Turn::new(Role::Assistant, content).with_calls(open.clone())
            }
            "system" => Turn::new(Role::System, content),
            _ => Turn::new(Role::User, content),
        });
    }
    turns
}

fn call(index: usize, call: &Value) -> ToolCall {
    let body = &call["function"];
    let id = match text(&call["id"]) {
        "" => format!("#{index}"),
        id => id.to_owned(),
    };
    ToolCall::new(text(&body["name"]), &body["arguments"]).with_id(id)
}

/// Removes the call that a result answers from `open` and returns its id: the call with the result's id, or else the
/// first call of the tool `name`, or else the first call.
fn remove_answered(open: &mut Vec<ToolCall>, id: &str, name: &str) -> String {
    if !id.is_empty() {
        open.retain(|call| call.id != id);
        return id.to_owned();
    }
    let position = open.iter().position(|call| call.name == name).unwrap_or(0);
    if position < open.len() {
        open.remove(position).id
    } else {
        String::new()
    }
}

/// Validates the types of members against the request type of the server (ollama/ollama, api/types.go), which fails to
/// unmarshal anything else.
pub(super) fn validate(body: &Value) -> Result<(), ApiError> {
    if text(&body["model"]).is_empty() {
        return reject("model", "model is required");
    }
    if !matches!(&body["options"], Value::Null | Value::Object(_)) {
        return reject("options", "cannot unmarshal options: want an object");
    }
    if !matches!(&body["options"]["stop"], Value::Null | Value::Array(_)) {
        return reject("options", "option \"stop\" must be of type array");
    }
    if !is_think(&body["think"]) {
        return reject(
            "think",
            "think must be a boolean or \"high\", \"medium\", \"low\", \"max\"",
        );
    }
    items(&body["messages"]).iter().try_for_each(validate_message)
}

fn is_think(think: &Value) -> bool {
    match think {
        Value::Null | Value::Bool(_) => true,
        other => matches!(text(other), "high" | "medium" | "low" | "max"),
    }
}

fn validate_message(message: &Value) -> Result<(), ApiError> {
    if !matches!(&message["content"], Value::Null | Value::String(_)) {
        return reject("messages", "cannot unmarshal messages.content: want a string");
    }
    let is_base64 = |image: &Value| {
        let is_base64_byte = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
        image
            .as_str()
            .is_some_and(|text| text.len() % 4 == 0 && text.bytes().all(is_base64_byte))
    };
    if !items(&message["images"]).iter().all(is_base64) {
        return reject("messages", "illegal base64 data in messages.images");
    }
    let has_object_arguments = |call: &Value| call["function"]["arguments"].is_object();
    if !items(&message["tool_calls"]).iter().all(has_object_arguments) {
        return reject(
            "messages",
            "cannot unmarshal tool_calls.function.arguments: want an object",
        );
    }
    Ok(())
}

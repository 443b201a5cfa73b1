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

/// This wire pairs a result with its call by the tool's name and by order; the pairs get made-up ids here.
fn turns(messages: &[Value]) -> Vec<Turn> {
    let mut turns = Vec::new();
    let mut open: Vec<ToolCall> = Vec::new();
    for message in messages {
        let content = text(&message["content"]);
        turns.push(match text(&message["role"]) {
            "tool" => Turn::tool(close(&mut open, text(&message["tool_name"])), content),
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
    ToolCall::new(text(&body["name"]), &body["arguments"]).with_id(format!("#{index}"))
}

/// The id of the first open call of that name, else of the first open call.
fn close(open: &mut Vec<ToolCall>, name: &str) -> String {
    let place = open.iter().position(|call| call.name == name).unwrap_or(0);
    if place < open.len() {
        open.remove(place).id
    } else {
        String::new()
    }
}

pub(super) fn judge(body: &Value) -> Result<(), ApiError> {
    if text(&body["model"]).is_empty() {
        return refuse("model", "model is required");
    }
    let calls = items(&body["messages"])
        .iter()
        .flat_map(|message| items(&message["tool_calls"]));
    for call in calls {
        if !call["function"]["arguments"].is_object() {
            return refuse(
                "messages",
                "cannot unmarshal tool_calls.function.arguments: want an object",
            );
        }
    }
    Ok(())
}

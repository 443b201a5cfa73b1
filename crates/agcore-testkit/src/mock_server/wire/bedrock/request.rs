//! Reading and validating a Converse request.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::mock_server::{
    reply::{ApiError, ToolCall},
    wire::{
        json::{content_text, items, object, reject, text},
        prompt::{OfferedTool, Prompt, Role, Turn},
    },
};

/// The number of cache points that a request may have.
const MAX_POINTS: usize = 4;

/// Reads a request. Its path contains the model and whether to stream.
pub(super) fn read(body: &Value) -> Prompt {
    let system = content_text(&body["system"]);
    let system = (!system.is_empty()).then(|| Turn::new(Role::System, system));
    let schema = text(&body["outputConfig"]["textFormat"]["structure"]["jsonSchema"]["schema"]);
    let tool = |tool: &Value| {
        let spec = &tool["toolSpec"];
        OfferedTool::from_json(&spec["name"], &spec["description"], &spec["inputSchema"]["json"])
    };
    let functions = items(&body["toolConfig"]["tools"]).iter();
    Prompt {
        turns: system
            .into_iter()
            .chain(items(&body["messages"]).iter().flat_map(turns))
            .collect(),
        tools: functions
            .filter(|tool| tool["toolSpec"].is_object())
            .map(tool)
            .collect(),
        schema: serde_json::from_str(schema).ok().as_ref().and_then(object),
        include_usage: true,
        ..Prompt::default()
    }
}

fn members<'a>(message: &'a Value, name: &'a str) -> impl Iterator<Item = &'a Value> {
    let blocks = items(&message["content"]).iter();
    blocks
        .map(move |block| &block[name])
        .filter(|member| member.is_object())
}

/// Converts a message into turns: each tool result and the text of a user message become separate turns.
fn turns(message: &Value) -> Vec<Turn> {
    let words = content_text(&message["content"]);
    if message["role"] == "assistant" {
        let call = |call: &Value| ToolCall::new(text(&call["name"]), &call["input"]).with_id(text(&call["toolUseId"]));
        let calls = members(message, "toolUse").map(call).collect();
        return vec![Turn::new(Role::Assistant, words).with_calls(calls)];
    }
    let result = |result: &Value| Turn::tool(text(&result["toolUseId"]), content_text(&result["content"]));
    let mut turns: Vec<Turn> = members(message, "toolResult").map(result).collect();
    if turns.is_empty() || !words.is_empty() {
        turns.push(Turn::new(Role::User, words));
    }
    turns
}

/// Validates the rules of the server that clients break most often.
pub(super) fn validate(body: &Value) -> Result<(), ApiError> {
    let messages = items(&body["messages"]);
    if messages.is_empty() {
        return reject("messages", "The messages field must not be empty.");
    }
    for message in messages {
        validate_message(message)?;
    }
    validate_results(messages)?;
    let tools = items(&body["toolConfig"]["tools"]);
    let uses_tools = |message: &Value| {
        let names = ["toolUse", "toolResult"];
        names.iter().any(|name| members(message, name).next().is_some())
    };
    if tools.is_empty() && (messages.iter().any(uses_tools) || !body["toolConfig"].is_null()) {
        return reject(
            "toolConfig",
            "The toolConfig field must be defined when using toolUse and toolResult content blocks.",
        );
    }
    let has_schema =
        |tool: &Value| tool["toolSpec"].is_null() || tool["toolSpec"]["inputSchema"]["json"]["type"] == "object";
    if !tools.iter().all(has_schema) {
        return reject(
            "toolConfig",
            "The value at toolConfig.tools.toolSpec.inputSchema.json.type must be object.",
        );
    }
    validate_points(body)?;
    validate_names(messages)
}

fn validate_message(message: &Value) -> Result<(), ApiError> {
    if !["user", "assistant"].contains(&text(&message["role"])) {
        return reject("messages", "The role of a message must be user or assistant.");
    }
    let blocks = items(&message["content"]);
    let is_blank = |block: &Value| block["text"].is_string() && text(&block["text"]).trim().is_empty();
    let has_empty_result =
        |block: &Value| block["toolResult"].is_object() && items(&block["toolResult"]["content"]).is_empty();
    let has_invalid_input = |block: &Value| block["toolUse"].is_object() && !block["toolUse"]["input"].is_object();
    let rules = [
        (blocks.is_empty(), "The content field of a message is empty."),
        (
            blocks.iter().any(is_blank),
            "The text field in the ContentBlock object is blank.",
        ),
        (
            blocks.iter().any(has_empty_result),
            "The content field of a toolResult is empty.",
        ),
        (
            blocks.iter().any(has_invalid_input),
            "The format of the value at toolUse.input is invalid. Provide a json object.",
        ),
    ];
    match rules.into_iter().find(|(is_broken, _)| *is_broken) {
        Some((_, rule)) => reject("messages", rule),
        None => Ok(()),
    }
}

/// Checks that each message has one result for each call of the message before it.
fn validate_results(messages: &[Value]) -> Result<(), ApiError> {
    let ids = |message: &Value, name: &str| -> Vec<String> {
        let mut ids: Vec<String> = members(message, name)
            .map(|member| text(&member["toolUseId"]).to_owned())
            .collect();
        ids.sort();
        ids
    };
    for pair in messages.windows(2) {
        let (calls, results) = (ids(&pair[0], "toolUse"), ids(&pair[1], "toolResult"));
        if pair[0]["role"] == "assistant" && calls != results {
            return reject(
                "messages",
                "The number of toolResult blocks exceeds or does not match the toolUse blocks of the previous turn.",
            );
        }
    }
    Ok(())
}

fn validate_points(body: &Value) -> Result<(), ApiError> {
    let contents = items(&body["messages"])
        .iter()
        .flat_map(|message| items(&message["content"]));
    let lists = [items(&body["toolConfig"]["tools"]), items(&body["system"])];
    let all = lists.into_iter().flatten().chain(contents);
    let points = all.filter(|block| block["cachePoint"].is_object()).count();
    match points > MAX_POINTS {
        true => reject(
            "messages",
            format!("You have {points} cache points, but only {MAX_POINTS} are allowed."),
        ),
        false => Ok(()),
    }
}

/// Checks that no two documents have the same name, in the whole request.
fn validate_names(messages: &[Value]) -> Result<(), ApiError> {
    let mut names = BTreeSet::new();
    for document in messages.iter().flat_map(|message| members(message, "document")) {
        if !names.insert(text(&document["name"])) {
            return reject("messages", "Document file names must be unique within a request.");
        }
    }
    Ok(())
}

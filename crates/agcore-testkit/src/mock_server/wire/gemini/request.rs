//! Reading and validating a request to generate content.

use serde_json::Value;

use crate::mock_server::{
    reply::{ApiError, ToolCall},
    wire::{
        json::{items, object, reject, text},
        prompt::{OfferedTool, Prompt, Role, Turn},
    },
};

/// Reads a request. Its path contains the model and whether to stream.
pub(super) fn read(body: &Value) -> Prompt {
    let system = joined(items(&body["systemInstruction"]["parts"]));
    let system = (!system.is_empty()).then(|| Turn::new(Role::System, system));
    let config = &body["generationConfig"];
    let schemas = [&config["responseJsonSchema"], &config["responseSchema"]];
    Prompt {
        turns: system.into_iter().chain(turns(items(&body["contents"]))).collect(),
        tools: functions(body).map(tool).collect(),
        schema: schemas.into_iter().find_map(object),
        include_usage: true,
        ..Prompt::default()
    }
}

/// Returns the texts of parts, without thoughts.
fn joined(parts: &[Value]) -> String {
    let visible = parts.iter().filter(|part| part["thought"] != true);
    visible.map(|part| text(&part["text"])).collect()
}

fn functions(body: &Value) -> impl Iterator<Item = &Value> {
    let tools = items(&body["tools"]).iter();
    tools.flat_map(|tool| items(&tool["functionDeclarations"]))
}

fn tool(function: &Value) -> OfferedTool {
    let schema = match &function["parametersJsonSchema"] {
        Value::Null => &function["parameters"],
        schema => schema,
    };
    OfferedTool::from_json(&function["name"], &function["description"], schema)
}

/// Reads the turns. A result refers to its call by id or, where calls have none, by name and order.
fn turns(contents: &[Value]) -> Vec<Turn> {
    let (mut turns, mut open) = (Vec::new(), Vec::new());
    for content in contents {
        let parts = items(&content["parts"]);
        if content["role"] == "model" {
            let calls = parts
                .iter()
                .map(|part| &part["functionCall"])
                .filter(|call| call.is_object());
            open = calls.enumerate().map(call).collect();
            turns.push(Turn::new(Role::Assistant, joined(parts)).with_calls(open.clone()));
            continue;
        }
        let results = parts
            .iter()
            .map(|part| &part["functionResponse"])
            .filter(|result| result.is_object());
        let before = turns.len();
        turns.extend(results.map(|result| Turn::tool(remove_answered(&mut open, result), output(result))));
        let words = joined(parts);
        if turns.len() == before || !words.is_empty() {
            turns.push(Turn::new(Role::User, words));
        }
    }
    turns
}

fn call((index, call): (usize, &Value)) -> ToolCall {
    let id = match text(&call["id"]) {
        "" => format!("#{index}"),
        id => id.to_owned(),
    };
    ToolCall::new(text(&call["name"]), &call["args"]).with_id(id)
}

/// Removes the call that a result answers from `open` and returns its id.
fn remove_answered(open: &mut Vec<ToolCall>, result: &Value) -> String {
    let (id, name) = (text(&result["id"]), text(&result["name"]));
    let is_answered = |call: &ToolCall| {
        if id.is_empty() {
            call.name == name
        } else {
            call.id == id
        }
    };
    match open.iter().position(is_answered) {
        Some(position) => open.remove(position).id,
        None => id.to_owned(),
    }
}

/// Returns the text of a result, whose `response` is an object.
fn output(result: &Value) -> String {
    let response = &result["response"];
    match (&response["output"], &response["error"]) {
        (Value::String(output), _) => output.clone(),
        (_, Value::String(error)) => error.clone(),
        _ => response.to_string(),
    }
}

/// Validates the rules of the server that clients break most often.
pub(super) fn validate(body: &Value) -> Result<(), ApiError> {
    let contents = items(&body["contents"]);
    if contents.is_empty() {
        return reject(
            "contents",
            "* GenerateContentRequest.contents: contents is not specified",
        );
    }
    contents.iter().try_for_each(validate_content)?;
    for pair in contents.windows(2) {
        validate_results(&pair[0], &pair[1])?;
    }
    if !body["toolConfig"]["functionCallingConfig"].is_null() && functions(body).next().is_none() {
        return reject(
            "tool_config",
            "Function calling config is set without function_declarations.",
        );
    }
    let thinking = &body["generationConfig"]["thinkingConfig"];
    if !thinking["thinkingBudget"].is_null() && !thinking["thinkingLevel"].is_null() {
        return reject(
            "generation_config",
            "You can only set only one of thinking budget and thinking level.",
        );
    }
    Ok(())
}

fn validate_content(content: &Value) -> Result<(), ApiError> {
    if !["user", "model"].contains(&text(&content["role"])) {
        return reject("contents", "Please use a valid role: user, model.");
    }
    let parts = items(&content["parts"]);
    if parts.is_empty() {
        return reject(
            "contents",
            "* GenerateContentRequest.contents.parts: contents.parts must not be empty.",
        );
    }
    let has_invalid_object = |part: &Value| {
        let (call, result) = (&part["functionCall"], &part["functionResponse"]);
        let is_invalid = |owner: &Value, member: &str| owner.is_object() && !owner[member].is_object();
        (is_invalid(call, "args") && !call["args"].is_null()) || is_invalid(result, "response")
    };
    if parts.iter().any(has_invalid_object) {
        return reject(
            "contents",
            "Invalid value at 'contents.parts': want an object (type.googleapis.com/google.protobuf.Struct)",
        );
    }
    Ok(())
}

/// Checks that calls are followed by a content with just as many results, and nothing else.
fn validate_results(content: &Value, next: &Value) -> Result<(), ApiError> {
    let count = |content: &Value, member: &str| {
        let parts = items(&content["parts"]).iter();
        parts.filter(|part| part[member].is_object()).count()
    };
    let (calls, results) = (count(content, "functionCall"), count(next, "functionResponse"));
    let is_alone = results == 0 || results == items(&next["parts"]).len();
    if calls == results && is_alone {
        return Ok(());
    }
    reject(
        "contents",
        "Please ensure that the number of function response parts is equal to the number of function call parts of the \
         function call turn.",
    )
}

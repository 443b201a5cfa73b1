//! Helpers for reading JSON requests, shared by the wires.

use serde_json::Value;

use crate::mock_server::reply::ApiError;

/// Returns the items of an array, or an empty slice for any other value.
pub(super) fn items(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Returns the content of a string, or `""` for any other value.
pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Returns a copy of an object, or `None` for any other value.
pub(super) fn object(value: &Value) -> Option<Value> {
    value.is_object().then(|| value.clone())
}

/// Returns the text of a message's content: a string, or the concatenated `text` and `refusal` members of its parts.
pub(super) fn content_text(content: &Value) -> String {
    match content {
        Value::Array(parts) => {
            let part_text = |part: &Value| [&part["text"], &part["refusal"]].map(text).concat();
            parts.iter().map(part_text).collect()
        }
        other => text(other).to_owned(),
    }
}

/// Returns a 400 error that names the invalid parameter.
pub(super) fn reject(param: impl Into<String>, message: impl Into<String>) -> Result<(), ApiError> {
    Err(ApiError::new(400).with_param(param).with_message(message))
}

/// Rejects a body without a model or without a non-empty array `list`.
pub(super) fn require_model_and(list: &str, body: &Value) -> Result<(), ApiError> {
    if text(&body["model"]).is_empty() {
        return reject("model", "you must provide a model parameter");
    }
    if items(&body[list]).is_empty() {
        return reject(list, format!("'{list}' must be an array with at least one item"));
    }
    Ok(())
}

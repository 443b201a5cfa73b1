//! Small readers of JSON that the wires share.

use serde_json::Value;

use super::super::api_error::ApiError;

/// The items of an array; none for anything else.
pub(super) fn items(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// A string; `""` for anything else.
pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The text of a content: a string, or the `text` (or `refusal`) members of its parts, joined.
pub(super) fn content_text(content: &Value) -> String {
    match content {
        Value::Array(parts) => {
            let of = |part: &Value| [&part["text"], &part["refusal"]].map(text).concat();
            parts.iter().map(of).collect()
        }
        other => text(other).to_owned(),
    }
}

/// A 400 that names the parameter at fault.
pub(super) fn refuse(param: impl Into<String>, message: impl Into<String>) -> Result<(), ApiError> {
    Err(ApiError::new(400).with_param(param).with_message(message))
}

/// Refuses a body without a model or without a non-empty array `list`.
pub(super) fn need_model_and(list: &str, body: &Value) -> Result<(), ApiError> {
    if text(&body["model"]).is_empty() {
        return refuse("model", "you must provide a model parameter");
    }
    if items(&body[list]).is_empty() {
        return refuse(list, format!("'{list}' must be an array with at least one item"));
    }
    Ok(())
}

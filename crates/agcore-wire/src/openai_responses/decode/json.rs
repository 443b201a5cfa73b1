//! Helpers for JSON values. A value that does not have the expected type counts as absent.

use serde_json::{Map, Value, value::RawValue};

/// Parses an object.
pub(super) fn object(raw: Option<&RawValue>) -> serde_json::Result<Option<Map<String, Value>>> {
    let value = raw.map(|raw| serde_json::from_str(raw.get())).transpose()?;
    Ok(match value {
        Some(Value::Object(members)) => Some(members),
        _ => None,
    })
}

/// Returns the value, or `None` if it is `{}`, `[]` or `""`, which some servers send for absent values.
pub(super) fn non_blank(raw: Option<&RawValue>) -> Option<&RawValue> {
    raw.filter(|raw| !matches!(raw.get(), "{}" | "[]" | "\"\""))
}

/// Returns the items of a list.
pub(super) fn list(value: Option<Value>) -> Vec<Value> {
    match value {
        Some(Value::Array(items)) => items,
        _ => Vec::new(),
    }
}

/// Removes a member and returns it as text. Other values than strings, such as arguments that are an object, become their
/// JSON text.
pub(super) fn take_text(members: &mut Map<String, Value>, name: &str) -> String {
    match members.shift_remove(name) {
        Some(Value::String(text)) => text,
        None | Some(Value::Null) => String::new(),
        Some(other) => other.to_string(),
    }
}

/// Returns the type of an item or a part.
pub(super) fn type_of(members: &Map<String, Value>) -> &str {
    members.get("type").and_then(Value::as_str).unwrap_or_default()
}

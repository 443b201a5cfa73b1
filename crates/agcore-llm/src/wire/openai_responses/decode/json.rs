//! Small readers of JSON: what is not of the expected form is nothing.

use serde_json::{Map, Value, value::RawValue};

/// An object.
pub(super) fn object(raw: Option<&RawValue>) -> serde_json::Result<Option<Map<String, Value>>> {
    let value = raw.map(|raw| serde_json::from_str(raw.get())).transpose()?;
    Ok(match value {
        Some(Value::Object(members)) => Some(members),
        _ => None,
    })
}

/// The value, unless it says nothing: `null`, `{}`, `[]` and `""` are as good as absent.
pub(super) fn filled(raw: Option<&RawValue>) -> Option<&RawValue> {
    raw.filter(|raw| !matches!(raw.get(), "{}" | "[]" | "\"\""))
}

/// The items of a list.
pub(super) fn list(value: Option<Value>) -> Vec<Value> {
    match value {
        Some(Value::Array(items)) => items,
        _ => Vec::new(),
    }
}

/// The text of a member, which is taken out; arguments that are an object are their JSON text.
pub(super) fn text_of(members: &mut Map<String, Value>, name: &str) -> String {
    match members.shift_remove(name) {
        Some(Value::String(text)) => text,
        None | Some(Value::Null) => String::new(),
        Some(other) => other.to_string(),
    }
}

/// The type of an item or part.
pub(super) fn type_of(members: &Map<String, Value>) -> &str {
    members.get("type").and_then(Value::as_str).unwrap_or_default()
}

//! [`compile_ui_schema`]: from the hints of a tool to what a client draws.

use serde_json::{Map, Value, json};

/// The version of the schema, in its member `version`.
const VERSION: u32 = 1;

/// The most fields, columns and actions that are drawn.
const MAX_FIELDS: usize = 32;

/// The most rows that are drawn. The schema contains their number.
const MAX_ROWS: usize = 100;

/// Compiles the hints of a tool for its output into a schema that contains everything a client needs to draw it.
///
/// Hints are an object. Texts that start with `/` are JSON Pointers into the output, and are replaced by what they point to;
/// `//` stands for a text that starts with a slash. What a pointer does not find is left out.
///
/// | member | meaning |
/// |---|---|
/// | `component` | `card` (the default), `list`, `table`, `text`, or a name that the client knows |
/// | `title`, `text` | a text or a pointer |
/// | `fields` | an object from labels to values; drawn by a card |
/// | `items` | a pointer to an array; the rows of a list or table |
/// | `columns` | an object from labels to pointers into one item |
/// | `actions` | an array of texts, or objects with `label` and further members, which are passed on |
///
/// Hints that are not an object become the member `hints` of a schema with the component `raw`, because a tool and a client may
/// have an agreement of their own.
///
/// ```
/// use agcore_agui::compile_ui_schema;
/// use serde_json::json;
///
/// let hints = json!({"title": "/title", "fields": {"Room": "/place/room", "Guests": "/guests"}});
/// let schema = compile_ui_schema(&hints, &json!({"title": "Review", "place": {"room": "A1"}}));
/// assert_eq!(
///     schema,
///     Some(json!({
///         "version": 1, "component": "card", "title": "Review", "fields": [{"label": "Room", "value": "A1"}],
///     }))
/// );
/// ```
pub fn compile_ui_schema(hints: &Value, output: &Value) -> Option<Value> {
    let hints = match hints {
        Value::Null => return None,
        Value::Object(hints) => hints,
        other => return Some(json!({"version": VERSION, "component": "raw", "hints": other})),
    };
    let component = hints.get("component").and_then(Value::as_str).unwrap_or("card");
    let mut schema = Map::new();
    schema.insert("version".to_owned(), VERSION.into());
    schema.insert("component".to_owned(), component.into());
    for name in ["title", "text"] {
        if let Some(value) = hints.get(name).and_then(|hint| resolved(hint, output)) {
            schema.insert(name.to_owned(), value);
        }
    }
    if let Some(Value::Object(fields)) = hints.get("fields") {
        schema.insert("fields".to_owned(), labelled(fields, output).into());
    }
    if let Some(Value::Array(items)) = hints.get("items").and_then(|hint| resolved(hint, output)) {
        schema.insert("total".to_owned(), items.len().into());
        let rows = items.iter().take(MAX_ROWS).map(|item| match hints.get("columns") {
            Some(Value::Object(columns)) => labelled(columns, item).into(),
            _ => item.clone(),
        });
        schema.insert("items".to_owned(), rows.collect());
    }
    if let Some(Value::Array(actions)) = hints.get("actions") {
        schema.insert(
            "actions".to_owned(),
            actions.iter().take(MAX_FIELDS).filter_map(action).collect(),
        );
    }
    let is_standard = ["component", "title", "text", "fields", "items", "columns", "actions"];
    let others: Map<String, Value> = hints
        .iter()
        .filter(|(name, value)| !is_standard.contains(&name.as_str()) && !value.is_null())
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    if !others.is_empty() {
        schema.insert("hints".to_owned(), others.into());
    }
    Some(Value::Object(schema))
}

/// Returns the values that were found, with their labels.
fn labelled(fields: &Map<String, Value>, output: &Value) -> Vec<Value> {
    let fields = fields.iter().take(MAX_FIELDS);
    fields
        .filter_map(|(label, hint)| Some(json!({"label": label, "value": resolved(hint, output)?})))
        .collect()
}

/// Returns what a pointer finds, or a value that is not a pointer.
fn resolved(hint: &Value, output: &Value) -> Option<Value> {
    let value = match hint {
        Value::String(text) => match text.strip_prefix('/') {
            Some(rest) if rest.starts_with('/') => return Some(rest.into()),
            Some(_) => output.pointer(text)?,
            None => hint,
        },
        other => other,
    };
    (!value.is_null()).then(|| value.clone())
}

fn action(action: &Value) -> Option<Value> {
    match action {
        Value::String(label) => Some(json!({"label": label})),
        Value::Object(members) if members.get("label").is_some_and(Value::is_string) => Some(action.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(hints: Value, output: Value, expected: Value) {
        assert_eq!(compile_ui_schema(&hints, &output), Some(expected));
    }

    #[test]
    fn lists_say_how_many_items_there_are() {
        let events: Vec<Value> = (0..150).map(|number| json!({"name": number})).collect();
        let schema = compile_ui_schema(
            &json!({"component": "table", "items": "/events", "columns": {"Name": "/name"}}),
            &json!({"events": events}),
        );
        let schema = schema.unwrap();
        assert_eq!(schema["total"], 150);
        assert_eq!(schema["items"].as_array().unwrap().len(), MAX_ROWS);
        assert_eq!(schema["items"][1], json!([{"label": "Name", "value": 1}]));
    }

    #[test]
    fn what_is_not_found_is_left_out() {
        check(
            json!({"component": "list", "title": "/none", "text": "//etc", "items": "/title", "actions": ["Undo", 7, {"id": 1}]}),
            json!({"title": "no array"}),
            json!({"version": 1, "component": "list", "text": "/etc", "actions": [{"label": "Undo"}]}),
        );
    }

    #[test]
    fn other_hints_are_passed_on() {
        check(
            json!({"card": 1}),
            json!("text"),
            json!({"version": 1, "component": "card", "hints": {"card": 1}}),
        );
        check(
            json!("weather"),
            json!(1),
            json!({"version": 1, "component": "raw", "hints": "weather"}),
        );
        assert_eq!(compile_ui_schema(&Value::Null, &json!({})), None);
    }
}

//! [`ToolFacts`]: what a client learns from the result of a tool call.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use crate::ui_schema::compile_ui_schema;

/// The most levels of arguments that are compared with the result, and of the result in which names are compared.
const MAX_DEPTH: usize = 16;

/// The status of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ToolStatus {
    Success,
    Failure,
    Partial,
}

impl ToolStatus {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failure => "failure",
            Self::Partial => "partial",
        }
    }
}

/// The content of a result for a client.
#[derive(Debug, Clone)]
pub(crate) struct ToolFacts {
    pub(crate) status: ToolStatus,
    /// The text for clients that know the standard only.
    pub(crate) content: String,
    /// The facts of the outcome. `None` if the call failed.
    pub(crate) result: Option<Value>,
    pub(crate) error: Option<Value>,
    pub(crate) ui_schema: Option<Value>,
}

impl ToolFacts {
    /// Reads the result of a call.
    ///
    /// `display` is what a tool gives to observers: `structured` (the output as a value), `ui_hints` and `metadata`. A tool that
    /// did only a part of its work says so by `status: "partial"` in its metadata.
    pub(crate) fn new(input: &str, output: &str, is_error: bool, display: Option<&Value>) -> Self {
        let data = |name: &str| {
            display
                .and_then(|display| display.get(name))
                .filter(|value| !value.is_null())
        };
        let (arguments, _) = parsed_input(input);
        let whole = data("structured").cloned().unwrap_or_else(|| parsed_output(output));
        let ui_schema = data("ui_hints").and_then(|hints| compile_ui_schema(hints, &whole));
        if is_error {
            return Self {
                status: ToolStatus::Failure,
                content: output.to_owned(),
                result: None,
                error: Some(json!({"code": "tool_failed", "message": output})),
                ui_schema,
            };
        }
        let is_partial = data("metadata").and_then(|data| data.get("status")) == Some(&json!("partial"));
        let mut result = match whole {
            Value::Object(members) => Value::Object(facts(members, &arguments)),
            other => other,
        };
        keep_one_spelling(&mut result, MAX_DEPTH);
        Self {
            status: if is_partial {
                ToolStatus::Partial
            } else {
                ToolStatus::Success
            },
            content: match &result {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            },
            result: Some(result),
            error: None,
            ui_schema,
        }
    }
}

/// Returns the arguments of a call, and the text that is sent as their delta. A call without input has empty arguments.
pub(crate) fn parsed_input(input: &str) -> (Value, String) {
    let trimmed = input.trim();
    if trimmed.is_empty() {
        return (json!({}), "{}".to_owned());
    }
    match serde_json::from_str(trimmed) {
        Ok(Value::Null) => (json!({}), "{}".to_owned()),
        Ok(arguments) => (arguments, trimmed.to_owned()),
        // The input of a call without a schema, or a broken one.
        Err(_) => (input.into(), input.to_owned()),
    }
}

/// Returns the value of an output that is a JSON object or array, or else the text.
fn parsed_output(output: &str) -> Value {
    let is_json = output.trim_start().starts_with(['{', '[']);
    let parsed = is_json.then(|| serde_json::from_str(output).ok()).flatten();
    parsed.unwrap_or_else(|| output.into())
}

/// Returns the members without `null`, without those that repeat an argument, and without a second spelling of a name: first
/// ids, then the status, then counts, then the others.
fn facts(members: Map<String, Value>, arguments: &Value) -> Map<String, Value> {
    let mut given = HashSet::new();
    collect(arguments, MAX_DEPTH, &mut given);
    let mut names = HashSet::new();
    let mut facts: Vec<(String, Value)> = members
        .into_iter()
        .filter(|(name, value)| !value.is_null() && !given.contains(&(spelling(name), value.to_string())))
        .filter(|(name, _)| names.insert(spelling(name)))
        .collect();
    facts.sort_by_key(|(name, value)| rank(name, value));
    facts.into_iter().collect()
}

/// Removes second spellings of names from all objects in a value.
fn keep_one_spelling(value: &mut Value, depth: usize) {
    match value {
        Value::Object(members) => {
            let mut names = HashSet::new();
            members.retain(|name, _| names.insert(spelling(name)));
            if depth > 0 {
                members
                    .values_mut()
                    .for_each(|inner| keep_one_spelling(inner, depth - 1));
            }
        }
        Value::Array(items) if depth > 0 => items.iter_mut().for_each(|item| keep_one_spelling(item, depth - 1)),
        _ => {}
    }
}

/// Collects all members of the arguments, which may be inside of an object such as `input`.
fn collect(arguments: &Value, depth: usize, given: &mut HashSet<(String, String)>) {
    let Value::Object(members) = arguments else {
        return;
    };
    for (name, value) in members {
        given.insert((spelling(name), value.to_string()));
        if depth > 0 {
            collect(value, depth - 1, given);
        }
    }
}

/// Returns the form in which names are compared: `eventId` is `event_id`.
fn spelling(name: &str) -> String {
    name.chars()
        .filter(|c| !matches!(c, '_' | '-'))
        .map(|c| c.to_ascii_lowercase())
        .collect()
}

fn rank(name: &str, value: &Value) -> u8 {
    let lower = name.to_ascii_lowercase();
    let is_id = lower == "id" || lower == "ids" || lower.ends_with("_id") || lower.ends_with("_ids");
    if is_id || name.ends_with("Id") || name.ends_with("Ids") {
        0
    } else if lower == "status" || lower.ends_with("_status") || name.ends_with("Status") {
        1
    } else if value.is_number() && ["count", "total", "number"].iter().any(|word| lower.contains(word)) {
        2
    } else {
        3
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_come_first_and_repeat_no_argument() {
        let input =
            r#"{"module": "calendar", "method": "create", "input": {"title": "Review", "eventId": null, "room": "A"}}"#;
        let output = r#"{"note": "done", "title": "Review", "Room": "A", "updated_count": 1, "status": "created",
            "eventId": "e1", "event_id": "e1", "link": null, "count": "many"}"#;
        let facts = ToolFacts::new(input, output, false, None);
        assert_eq!(
            facts.content,
            r#"{"eventId":"e1","status":"created","updated_count":1,"note":"done","count":"many"}"#
        );
        assert_eq!(facts.status, ToolStatus::Success);
        assert_eq!(facts.error, None);
    }

    #[test]
    fn no_name_has_two_spellings_at_any_depth() {
        let output = r#"{"events": [{"event_id": 1, "eventId": 2, "tags": {"a-b": 1, "aB": 2, "a": 3}}], "other": [[{"x_y": 1, "xY": 1}]]}"#;
        let facts = ToolFacts::new("{}", output, false, None);
        assert_eq!(
            facts.result,
            Some(json!({"events": [{"event_id": 1, "tags": {"a-b": 1, "a": 3}}], "other": [[{"x_y": 1}]]}))
        );
        assert_eq!(facts.content, facts.result.unwrap().to_string());
    }

    #[test]
    fn outputs_that_are_not_objects_are_kept() {
        let check = |output: &str, expected: Value, content: &str| {
            let facts = ToolFacts::new("{}", output, false, None);
            assert_eq!(facts.result, Some(expected), "{output}");
            assert_eq!(facts.content, content);
        };
        check("18 degrees", json!("18 degrees"), "18 degrees");
        check("[1, 2]", json!([1, 2]), "[1,2]");
        check("{broken", json!("{broken"), "{broken");
        check("7", json!("7"), "7");
        check("", json!(""), "");
    }

    #[test]
    fn the_display_data_comes_before_the_text() {
        let display = json!({"structured": {"id": 4}, "metadata": {"status": "partial"}, "ui_hints": null});
        let facts = ToolFacts::new("", "4 of 5", false, Some(&display));
        assert_eq!(
            (facts.status, facts.result),
            (ToolStatus::Partial, Some(json!({"id": 4})))
        );
        let facts = ToolFacts::new("", "no access", true, Some(&display));
        assert_eq!((facts.status, facts.result), (ToolStatus::Failure, None));
        assert_eq!(
            facts.error,
            Some(json!({"code": "tool_failed", "message": "no access"}))
        );
    }

    #[test]
    fn arguments_are_json_once() {
        for empty in ["", "  ", "null", "{}"] {
            assert_eq!(parsed_input(empty), (json!({}), "{}".to_owned()), "{empty:?}");
        }
        assert_eq!(
            parsed_input(r#" {"a": 1} "#),
            (json!({"a": 1}), r#"{"a": 1}"#.to_owned())
        );
        assert_eq!(parsed_input("SELECT 1"), (json!("SELECT 1"), "SELECT 1".to_owned()));
    }
}

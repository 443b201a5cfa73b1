//! Answers that are JSON where the API has text: some servers write an answer that follows a JSON Schema as the value itself
//! (`"content": {"name": "Ada"}`), not as a text that contains it. Such a value becomes its JSON text.

use serde_json::{Map, Value};

use super::lenient::{answer_text, is_blank};

/// The types of parts that servers send as a single object instead of a list. An object of any other type is an answer: a
/// schema may have a property `type`, too.
const SINGLE_PARTS: &[&str] = &[
    "text",
    "output_text",
    "input_text",
    "refusal",
    "thinking",
    "redacted_thinking",
    "reasoning",
    "tool_use",
    "image",
    "image_url",
    "input_image",
    "output_image",
    "audio",
    "input_audio",
    "output_audio",
    "file",
    "input_file",
    "document",
    "reference",
];

/// The content of a message.
#[derive(Debug, PartialEq)]
pub(crate) enum Answer {
    /// Text, or a value as JSON text. Empty for a blank value, which stands for no content.
    Text(String),
    /// Parts in order: texts, and objects with a `type` or a `text`. Other values among them are JSON text.
    Parts(Vec<Value>),
}

impl Answer {
    /// Reads a content of any type.
    pub(crate) fn new(content: Value) -> Self {
        match content {
            Value::Object(members) if is_single_part(&members) => Self::Parts(vec![Value::Object(members)]),
            Value::Array(items) if items.iter().any(is_part) => {
                Self::Parts(items.into_iter().filter_map(part).collect())
            }
            value => Self::Text(answer_text(value)),
        }
    }
}

fn part(item: Value) -> Option<Value> {
    match item {
        blank if is_blank(&blank) => None,
        item if is_part(&item) => Some(item),
        value => Some(value.to_string().into()),
    }
}

/// Returns whether an item of a list is a part.
fn is_part(item: &Value) -> bool {
    match item {
        Value::String(_) => true,
        Value::Object(members) => members.get("type").is_some_and(Value::is_string) || is_untyped_text(members),
        _ => false,
    }
}

fn is_single_part(members: &Map<String, Value>) -> bool {
    match members.get("type").and_then(Value::as_str) {
        Some(kind) => SINGLE_PARTS.contains(&kind),
        None => is_untyped_text(members),
    }
}

/// Returns whether an object is a text part without a type. One with further members is an answer that has a `text`.
fn is_untyped_text(members: &Map<String, Value>) -> bool {
    let is_only = members.iter().all(|(name, value)| name == "text" || is_blank(value));
    is_only && members.get("text").is_some_and(Value::is_string)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check_text(content: Value, expected: &str) {
        assert_eq!(Answer::new(content), Answer::Text(expected.to_owned()));
    }

    #[track_caller]
    fn check_parts(content: Value, expected: Value) {
        let Value::Array(expected) = expected else {
            panic!("not a list")
        };
        assert_eq!(Answer::new(content), Answer::Parts(expected));
    }

    #[test]
    fn values_are_answers() {
        check_text(json!("Hi"), "Hi");
        check_text(json!({"name": "Ada", "age": 36}), r#"{"name":"Ada","age":36}"#);
        check_text(
            json!({"type": "person", "name": "Ada"}),
            r#"{"type":"person","name":"Ada"}"#,
        );
        check_text(json!({"text": "Hi", "score": 3}), r#"{"text":"Hi","score":3}"#);
        check_text(
            json!([{"name": "Ada"}, {"name": "Bo"}]),
            r#"[{"name":"Ada"},{"name":"Bo"}]"#,
        );
        check_text(json!([1, 2]), "[1,2]");
        check_text(json!(42), "42");
        check_text(json!(false), "false");
    }

    #[test]
    fn blank_values_are_no_answers() {
        for blank in [json!(null), json!({}), json!([]), json!("")] {
            check_text(blank, "");
        }
    }

    #[test]
    fn parts_remain_parts() {
        let text = json!({"type": "text", "text": "Hi"});
        check_parts(text.clone(), json!([text]));
        check_parts(json!({"text": "Hi"}), json!([{"text": "Hi"}]));
        check_parts(
            json!([text, "and", null, {"a": 1}, 5]),
            json!([text, "and", r#"{"a":1}"#, "5"]),
        );
        let unknown = json!([{"type": "reference", "reference_ids": [1]}]);
        check_parts(unknown.clone(), unknown);
    }
}

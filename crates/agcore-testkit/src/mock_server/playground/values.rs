//! Generating tool arguments from a JSON Schema and a message.

use serde_json::{Map, Value, json};

/// Generates a value that matches the types, `enum`, `const`, `default` and required members of `schema`, using words
/// and numbers of the message. `name` is the name of the member that the value is for.
pub(super) fn generate(schema: &Value, name: &str, message: &str) -> Value {
    let fixed = [&schema["const"], &schema["enum"][0], &schema["default"]]
        .into_iter()
        .find(|value| !value.is_null());
    if let Some(value) = fixed {
        return value.clone();
    }
    match kind(schema) {
        "object" => object(schema, message),
        "array" => json!([generate(&schema["items"], name, message)]),
        "integer" => json!(number(message).unwrap_or(1.0).trunc()),
        "number" => json!(number(message).unwrap_or(1.0)),
        "boolean" => json!(true),
        "null" => Value::Null,
        _ => json!(text(name, message)),
    }
}

/// Returns the type of the schema, or the first type other than `null` if there are several.
fn kind(schema: &Value) -> &str {
    let kind = match &schema["type"] {
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null"),
        kind => kind.as_str(),
    };
    kind.unwrap_or(if schema["properties"].is_object() {
        "object"
    } else {
        "string"
    })
}

fn object(schema: &Value, message: &str) -> Value {
    let required = schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
    let members = required.iter().filter_map(Value::as_str);
    let filled = members.map(|name| (name.to_owned(), generate(&schema["properties"][name], name, message)));
    Value::Object(filled.collect::<Map<_, _>>())
}

/// Generates a string: the last capitalized word for a member that names a place, or else the entire message.
fn text(name: &str, message: &str) -> String {
    let is_place = ["city", "location", "place"].contains(&name);
    let mut words = message.split(|c: char| !c.is_alphanumeric());
    let capital = words.rfind(|word| word.starts_with(char::is_uppercase));
    match capital {
        Some(word) if is_place => word.to_owned(),
        _ if is_place => "Lisbon".to_owned(),
        _ => message.to_owned(),
    }
}

fn number(message: &str) -> Option<f64> {
    message
        .split_whitespace()
        .find_map(|word| word.trim_end_matches(['.', ',', '?', '!']).parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(schema: &Value, message: &str, expected: &Value) {
        assert_eq!(&generate(schema, "", message), expected, "{schema}");
    }

    #[test]
    fn arguments_match_the_schema() {
        let city = json!({ "type": "object", "properties": { "city": { "type": "string" } }, "required": ["city"] });
        check(&city, "weather in Paris", &json!({ "city": "Paris" }));
        check(&city, "weather", &json!({ "city": "Lisbon" }));
        check(&json!({ "type": "object", "properties": { "a": {} } }), "x", &json!({}));
        check(&json!({ "type": "integer" }), "add 7.", &json!(7.0));
        check(&json!({ "enum": ["c", "f"] }), "x", &json!("c"));
        check(
            &json!({ "type": ["null", "array"], "items": { "type": "boolean" } }),
            "x",
            &json!([true]),
        );
        check(&json!({ "type": "string" }), "all of it", &json!("all of it"));
    }
}

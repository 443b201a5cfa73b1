//! Arguments made from a JSON Schema and a message.

use serde_json::{Map, Value, json};

/// A value that fits `schema` as far as this small reader goes (types, `enum`, `const`, `default`, required members),
/// made from words and numbers of the message. `name` is the member that the value is for.
pub(super) fn fill(schema: &Value, name: &str, said: &str) -> Value {
    let fixed = [&schema["const"], &schema["enum"][0], &schema["default"]]
        .into_iter()
        .find(|value| !value.is_null());
    if let Some(value) = fixed {
        return value.clone();
    }
    match kind(schema) {
        "object" => object(schema, said),
        "array" => json!([fill(&schema["items"], name, said)]),
        "integer" => json!(number(said).unwrap_or(1.0).trunc()),
        "number" => json!(number(said).unwrap_or(1.0)),
        "boolean" => json!(true),
        "null" => Value::Null,
        _ => json!(text(name, said)),
    }
}

/// The type; the first one that is not null where there are several.
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

fn object(schema: &Value, said: &str) -> Value {
    let required = schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
    let members = required.iter().filter_map(Value::as_str);
    let filled = members.map(|name| (name.to_owned(), fill(&schema["properties"][name], name, said)));
    Value::Object(filled.collect::<Map<_, _>>())
}

/// For a place the last word with a capital, for anything else the message.
fn text(name: &str, said: &str) -> String {
    let place = ["city", "location", "place"].contains(&name);
    let mut words = said.split(|c: char| !c.is_alphanumeric());
    let capital = words.rfind(|word| word.starts_with(char::is_uppercase));
    match capital {
        Some(word) if place => word.to_owned(),
        _ if place => "Lisbon".to_owned(),
        _ => said.to_owned(),
    }
}

fn number(said: &str) -> Option<f64> {
    said.split_whitespace()
        .find_map(|word| word.trim_end_matches(['.', ',', '?', '!']).parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(schema: &Value, said: &str, expected: &Value) {
        assert_eq!(&fill(schema, "", said), expected, "{schema}");
    }

    #[test]
    fn arguments_fit_the_schema() {
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

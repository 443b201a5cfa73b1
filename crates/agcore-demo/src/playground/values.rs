//! Generating values from a JSON Schema and a message.

use serde_json::{Map, Value, json};

/// The depth below which values are `null`: schemas can contain themselves.
const DEEPEST: usize = 16;

/// Generates a value that matches the types, `enum`, `const`, `default`, `minimum`, references, alternatives and required members
/// of `schema`, using words and numbers of the message.
pub(super) fn generate(schema: &Value, message: &str) -> Value {
    let generator = Generator { root: schema, message };
    generator.value(schema, "", 0)
}

struct Generator<'s> {
    /// The schema to which references refer.
    root: &'s Value,
    message: &'s str,
}

impl Generator<'_> {
    /// Generates a value for the member with this name.
    fn value(&self, schema: &Value, name: &str, depth: usize) -> Value {
        if depth > DEEPEST {
            return Value::Null;
        }
        let schema = self.resolved(schema);
        let fixed = [&schema["const"], &schema["enum"][0], &schema["default"]]
            .into_iter()
            .find(|value| !value.is_null());
        if let Some(value) = fixed {
            return value.clone();
        }
        if let Some(one) = alternative(schema) {
            return self.value(one, name, depth + 1);
        }
        match kind(schema) {
            "object" => self.object(schema, depth),
            "array" => json!([self.value(&schema["items"], name, depth + 1)]),
            "integer" => json!(self.number(schema).ceil() as i64),
            "number" => json!(self.number(schema)),
            "boolean" => json!(true),
            "null" => Value::Null,
            _ => json!(text(name, self.message)),
        }
    }

    /// Follows references such as `#/$defs/Line`.
    fn resolved<'v>(&'v self, mut schema: &'v Value) -> &'v Value {
        for _ in 0..DEEPEST {
            let target = schema["$ref"].as_str().and_then(|path| path.strip_prefix('#'));
            match target.and_then(|pointer| self.root.pointer(pointer)) {
                Some(target) => schema = target,
                None => break,
            }
        }
        schema
    }

    fn object(&self, schema: &Value, depth: usize) -> Value {
        let required = schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
        let members = required.iter().filter_map(Value::as_str);
        let member = |name: &str| self.value(&schema["properties"][name], name, depth + 1);
        Value::Object(
            members
                .map(|name| (name.to_owned(), member(name)))
                .collect::<Map<_, _>>(),
        )
    }

    fn number(&self, schema: &Value) -> f64 {
        let found = number(self.message).unwrap_or(1.0);
        found.max(schema["minimum"].as_f64().unwrap_or(f64::MIN))
    }
}

/// Returns the first alternative other than `null`.
fn alternative(schema: &Value) -> Option<&Value> {
    let alternatives = ["anyOf", "oneOf", "allOf"]
        .into_iter()
        .find_map(|word| schema[word].as_array())?;
    let is_null = |one: &&Value| one["type"] == "null";
    alternatives.iter().find(|one| !is_null(one)).or(alternatives.first())
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
        assert_eq!(&generate(schema, message), expected, "{schema}");
    }

    #[test]
    fn values_match_the_schema() {
        let city = json!({ "type": "object", "properties": { "city": { "type": "string" } }, "required": ["city"] });
        check(&city, "weather in Paris", &json!({ "city": "Paris" }));
        check(&city, "weather", &json!({ "city": "Lisbon" }));
        check(&json!({ "type": "object", "properties": { "a": {} } }), "x", &json!({}));
        check(&json!({ "type": "integer" }), "add 7.", &json!(7));
        check(&json!({ "type": "integer", "minimum": 10 }), "add 7.", &json!(10));
        check(&json!({ "type": "number" }), "add 7.5", &json!(7.5));
        check(&json!({ "enum": ["c", "f"] }), "x", &json!("c"));
        check(
            &json!({ "type": ["null", "array"], "items": { "type": "boolean" } }),
            "x",
            &json!([true]),
        );
        check(&json!({ "type": "string" }), "all of it", &json!("all of it"));
    }

    #[test]
    fn references_and_alternatives_are_followed() {
        let invoice = json!({
            "type": "object",
            "properties": { "lines": { "type": "array", "items": { "$ref": "#/$defs/Line" } } },
            "required": ["lines"],
            "$defs": { "Line": {
                "type": "object",
                "properties": { "note": { "anyOf": [{ "type": "null" }, { "type": "string" }] } },
                "required": ["note"],
            } },
        });
        check(&invoice, "2 pens", &json!({ "lines": [{ "note": "2 pens" }] }));
    }

    #[test]
    fn schemas_that_contain_themselves_end() {
        let endless = json!({ "$ref": "#" });
        check(&endless, "x", &json!("x"));
        let tree = json!({
            "type": "object",
            "properties": { "next": { "$ref": "#" } },
            "required": ["next"],
        });
        assert!(generate(&tree, "x").to_string().contains("null"));
    }
}

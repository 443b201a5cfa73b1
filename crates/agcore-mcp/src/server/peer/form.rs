//! The answer of a person, compared with the schema of the question.

use serde_json::{Map, Value};

/// Returns the members of an answer that has the required members and the types of a schema. Texts are not compared with
/// formats and patterns.
pub(super) fn check(schema: &Value, answer: Value) -> Result<Map<String, Value>, String> {
    let Value::Object(members) = answer else {
        return Err("it is not an object".to_owned());
    };
    let required = schema["required"].as_array().into_iter().flatten();
    if let Some(missing) = required
        .filter_map(Value::as_str)
        .find(|name| !members.contains_key(*name))
    {
        return Err(format!("the member {missing:?} is missing"));
    }
    for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
        if let Some(reason) = members.get(name).and_then(|value| mismatch(schema, value)) {
            return Err(format!("the member {name:?} {reason}"));
        }
    }
    Ok(members)
}

/// Returns why a value does not match the schema of a scalar or a choice.
fn mismatch(schema: &Value, value: &Value) -> Option<&'static str> {
    let (matches, reason) = match schema["type"].as_str() {
        Some("string") => (value.is_string(), "is not a string"),
        Some("boolean") => (value.is_boolean(), "is not true or false"),
        Some("number") => (value.is_number(), "is not a number"),
        // 3.0 is an integer, too.
        Some("integer") => (
            value.as_f64().is_some_and(|number| number.fract() == 0.0),
            "is not an integer",
        ),
        Some("array") => (value.is_array(), "is not a list"),
        _ => (true, ""),
    };
    if !matches {
        return Some(reason);
    }
    let is_chosen = match value {
        Value::Array(values) => values.iter().all(|value| is_choice(&schema["items"], value)),
        value => is_choice(schema, value),
    };
    (!is_chosen).then_some("is not one of the choices")
}

/// Returns whether a value is one of the choices of a schema, if it has choices.
fn is_choice(schema: &Value, value: &Value) -> bool {
    let named = ["oneOf", "anyOf"]
        .into_iter()
        .filter_map(|name| schema[name].as_array());
    let mut named = named.flatten().map(|choice| &choice["const"]).peekable();
    match schema["enum"].as_array() {
        Some(choices) => choices.contains(value),
        None if named.peek().is_none() => true,
        None => named.any(|choice| choice == value),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn test(member: Value, value: Value, expected: Result<(), &str>) {
        let schema = json!({"type": "object", "properties": {"a": member}, "required": ["a"]});
        let checked = check(&schema, json!({"a": value, "other": 1}));
        let expected = expected.map_err(|reason| format!("the member \"a\" {reason}"));
        assert_eq!(checked.map(|_| ()), expected);
    }

    #[test]
    fn members_have_the_types_of_the_schema() {
        test(json!({"type": "string"}), json!("x"), Ok(()));
        test(json!({"type": "string"}), json!(1), Err("is not a string"));
        test(json!({"type": "boolean"}), json!("true"), Err("is not true or false"));
        test(json!({"type": "number"}), json!(1.5), Ok(()));
        test(json!({"type": "number"}), json!("1"), Err("is not a number"));
        test(json!({"type": "integer"}), json!(3.0), Ok(()));
        test(json!({"type": "integer"}), json!(3.5), Err("is not an integer"));
        test(json!({"type": "array"}), json!({}), Err("is not a list"));
    }

    #[test]
    fn choices_are_those_of_the_schema() {
        let wrong = Err("is not one of the choices");
        let plain = json!({"type": "string", "enum": ["x", "y"]});
        test(plain.clone(), json!("y"), Ok(()));
        test(plain, json!("z"), wrong);
        let titled = json!({"type": "string", "oneOf": [{"const": "x", "title": "X"}]});
        test(titled.clone(), json!("x"), Ok(()));
        test(titled, json!("X"), wrong);
        let many = json!({"type": "array", "items": {"anyOf": [{"const": "x"}, {"const": "y"}]}});
        test(many.clone(), json!(["x", "y"]), Ok(()));
        test(many.clone(), json!([]), Ok(()));
        test(many, json!(["x", "z"]), wrong);
    }

    #[test]
    fn answers_are_objects_with_the_required_members() {
        let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
        assert_eq!(check(&schema, json!([])), Err("it is not an object".to_owned()));
        assert_eq!(check(&schema, json!({})), Err("the member \"a\" is missing".to_owned()));
        assert!(check(&json!({"type": "object"}), json!({"b": 1})).is_ok());
    }
}

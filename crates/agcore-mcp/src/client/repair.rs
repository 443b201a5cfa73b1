//! Repairs of the entries of lists: members that servers leave out, or give another form.

use serde_json::{Map, Value};

/// Gives an entry of the list in this member the form that it should have, where it is clear what was meant.
pub(super) fn repair(list: &str, members: &mut Map<String, Value>) {
    match list {
        "prompts" => {
            if let Some(arguments) = members.remove("arguments") {
                members.insert("arguments".to_owned(), prompt_arguments(arguments).into());
            }
        }
        "resources" => name_after(members, "uri"),
        "resourceTemplates" => name_after(members, "uriTemplate"),
        _ => {}
    }
}

/// A resource without a name has that of its title, or of its URI.
fn name_after(members: &mut Map<String, Value>, uri: &str) {
    let text = |members: &Map<String, Value>, name: &str| {
        let text = members.get(name).and_then(Value::as_str);
        text.filter(|text| !text.is_empty()).map(str::to_owned)
    };
    if text(members, "name").is_none()
        && let Some(name) = text(members, "title").or_else(|| text(members, uri))
    {
        members.insert("name".to_owned(), name.into());
    }
}

/// Returns the arguments that have a name: of a list, or of an object with the names as keys.
fn prompt_arguments(arguments: Value) -> Vec<Value> {
    match arguments {
        Value::Array(list) => list.into_iter().filter_map(|one| argument(one, None)).collect(),
        Value::Object(list) => list
            .into_iter()
            .filter_map(|(name, one)| argument(one, Some(name)))
            .collect(),
        _ => Vec::new(),
    }
}

fn argument(value: Value, key: Option<String>) -> Option<Value> {
    let members = match value {
        Value::Object(members) => members,
        Value::String(text) if key.is_none() => return Some(serde_json::json!({ "name": text })),
        Value::String(text) => return Some(serde_json::json!({"name": key, "description": text})),
        _ => Map::new(),
    };
    let text = |name: &str| members.get(name).and_then(Value::as_str);
    // The keys of a list with gaps are numbers.
    let key = key.filter(|key| key.parse::<u64>().is_err());
    let mut repaired = Map::new();
    repaired.insert("name".to_owned(), text("name").map(str::to_owned).or(key)?.into());
    for name in ["title", "description"] {
        if let Some(text) = text(name) {
            repaired.insert(name.to_owned(), text.into());
        }
    }
    let is_required = match members.get("required") {
        Some(Value::Bool(is_required)) => *is_required,
        Some(Value::String(is_required)) => is_required.eq_ignore_ascii_case("true"),
        Some(Value::Number(is_required)) => is_required.as_f64() != Some(0.0),
        _ => false,
    };
    repaired.insert("required".to_owned(), is_required.into());
    Some(Value::Object(repaired))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(list: &str, entry: Value, expected: Value) {
        let Value::Object(mut members) = entry else {
            panic!("{entry}")
        };
        repair(list, &mut members);
        assert_eq!(Value::Object(members), expected);
    }

    #[test]
    fn resources_are_named_after_what_they_have() {
        check(
            "resources",
            json!({"uri": "a://b", "name": null}),
            json!({"uri": "a://b", "name": "a://b"}),
        );
        check(
            "resourceTemplates",
            json!({"uriTemplate": "a://{b}", "title": "T"}),
            json!({"uriTemplate": "a://{b}", "title": "T", "name": "T"}),
        );
        check("resources", json!({}), json!({}));
        check("tools", json!({"uri": "a://b"}), json!({"uri": "a://b"}));
    }

    #[test]
    fn arguments_of_any_form_are_read() {
        let arguments = |given: Value, expected: Value| {
            check(
                "prompts",
                json!({"name": "p", "arguments": given}),
                json!({"name": "p", "arguments": expected}),
            );
        };
        arguments(
            json!([{"name": "a", "required": "true", "description": 7}, "b", {"description": "no name"}, 7]),
            json!([{"name": "a", "required": true}, {"name": "b"}]),
        );
        arguments(
            json!({"a": {"description": "d", "required": 1}, "b": "text"}),
            json!([{"name": "a", "description": "d", "required": true}, {"name": "b", "description": "text"}]),
        );
        arguments(
            json!({"0": {"name": "a"}, "2": {}}),
            json!([{"name": "a", "required": false}]),
        );
        arguments(json!(null), json!([]));
        arguments(json!("a"), json!([]));
    }
}

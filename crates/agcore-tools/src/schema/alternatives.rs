//! [`Alternatives`]: finds out which of several alternatives (`oneOf`, `anyOf`) a value was meant to match.

use agcore_chat::text::clip;
use serde_json::{Map, Value};

use crate::arguments::MESSAGE_BYTES;

/// The number of violations that are reported; a model gains nothing from more.
pub(super) const MAX_VIOLATIONS: usize = 16;

/// A guess at the alternative that a value was meant to match.
#[derive(Debug, PartialEq)]
pub(super) enum Choice {
    /// None of them: the member to blame, if it is not the value itself, and the reason.
    None(Option<String>, String),
    /// The alternative at this index, with the tag that names it, such as `with op "add": `.
    Branch(usize, String),
}

/// The alternatives of a schema, without references.
pub(super) struct Alternatives<'a>(Vec<&'a Value>);

impl<'a> Alternatives<'a> {
    /// Reads the value of `oneOf` or `anyOf`. References are resolved in the schema's root.
    pub(super) fn new(root: &'a Value, list: &'a Value) -> Option<Self> {
        let list = list.as_array().filter(|list| !list.is_empty())?;
        Some(Self(list.iter().map(|branch| resolve(root, branch)).collect()))
    }

    pub(super) fn get(&self, index: usize) -> Option<&'a Value> {
        self.0.get(index).copied()
    }

    /// Chooses an alternative by the tag of the value, or else by its type and members.
    pub(super) fn choose(&self, value: &Value) -> Choice {
        if let Value::Object(members) = value {
            let tag = self.tag().and_then(|tag| self.by_tag(tag, members));
            if let Some(choice) = tag {
                return choice;
            }
        }
        if let Some(choice) = self.by_variant(value) {
            return choice;
        }
        self.by_type(value)
    }

    /// Returns the member that names the alternative: each object has different constants for it.
    fn tag(&self) -> Option<&'a str> {
        let mut objects = self.0.iter().filter(|branch| branch.get("properties").is_some());
        let first = objects.next()?.get("properties")?.as_object()?;
        first.keys().map(String::as_str).find(|name| {
            let mut objects = self.0.iter().filter(|branch| branch.get("properties").is_some());
            objects.clone().count() > 1 && objects.all(|branch| !constants(&branch["properties"][*name]).is_empty())
        })
    }

    fn by_tag(&self, tag: &str, members: &Map<String, Value>) -> Option<Choice> {
        let of = |branch: &'a Value| constants(&branch["properties"][tag]);
        let known = || list(self.0.iter().flat_map(|branch| of(branch)));
        let Some(given) = members.get(tag) else {
            let message = format!("the member {tag:?} is missing: expected one of {}", known());
            return Some(Choice::None(None, message));
        };
        let found = self.0.iter().position(|branch| of(branch).contains(&given));
        Some(match found {
            Some(index) => Choice::Branch(index, format!("with {tag} {given}: ")),
            None => Choice::None(
                Some(tag.to_owned()),
                format!("{} is not one of {}", shown(given), known()),
            ),
        })
    }

    /// Chooses among variants that are either a string or an object with one member, as serde writes enums.
    fn by_variant(&self, value: &Value) -> Option<Choice> {
        let names: Vec<Vec<Value>> = self.0.iter().map(|branch| variants(branch)).collect();
        if names.iter().any(Vec::is_empty) {
            return None;
        }
        let given = match value {
            Value::String(_) => value.clone(),
            Value::Object(members) if members.len() == 1 => members.keys().next().map(|key| key.as_str().into())?,
            _ => return None,
        };
        let known = list(names.iter().flatten());
        let Some(index) = names.iter().position(|names| names.contains(&given)) else {
            return Some(Choice::None(None, format!("{} is not one of {known}", shown(&given))));
        };
        match (value, constants(self.0[index]).is_empty()) {
            (Value::String(name), true) => {
                let message = format!("{given} needs data: expected an object with the member {name:?}");
                Some(Choice::None(None, message))
            }
            (Value::Object(_), false) => Some(Choice::None(
                None,
                format!("expected the string {given}, not an object"),
            )),
            _ => Some(Choice::Branch(index, String::new())),
        }
    }

    fn by_type(&self, value: &Value) -> Choice {
        let same_type = self.0.iter().enumerate().filter(|(_, branch)| has_type(branch, value));
        let closest = same_type.min_by_key(|(_, branch)| distance(branch, value));
        match closest {
            Some((index, branch)) => {
                let strings = constants(branch);
                if strings.is_empty() {
                    return Choice::Branch(index, String::new());
                }
                let known = list(self.0.iter().flat_map(|branch| constants(branch)));
                Choice::None(None, format!("{} is not one of {known}", shown(value)))
            }
            None => {
                let types: Vec<&str> = self.0.iter().flat_map(|branch| types(branch)).collect();
                let message = format!(
                    "{} is not one of the accepted types: {}",
                    shown(value),
                    types.join(", ")
                );
                Choice::None(None, message)
            }
        }
    }
}

/// Follows references within the schema. A chain of references is followed only so far.
fn resolve<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    let mut schema = schema;
    for _ in 0..8 {
        let target = schema.get("$ref").and_then(Value::as_str);
        let Some(found) = target.and_then(|target| root.pointer(target.strip_prefix('#')?)) else {
            break;
        };
        schema = found;
    }
    schema
}

/// Returns the constants that a schema accepts, if it accepts nothing else.
fn constants(schema: &Value) -> Vec<&Value> {
    match (schema.get("const"), schema.get("enum").and_then(Value::as_array)) {
        (Some(value), _) => vec![value],
        (None, Some(values)) => values.iter().collect(),
        (None, None) => Vec::new(),
    }
}

/// Returns the names of the types that a schema accepts; none if it accepts all.
fn types(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// Returns whether a value has the type that a schema asks for.
fn has_type(schema: &Value, value: &Value) -> bool {
    let types = types(schema);
    types.is_empty() || types.iter().any(|name| is_type(name, value))
}

/// Returns whether a value has a type. An unknown type is not enforced.
pub(super) fn is_type(name: &str, value: &Value) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        _ => true,
    }
}

/// Returns the names of the variants that a schema describes: strings, or the only member of an object.
fn variants(schema: &Value) -> Vec<Value> {
    let constants = constants(schema);
    if constants.iter().all(|value| value.is_string()) && !constants.is_empty() {
        return constants.into_iter().cloned().collect();
    }
    let required = schema.get("required").and_then(Value::as_array);
    let properties = schema.get("properties").and_then(Value::as_object);
    match (required.map(Vec::as_slice), properties) {
        (Some([name]), Some(properties)) if properties.len() == 1 => vec![name.clone()],
        _ => Vec::new(),
    }
}

/// Counts the mistakes in the members of an object.
fn distance(schema: &Value, value: &Value) -> usize {
    let Value::Object(members) = value else {
        return 0;
    };
    let none = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
    let required = schema.get("required").and_then(Value::as_array);
    let is_missing = |name: &&Value| name.as_str().is_some_and(|name| !members.contains_key(name));
    let missing = required.into_iter().flatten().filter(is_missing).count();
    let is_wrong = |(name, member): &(&String, &Value)| match properties.get(*name) {
        Some(schema) => !has_type(schema, member),
        None => true,
    };
    missing + members.iter().filter(is_wrong).count()
}

fn list<'v, V: IntoIterator<Item = &'v Value>>(values: V) -> String {
    let values: Vec<String> = values.into_iter().map(Value::to_string).collect();
    clip(&values.join(", "), MESSAGE_BYTES).into_owned()
}

fn shown(value: &Value) -> String {
    clip(&value.to_string(), MESSAGE_BYTES / 3).into_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(alternatives: &Value, value: &Value, expected: &Choice) {
        let alternatives = Alternatives::new(&Value::Null, alternatives).unwrap();
        assert_eq!(alternatives.choose(value), *expected);
    }

    fn none(message: &str) -> Choice {
        Choice::None(None, message.to_owned())
    }

    #[test]
    fn variants_are_strings_or_objects_with_one_member() {
        let shape = json!([
            {"type": "string", "enum": ["dot", "line"]},
            {"type": "object", "required": ["circle"], "properties": {"circle": {"type": "number"}}},
        ]);
        check(
            &shape,
            &json!("dto"),
            &none(r#""dto" is not one of "dot", "line", "circle""#),
        );
        check(
            &shape,
            &json!("circle"),
            &none(r#""circle" needs data: expected an object with the member "circle""#),
        );
        check(
            &shape,
            &json!({"dot": 1}),
            &none(r#"expected the string "dot", not an object"#),
        );
        check(
            &shape,
            &json!({"square": 1}),
            &none(r#""square" is not one of "dot", "line", "circle""#),
        );
        check(&shape, &json!({"circle": "x"}), &Choice::Branch(1, String::new()));
        check(
            &shape,
            &json!(1),
            &none("1 is not one of the accepted types: string, object"),
        );
    }

    #[test]
    fn the_alternative_with_the_fewest_mistakes_is_the_closest() {
        let any = json!([
            {"type": "object", "required": ["a", "b"], "properties": {"a": {}, "b": {}}},
            {"type": "object", "required": ["c", "d"], "properties": {"c": {}, "d": {"type": "string"}}},
        ]);
        check(&any, &json!({"c": 1, "d": 2}), &Choice::Branch(1, String::new()));
        check(&any, &json!({"a": 1}), &Choice::Branch(0, String::new()));
    }
}

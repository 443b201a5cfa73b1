//! The JSON Schemas that are derived from types.

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Map, Value};

/// Derives the schema of a type in the form that models handle best: without references unless the type is recursive,
/// and without `$schema` and the name of the type.
pub(super) fn schema_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.remove("title");
    schema.to_value()
}

/// Derives the schema of a tool's arguments. The root is always declared an object, as models expect, even for an enum
/// whose variants are objects.
pub(super) fn parameters_of<T: JsonSchema>() -> Value {
    let mut schema = schema_of::<T>();
    if let Value::Object(members) = &mut schema {
        // The description of the type is for readers of the code; the model sees that of the tool.
        members.shift_remove("description");
        members.entry("type").or_insert_with(|| "object".into());
        members.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    }
    schema
}

/// The keywords that combine schemas. Beside them, a schema does not know all members of the object.
const COMBINATORS: [&str; 7] = ["$ref", "allOf", "anyOf", "if", "not", "oneOf", "patternProperties"];

/// Adds `"additionalProperties": false` to each object whose members are all known, so that unknown ones are refused.
pub(super) fn close(schema: &mut Value) {
    let Value::Object(members) = schema else {
        return;
    };
    let has_properties = members
        .get("properties")
        .and_then(Value::as_object)
        .is_some_and(|properties| !properties.is_empty());
    let is_combined = COMBINATORS.iter().any(|keyword| members.contains_key(*keyword));
    if has_properties && !is_combined && !members.contains_key("unevaluatedProperties") {
        members.entry("additionalProperties").or_insert(Value::Bool(false));
    }
    for (keyword, inner) in members.iter_mut() {
        match keyword.as_str() {
            "properties" | "$defs" => inner
                .as_object_mut()
                .into_iter()
                .flat_map(Map::values_mut)
                .for_each(close),
            "items" | "additionalProperties" => close(inner),
            "prefixItems" => inner.as_array_mut().into_iter().flatten().for_each(close),
            // The members beside these keywords belong to the alternatives, too.
            "oneOf" | "anyOf" if !has_properties => inner.as_array_mut().into_iter().flatten().for_each(close),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(mut schema: Value, expected: &Value) {
        close(&mut schema);
        assert_eq!(schema, *expected);
    }

    #[test]
    fn closes_only_objects_whose_members_are_known() {
        let object = json!({"properties": {"a": {}}});
        let closed = json!({"properties": {"a": {}}, "additionalProperties": false});
        check(object.clone(), &closed);
        check(
            json!({"type": "object", "properties": {}}),
            &json!({"type": "object", "properties": {}}),
        );
        let open = json!({"properties": {"a": {}}, "additionalProperties": {"type": "string"}});
        check(open.clone(), &open);
        check(json!({"items": object}), &json!({"items": closed}));
        check(
            json!({"properties": {}, "oneOf": [object]}),
            &json!({"properties": {}, "oneOf": [closed]}),
        );
        let flattened = json!({"properties": {"b": {}}, "oneOf": [object]});
        check(flattened.clone(), &flattened);
    }
}

//! [`check`]: finds out which keywords of a schema are not understood, and whether the operands of the others are of the right
//! kind.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::{
    keywords::{PATTERNS, target},
    place::Place,
};

/// Keywords that only the full validator understands.
const NOT_UNDERSTOOD: [&str; 13] = [
    "$dynamicRef",
    "$recursiveRef",
    "additionalItems",
    "contains",
    "dependencies",
    "dependentSchemas",
    "divisibleBy",
    "extends",
    "maxContains",
    "minContains",
    "pattern",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// The draft whose keywords are understood. A schema need not name it.
const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The names of all types.
const TYPES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];

/// The depth to which a schema may be nested.
const MAX_DEPTH: usize = 128;

/// The largest number of places that are listed.
const MAX_PLACES: usize = 20;

/// Checks a schema, and returns the places of the keywords that are not understood. The error names the place that is wrong.
pub(super) fn check(schema: &Value) -> Result<Vec<String>, String> {
    let mut form = Form {
        root: schema,
        followed: BTreeSet::new(),
        depth: 0,
        not_understood: Vec::new(),
    };
    // Other drafts give some keywords another meaning.
    let draft = schema.get("$schema").and_then(Value::as_str);
    if draft.is_some_and(|draft| draft.trim_end_matches('#') != DRAFT) {
        return Ok(vec!["$.$schema".to_owned()]);
    }
    form.schema(schema, &Place::Root)?;
    Ok(form.not_understood)
}

struct Form<'a> {
    root: &'a Value,
    /// References whose targets are checked.
    followed: BTreeSet<&'a str>,
    depth: usize,
    /// The places of keywords that are not understood.
    not_understood: Vec<String>,
}

impl<'a> Form<'a> {
    fn ignore(&mut self, place: &Place<'_>) -> Result<(), String> {
        if self.not_understood.len() < MAX_PLACES {
            self.not_understood.push(place.to_string());
        }
        Ok(())
    }

    fn schema(&mut self, schema: &'a Value, place: &Place<'_>) -> Result<(), String> {
        let keywords = match schema {
            Value::Bool(_) => return Ok(()),
            Value::Object(keywords) => keywords,
            _ => return Err(format!("{place} is {schema}, but a schema is an object or a boolean")),
        };
        if self.depth == MAX_DEPTH {
            return Err(format!("it is nested more than {MAX_DEPTH} levels deep"));
        }
        self.depth += 1;
        for (keyword, operand) in keywords {
            self.keyword(keyword, operand, &Place::Member(place, keyword))?;
        }
        self.depth -= 1;
        Ok(())
    }

    fn keyword(&mut self, keyword: &'a str, operand: &'a Value, place: &Place<'_>) -> Result<(), String> {
        let expected = |is_right: bool, kind: &str| match is_right {
            true => Ok(()),
            false => Err(format!("{place} is {operand}, but must be {kind}")),
        };
        match keyword {
            "$defs" | "definitions" | "properties" => self.schemas(operand, place),
            "patternProperties" => {
                let patterns = operand.as_object().into_iter().flat_map(Map::keys);
                let mut other = patterns.filter(|pattern| !PATTERNS.contains(&pattern.as_str()));
                if let Some(pattern) = other.next() {
                    self.ignore(&Place::Member(place, pattern))?;
                }
                self.schemas(operand, place)
            }
            // Earlier drafts have lists here.
            "items" if operand.is_array() => self.ignore(place),
            "additionalProperties" | "else" | "if" | "items" | "not" | "propertyNames" | "then" => {
                self.schema(operand, place)
            }
            "allOf" | "anyOf" | "oneOf" | "prefixItems" => {
                let list = operand.as_array().filter(|list| !list.is_empty());
                expected(list.is_some(), "a list with at least one schema")?;
                let mut schemas = list.into_iter().flatten().enumerate();
                schemas.try_for_each(|(index, schema)| self.schema(schema, &Place::Item(place, index)))
            }
            "$ref" => self.reference(operand, place),
            "type" => expected(is_type(operand), "the name of a type, or a list of such names"),
            "enum" => expected(operand.is_array(), "a list of values"),
            "required" => expected(is_names(operand), "a list of names"),
            "dependentRequired" => {
                let are_names = operand.as_object().is_some_and(|lists| lists.values().all(is_names));
                expected(are_names, "an object with lists of names")
            }
            "uniqueItems" => expected(operand.is_boolean(), "a boolean"),
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => {
                expected(operand.is_number(), "a number")
            }
            // The remainder of fractions is not exact.
            "multipleOf" if operand.as_f64().is_some_and(|number| number.fract() != 0.0) => self.ignore(place),
            "multipleOf" => expected(operand.as_f64().is_some_and(|number| number > 0.0), "a positive number"),
            "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" => {
                expected(operand.is_u64(), "a whole number that is not negative")
            }
            // References would be relative to it.
            "$id" | "id" if self.depth > 1 && operand.is_string() => self.ignore(place),
            _ if NOT_UNDERSTOOD.contains(&keyword) => self.ignore(place),
            // Annotations, and keywords that are not of JSON Schema.
            _ => Ok(()),
        }
    }

    fn schemas(&mut self, operand: &'a Value, place: &Place<'_>) -> Result<(), String> {
        let Value::Object(schemas) = operand else {
            return Err(format!("{place} is {operand}, but must be an object with schemas"));
        };
        let mut schemas = schemas.iter();
        schemas.try_for_each(|(name, schema)| self.schema(schema, &Place::Member(place, name)))
    }

    fn reference(&mut self, operand: &'a Value, place: &Place<'_>) -> Result<(), String> {
        let Some(schema) = target(self.root, operand) else {
            return Err(format!("{place} is {operand}, which is not in the same document"));
        };
        match operand.as_str() {
            Some(reference) if self.followed.insert(reference) => self.schema(schema, place),
            _ => Ok(()),
        }
    }
}

fn is_type(operand: &Value) -> bool {
    let is_name = |name: &Value| name.as_str().is_some_and(|name| TYPES.contains(&name));
    match operand {
        Value::Array(names) => !names.is_empty() && names.iter().all(is_name),
        name => is_name(name),
    }
}

fn is_names(operand: &Value) -> bool {
    operand
        .as_array()
        .is_some_and(|names| names.iter().all(Value::is_string))
}

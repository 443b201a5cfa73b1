//! [`explain_mismatch`]: explains why arguments that could not be deserialized match none of several alternatives.
//!
//! This understands only the keywords that types produce. It never decides whether arguments are valid.

use agcore_chat::{SchemaViolation, text::nearest_names};
use serde_json::Value;

use super::alternatives::{Alternatives, Choice, constants, has_type, resolve};

/// The number of members that a message lists.
const MAX_LISTED: usize = 12;

/// Returns what a violation of `schema` is about: `found`, or, where the value matches none of the alternatives of an
/// enum, what is wrong with it.
pub(crate) fn explain_mismatch(schema: &Value, value: &Value, found: SchemaViolation) -> Vec<SchemaViolation> {
    let mut outline = Outline {
        root: schema,
        violations: Vec::new(),
    };
    outline.find(schema, value, "$");
    if outline.violations.is_empty() {
        outline.violations.push(found);
    }
    outline.violations
}

/// Returns the message about a member that is not among the known ones.
pub(crate) fn unknown_member_message<N: AsRef<str>>(name: &str, known: impl IntoIterator<Item = N>) -> String {
    let known: Vec<N> = known.into_iter().collect();
    let near = nearest_names(name, known.iter().map(AsRef::as_ref), 1);
    if let [near] = near.as_slice() {
        return format!("unknown member; did you mean {near}?");
    }
    let mut names: Vec<&str> = known.iter().take(MAX_LISTED).map(AsRef::as_ref).collect();
    match known.len() {
        0 => return "unknown member; the object has none".to_owned(),
        len if len > MAX_LISTED => names.push("…"),
        _ => names.sort_unstable(),
    }
    format!("unknown member; expected {}", names.join(", "))
}

struct Outline<'a> {
    root: &'a Value,
    violations: Vec<SchemaViolation>,
}

impl<'a> Outline<'a> {
    /// Looks for alternatives of which none matches.
    fn find(&mut self, schema: &'a Value, value: &Value, path: &str) {
        let schema = resolve(self.root, schema);
        let list = schema.get("oneOf").or_else(|| schema.get("anyOf"));
        if let Some(alternatives) = list.and_then(|list| Alternatives::new(self.root, list)) {
            let matching = (0..)
                .map_while(|index| alternatives.get(index))
                .find(|branch| self.matches(branch, value));
            match matching {
                Some(branch) => self.find(branch, value, path),
                None => self.explain(&alternatives, value, path),
            }
        }
        match value {
            Value::Object(members) => {
                for (name, member) in members {
                    if let Some(schema) = schema.get("properties").and_then(|schemas| schemas.get(name)) {
                        self.find(schema, member, &format!("{path}.{name}"));
                    }
                }
            }
            Value::Array(items) => {
                if let Some(schema) = schema.get("items") {
                    for (index, item) in items.iter().enumerate() {
                        self.find(schema, item, &format!("{path}[{index}]"));
                    }
                }
            }
            _ => {}
        }
    }

    fn explain(&mut self, alternatives: &Alternatives<'a>, value: &Value, path: &str) {
        match alternatives.choose(value) {
            Choice::None(member, message) => {
                let path = member.map_or_else(|| path.to_owned(), |name| format!("{path}.{name}"));
                self.violations.push(SchemaViolation::new(path, message));
            }
            Choice::Branch(index, tag) => {
                let before = self.violations.len();
                if let Some(branch) = alternatives.get(index) {
                    self.check(branch, value, path);
                }
                for violation in &mut self.violations[before..] {
                    violation.message.insert_str(0, &tag);
                }
            }
        }
    }

    /// Adds the violations of one alternative.
    fn check(&mut self, schema: &'a Value, value: &Value, path: &str) {
        let schema = resolve(self.root, schema);
        if !has_type(schema, value) {
            let message = format!("{value} is not of type {}", schema["type"]);
            self.violations.push(SchemaViolation::new(path, message));
            return;
        }
        let constants = constants(schema);
        if !constants.is_empty() && !constants.contains(&value) {
            let list: Vec<String> = constants.iter().map(ToString::to_string).collect();
            let message = format!("{value} is not one of {}", list.join(", "));
            self.violations.push(SchemaViolation::new(path, message));
        }
        let Value::Object(members) = value else {
            return self.find(schema, value, path);
        };
        for name in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
            if name.as_str().is_some_and(|name| !members.contains_key(name)) {
                let message = format!("{name} is a required property");
                self.violations.push(SchemaViolation::new(path, message));
            }
        }
        for (name, member) in members {
            let path = format!("{path}.{name}");
            if let Some(schema) = schema.get("properties").and_then(|schemas| schemas.get(name)) {
                self.check(schema, member, &path);
            } else if schema.get("additionalProperties") == Some(&Value::Bool(false)) {
                let known = schema
                    .get("properties")
                    .and_then(Value::as_object)
                    .into_iter()
                    .flatten();
                let message = unknown_member_message(name, known.map(|(name, _)| name));
                self.violations.push(SchemaViolation::new(path, message));
            }
        }
    }

    fn matches(&self, schema: &'a Value, value: &Value) -> bool {
        let mut outline = Outline {
            root: self.root,
            violations: Vec::new(),
        };
        outline.check(schema, value, "$");
        outline.violations.is_empty()
    }
}

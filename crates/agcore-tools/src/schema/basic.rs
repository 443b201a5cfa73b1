//! [`Validator`]: the keywords of JSON Schema that Rust types produce and people usually write, without any dependency.
//!
//! It checks the arguments and outputs of all tools that do not ask for the full validator, in every build. Keywords that it
//! does not understand are not enforced, and never refuse a value that the schema accepts.

#[cfg(all(test, feature = "schema"))]
mod comparison;
mod form;
mod keywords;
mod place;

use agcore_chat::{SchemaViolation, text::clip};
use serde_json::{Map, Value};

use self::{keywords::target, place::Place};
use super::alternatives::{Alternatives, Choice, MAX_VIOLATIONS};
use crate::arguments::MESSAGE_BYTES;

/// The depth to which schemas may be applied within each other. References count, too.
const MAX_DEPTH: u32 = 400;

/// The number of times that schemas may be applied to a small value. Only alternatives that multiply need more.
const MAX_STEPS: usize = 10_000;

/// The number of additional times for each value in a large one.
const STEPS_PER_VALUE: usize = 100;

/// A schema whose form is valid.
#[derive(Debug)]
pub(crate) struct Validator {
    schema: Value,
    /// The places of keywords that are not understood.
    not_enforced: Vec<String>,
}

impl Validator {
    pub(super) fn new(schema: &Value) -> Result<Self, String> {
        let not_enforced = form::check(schema)?;
        Ok(Self {
            schema: schema.clone(),
            not_enforced,
        })
    }

    /// Returns the places of keywords that are not enforced.
    pub(super) fn not_enforced(&self) -> &[String] {
        &self.not_enforced
    }

    pub(super) fn check(&self, value: &Value) -> Result<(), Vec<SchemaViolation>> {
        let violations = violations(&self.schema, value, self.not_enforced.is_empty());
        if violations.is_empty() { Ok(()) } else { Err(violations) }
    }
}

/// Returns the schema violations of a value. `is_whole` states whether every keyword of the schema is understood.
fn violations<'a>(schema: &'a Value, value: &'a Value, is_whole: bool) -> Vec<SchemaViolation> {
    let mut check = Check {
        root: schema,
        is_whole,
        value,
        violations: Vec::new(),
        is_quiet: false,
        has_failed: false,
        is_exhausted: false,
        depth: 0,
        steps: 0,
        max_steps: MAX_STEPS,
    };
    check.apply(schema, value, &Place::Root);
    if check.is_exhausted {
        let message = "the value and its schema are too deeply nested, or too complex, to be checked";
        return vec![SchemaViolation::new("$", message)];
    }
    check.violations
}

/// The check of one value.
struct Check<'a> {
    root: &'a Value,
    /// Whether every keyword is understood. If not, a schema may seem to accept a value that it refuses, so keywords that
    /// refuse a value because a schema accepts it are not enforced.
    is_whole: bool,
    value: &'a Value,
    violations: Vec<SchemaViolation>,
    /// Whether only the result counts, and not the violations.
    is_quiet: bool,
    has_failed: bool,
    /// Whether a limit was reached. The value is then refused, whatever was found.
    is_exhausted: bool,
    depth: u32,
    steps: usize,
    max_steps: usize,
}

impl<'a> Check<'a> {
    fn apply(&mut self, schema: &'a Value, value: &Value, place: &Place<'_>) {
        let keywords = match schema {
            Value::Object(keywords) => keywords,
            Value::Bool(false) => return self.fail(place, || format!("False schema does not allow {value}")),
            _ => return,
        };
        if self.is_done() {
            return;
        }
        self.steps += 1;
        self.depth += 1;
        if self.steps == MAX_STEPS {
            self.max_steps += STEPS_PER_VALUE * count(self.value);
        }
        self.is_exhausted = self.depth > MAX_DEPTH || self.steps > self.max_steps;
        for (keyword, operand) in keywords {
            if self.is_done() {
                break;
            }
            self.keyword(keywords, keyword, operand, value, place);
        }
        self.depth -= 1;
    }

    /// Returns whether nothing more needs to be known.
    fn is_done(&self) -> bool {
        self.is_exhausted || (self.is_quiet && self.has_failed) || self.violations.len() >= MAX_VIOLATIONS
    }

    fn keyword(
        &mut self,
        keywords: &'a Map<String, Value>,
        keyword: &'a str,
        operand: &'a Value,
        value: &Value,
        place: &Place<'_>,
    ) {
        match (keyword, value) {
            ("$ref", _) => {
                if let Some(schema) = target(self.root, operand) {
                    self.apply(schema, value, place);
                }
            }
            ("allOf", _) => {
                for schema in operand.as_array().into_iter().flatten() {
                    self.apply(schema, value, place);
                }
            }
            ("anyOf" | "oneOf", _) => self.alternatives(keyword, operand, value, place),
            ("not" | "if", _) if !self.is_whole => {}
            ("not", _) => {
                if self.accepts(operand, value) {
                    self.fail(place, || format!("{operand} is not allowed for {value}"));
                }
            }
            ("if", _) => {
                let branch = if self.accepts(operand, value) { "then" } else { "else" };
                if let Some(schema) = keywords.get(branch) {
                    self.apply(schema, value, place);
                }
            }
            (_, Value::Array(items)) if self.items(keywords, keyword, operand, items, place) => {}
            (_, Value::Object(members)) if self.members(keywords, keyword, operand, members, place) => {}
            _ => {
                if let Some(message) = keywords::wrong(keyword, operand, value) {
                    self.fail(place, || message);
                }
            }
        }
    }

    /// Applies a keyword for the items of an array. Returns whether it is one.
    fn items(
        &mut self,
        keywords: &'a Map<String, Value>,
        keyword: &str,
        operand: &'a Value,
        items: &[Value],
        place: &Place<'_>,
    ) -> bool {
        match keyword {
            "items" => {
                let first = keywords
                    .get("prefixItems")
                    .and_then(Value::as_array)
                    .map_or(0, Vec::len);
                for (index, item) in items.iter().enumerate().skip(first) {
                    self.apply(operand, item, &Place::Item(place, index));
                }
            }
            "prefixItems" => {
                for (index, (schema, item)) in operand.as_array().into_iter().flatten().zip(items).enumerate() {
                    self.apply(schema, item, &Place::Item(place, index));
                }
            }
            _ => return false,
        }
        true
    }

    /// Applies a keyword for the members of an object. Returns whether it is one.
    fn members(
        &mut self,
        keywords: &'a Map<String, Value>,
        keyword: &str,
        operand: &'a Value,
        members: &Map<String, Value>,
        place: &Place<'_>,
    ) -> bool {
        match keyword {
            "properties" => {
                for (name, member) in members {
                    if let Some(schema) = operand.get(name) {
                        self.apply(schema, member, &Place::Member(place, name));
                    }
                }
            }
            "patternProperties" => {
                for (name, member) in members {
                    for (pattern, schema) in operand.as_object().into_iter().flatten() {
                        if keywords::matches(pattern, name) {
                            self.apply(schema, member, &Place::Member(place, name));
                        }
                    }
                }
            }
            "additionalProperties" if keywords::has_other_patterns(keywords) => {}
            "additionalProperties" => {
                for (name, member) in members.iter().filter(|(name, _)| !keywords::names(keywords, name)) {
                    let place = Place::Member(place, name);
                    match operand {
                        Value::Bool(false) => self.fail(&place, || keywords::unknown_member(keywords, name)),
                        _ => self.apply(operand, member, &place),
                    }
                }
            }
            "propertyNames" => {
                for name in members.keys() {
                    self.apply(operand, &Value::from(name.as_str()), place);
                }
            }
            "required" => self.required(operand, members, place),
            "dependentRequired" => {
                for (_, names) in present(operand, members) {
                    self.required(names, members, place);
                }
            }
            _ => return false,
        }
        true
    }

    fn required(&mut self, names: &Value, members: &Map<String, Value>, place: &Place<'_>) {
        for name in names.as_array().into_iter().flatten() {
            if name.as_str().is_some_and(|name| !members.contains_key(name)) {
                self.fail(place, || format!("{name} is a required property"));
            }
        }
    }

    /// Checks that one of several schemas accepts the value, or exactly one for `oneOf`.
    fn alternatives(&mut self, keyword: &str, list: &'a Value, value: &Value, place: &Place<'_>) {
        let schemas = || list.as_array().into_iter().flatten();
        let limit = if keyword == "oneOf" && self.is_whole { 2 } else { 1 };
        let accepted = schemas()
            .filter(|schema| self.accepts(schema, value))
            .take(limit)
            .count();
        match accepted {
            0 => self.explain(keyword, list, value, place),
            1 => {}
            _ => self.fail(place, || {
                format!("{value} is valid under more than one of the schemas listed in the 'oneOf' keyword")
            }),
        }
    }

    /// Adds the violation of a value that none of several schemas accepts.
    fn explain(&mut self, keyword: &str, list: &'a Value, value: &Value, place: &Place<'_>) {
        self.has_failed = true;
        if self.is_quiet {
            return;
        }
        let Some(alternatives) = Alternatives::new(self.root, list) else {
            return;
        };
        match alternatives.choose(value) {
            Choice::None(Some(member), message) => self.fail(&Place::Member(place, &member), || message),
            Choice::None(None, message) => self.fail(place, || message),
            Choice::Branch(index, tag) => {
                let start = self.violations.len();
                if let Some(schema) = alternatives.get(index) {
                    self.apply(schema, value, place);
                }
                for violation in &mut self.violations[start..] {
                    violation.message.insert_str(0, &tag);
                }
                if self.violations.len() == start {
                    self.fail(place, || {
                        format!("{value} is not valid under any of the schemas listed in the '{keyword}' keyword")
                    });
                }
            }
        }
    }

    /// Returns whether a schema accepts the value.
    fn accepts(&mut self, schema: &'a Value, value: &Value) -> bool {
        let outer = (self.is_quiet, self.has_failed);
        (self.is_quiet, self.has_failed) = (true, false);
        self.apply(schema, value, &Place::Root);
        let is_accepted = !self.has_failed;
        (self.is_quiet, self.has_failed) = outer;
        is_accepted
    }

    fn fail(&mut self, place: &Place<'_>, message: impl FnOnce() -> String) {
        self.has_failed = true;
        if !self.is_quiet && self.violations.len() < MAX_VIOLATIONS {
            let message = clip(&message(), MESSAGE_BYTES).into_owned();
            self.violations.push(SchemaViolation::new(place.to_string(), message));
        }
    }
}

/// Returns the number of values that a value consists of, including itself.
fn count(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(count).sum::<usize>(),
        Value::Object(members) => 1 + members.values().map(count).sum::<usize>(),
        _ => 1,
    }
}

/// Returns the entries of an operand for members that the object has.
fn present<'a>(operand: &'a Value, members: &Map<String, Value>) -> impl Iterator<Item = (&'a String, &'a Value)> {
    let entries = operand.as_object().into_iter().flatten();
    entries.filter(|(name, _)| members.contains_key(*name))
}

//! Forms of MCP servers at a terminal: their members, and the parsing of what a person types.
//!
//! ```
//! use agcore_mcp::form::fields;
//!
//! let schema = serde_json::json!({
//!     "type": "object",
//!     "properties": {"size": {"type": "integer", "minimum": 1, "maximum": 9}},
//!     "required": ["size"],
//! });
//! let fields = fields(&schema);
//! assert_eq!(fields[0].hint(), "whole number from 1 to 9");
//! assert_eq!(fields[0].parse("3")?, Some(3.into()));
//! assert!(fields[0].parse("ten").is_err());
//! # Ok::<(), String>(())
//! ```

use serde_json::{Number, Value};

/// A member of a form.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Field {
    /// The name of the member.
    pub name: String,
    /// The text that is shown: the title, else the name.
    pub label: String,
    /// Its meaning.
    pub description: Option<String>,
    /// Whether it must have a value.
    pub is_required: bool,
    /// The value that the server suggests.
    pub default: Option<Value>,
    /// The values that it accepts.
    pub kind: Kind,
}

/// The values that a member accepts.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Kind {
    /// A text.
    Text {
        /// The smallest and largest number of characters.
        length: (Option<u64>, Option<u64>),
        /// Such as `email`, which the server checks.
        format: Option<String>,
    },
    /// A number.
    Number {
        /// Whether it is a whole number.
        is_integer: bool,
        /// The smallest and largest number.
        range: (Option<f64>, Option<f64>),
    },
    /// Yes or no.
    Boolean,
    /// One of several values.
    Choice(Vec<Choice>),
    /// Any number of choices.
    Choices {
        /// The choices.
        choices: Vec<Choice>,
        /// The smallest and largest number of choices.
        count: (Option<u64>, Option<u64>),
    },
}

/// A value and the label that is shown for it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Choice {
    /// The value.
    pub value: String,
    /// The text that is shown.
    pub label: String,
}

/// Returns the members of a form, the required ones first, in the order of the schema otherwise.
pub fn fields(schema: &Value) -> Vec<Field> {
    let required: Vec<&str> = schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let properties = schema["properties"].as_object().into_iter().flatten();
    let mut fields: Vec<Field> = properties
        .map(|(name, property)| Field {
            name: name.clone(),
            label: property["title"].as_str().unwrap_or(name).to_owned(),
            description: property["description"].as_str().map(str::to_owned),
            is_required: required.contains(&name.as_str()),
            default: property.get("default").cloned(),
            kind: kind(property),
        })
        .collect();
    fields.sort_by_key(|field| !field.is_required);
    fields
}

fn kind(property: &Value) -> Kind {
    let limits = |smallest: &str, largest: &str| (property[smallest].as_u64(), property[largest].as_u64());
    if let Some(choices) = choices(property) {
        return Kind::Choice(choices);
    }
    match property["type"].as_str() {
        Some("boolean") => Kind::Boolean,
        Some(kind @ ("integer" | "number")) => Kind::Number {
            is_integer: kind == "integer",
            range: (property["minimum"].as_f64(), property["maximum"].as_f64()),
        },
        Some("array") => Kind::Choices {
            choices: choices(&property["items"]).unwrap_or_default(),
            count: limits("minItems", "maxItems"),
        },
        _ => Kind::Text {
            length: limits("minLength", "maxLength"),
            format: property["format"].as_str().map(str::to_owned),
        },
    }
}

/// Returns the choices of a schema in any of the forms of the protocol: titles are in `enumNames`, `oneOf` or `anyOf`.
fn choices(schema: &Value) -> Option<Vec<Choice>> {
    let titled = schema["oneOf"].as_array().or_else(|| schema["anyOf"].as_array());
    if let Some(titled) = titled {
        let choice = |entry: &Value| {
            let value = entry["const"].as_str()?.to_owned();
            let label = entry["title"].as_str().unwrap_or(&value).to_owned();
            Some(Choice { value, label })
        };
        return Some(titled.iter().filter_map(choice).collect());
    }
    let values = schema["enum"].as_array()?;
    let choice = |(index, value): (usize, &Value)| {
        let value = value.as_str()?.to_owned();
        let label = schema["enumNames"][index].as_str().unwrap_or(&value).to_owned();
        Some(Choice { value, label })
    };
    Some(values.iter().enumerate().filter_map(choice).collect())
}

impl Field {
    /// Describes the accepted values: `number from 1 to 10`.
    pub fn hint(&self) -> String {
        let between = |what: &str, (from, to): (Option<String>, Option<String>)| match (from, to) {
            (Some(from), Some(to)) => format!("{what} from {from} to {to}"),
            (Some(from), None) => format!("{what} of at least {from}"),
            (None, Some(to)) => format!("{what} of at most {to}"),
            (None, None) => what.to_owned(),
        };
        let texts = |(from, to): (Option<u64>, Option<u64>)| (from.map(|n| n.to_string()), to.map(|n| n.to_string()));
        match &self.kind {
            Kind::Text {
                format: Some(format), ..
            } => format.clone(),
            Kind::Text {
                length: (None, None), ..
            } => "text".to_owned(),
            Kind::Text { length, .. } => between("text with a number of characters", texts(*length)),
            Kind::Number { is_integer, range } => {
                let what = if *is_integer { "whole number" } else { "number" };
                between(what, (range.0.map(|n| n.to_string()), range.1.map(|n| n.to_string())))
            }
            Kind::Boolean => "yes or no".to_owned(),
            Kind::Choice(choices) => format!("one of {}", listed(choices)),
            Kind::Choices { choices, .. } => format!("any of {}, separated by commas", listed(choices)),
        }
    }

    /// Returns the default as the user would type it.
    pub fn default_text(&self) -> String {
        match &self.default {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(Value::Bool(value)) => if *value { "yes" } else { "no" }.to_owned(),
            Some(Value::Array(values)) => {
                let texts: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
                texts.join(", ")
            }
            Some(value) => value.to_string(),
        }
    }

    /// Parses what the user typed. Returns `None` for an optional member that is left out.
    ///
    /// # Errors
    /// Why the text is not an accepted value.
    pub fn parse(&self, text: &str) -> Result<Option<Value>, String> {
        let text = text.trim();
        if text.is_empty() {
            return match (self.is_required, &self.kind) {
                (false, _) => Ok(None),
                (true, Kind::Text { length, .. }) if length.0.unwrap_or(0) == 0 && self.default.is_some() => {
                    Ok(Some(Value::from("")))
                }
                (true, _) => Err(format!("a value is required: {}", self.hint())),
            };
        }
        let wrong = || format!("this is not accepted; type {}", self.hint());
        match &self.kind {
            Kind::Text { length, .. } => {
                let count = text.chars().count() as u64;
                is_within(count, *length).then(|| Some(text.into())).ok_or_else(wrong)
            }
            Kind::Number { is_integer, range } => {
                let number = match is_integer {
                    true => text.parse::<i64>().ok().map(Number::from),
                    false => text.parse::<f64>().ok().and_then(Number::from_f64),
                };
                let number = number.ok_or_else(wrong)?;
                let value = number.as_f64().unwrap_or(f64::NAN);
                let is_accepted =
                    range.0.is_none_or(|least| value >= least) && range.1.is_none_or(|most| value <= most);
                is_accepted.then(|| Some(Value::Number(number))).ok_or_else(wrong)
            }
            Kind::Boolean => match text.to_lowercase().as_str() {
                "y" | "yes" | "true" => Ok(Some(true.into())),
                "n" | "no" | "false" => Ok(Some(false.into())),
                _ => Err(wrong()),
            },
            Kind::Choice(choices) => find(choices, text).map(Some).ok_or_else(wrong),
            Kind::Choices { choices, count } => {
                let chosen = text.split(',').map(str::trim).filter(|text| !text.is_empty());
                let chosen: Vec<Value> = chosen
                    .map(|text| find(choices, text).ok_or_else(wrong))
                    .collect::<Result<_, _>>()?;
                match is_within(chosen.len() as u64, *count) {
                    true => Ok(Some(chosen.into())),
                    false => Err(wrong()),
                }
            }
        }
    }
}

fn is_within(count: u64, (least, most): (Option<u64>, Option<u64>)) -> bool {
    least.is_none_or(|least| count >= least) && most.is_none_or(|most| count <= most)
}

/// Lists choices with their numbers: `1 red, 2 green`.
fn listed(choices: &[Choice]) -> String {
    let entry = |(index, choice): (usize, &Choice)| format!("{} {}", index + 1, choice.label);
    let entries: Vec<String> = choices.iter().enumerate().map(entry).collect();
    entries.join(", ")
}

/// Finds a choice by its value, its label or its number.
fn find(choices: &[Choice], text: &str) -> Option<Value> {
    let is_named = |choice: &&Choice| choice.value == text || choice.label.eq_ignore_ascii_case(text);
    let numbered = || choices.get(text.parse::<usize>().ok()?.checked_sub(1)?);
    let found = choices.iter().find(is_named).or_else(numbered);
    found.map(|choice| choice.value.as_str().into())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn field(property: Value, is_required: bool) -> Field {
        let required = if is_required { json!(["x"]) } else { json!([]) };
        let form = json!({"type": "object", "properties": {"x": property}, "required": required});
        fields(&form).remove(0)
    }

    #[track_caller]
    fn check(property: Value, cases: &[(&str, Option<Value>)]) {
        let field = field(property, true);
        for (text, expected) in cases {
            assert_eq!(field.parse(text).ok().flatten(), *expected, "{text:?} for {field:?}");
        }
    }

    #[test]
    fn texts_become_values_of_the_schema() {
        check(
            json!({"type": "string", "minLength": 2, "maxLength": 3}),
            &[("a", None), (" äö ", Some(json!("äö"))), ("abcd", None), ("", None)],
        );
        check(
            json!({"type": "integer", "minimum": 1, "maximum": 10}),
            &[("0", None), ("10", Some(json!(10))), ("1.5", None), ("ten", None)],
        );
        check(json!({"type": "number"}), &[("1.5", Some(json!(1.5))), ("NaN", None)]);
        check(
            json!({"type": "boolean"}),
            &[("Yes", Some(json!(true))), ("n", Some(json!(false))), ("maybe", None)],
        );
        let colors = [
            ("red", Some(json!("r"))),
            ("2", Some(json!("g"))),
            ("r", Some(json!("r"))),
            ("3", None),
            ("0", None),
        ];
        check(
            json!({"type": "string", "enum": ["r", "g"], "enumNames": ["Red", "Green"]}),
            &colors,
        );
        let titled = json!([{"const": "r", "title": "Red"}, {"const": "g", "title": "Green"}]);
        check(json!({"type": "string", "oneOf": titled}), &colors);
        check(
            json!({"type": "array", "items": {"anyOf": titled}, "minItems": 2}),
            &[("1, green", Some(json!(["r", "g"]))), ("1", None), ("1, blue", None)],
        );
    }

    #[test]
    fn optional_members_may_be_left_out() {
        for property in [
            json!({"type": "string"}),
            json!({"type": "integer"}),
            json!({"type": "boolean"}),
        ] {
            assert_eq!(field(property.clone(), false).parse(" "), Ok(None));
            assert!(field(property, true).parse(" ").is_err());
        }
    }

    #[test]
    fn required_members_come_first_and_defaults_are_typed() {
        let form = json!({
            "properties": {
                "a": {"type": "boolean", "default": true, "title": "A?"},
                "b": {"type": "array", "items": {"enum": ["x", "y"]}, "default": ["x", "y"]},
                "c": {"type": "integer", "default": 3},
            },
            "required": ["b"],
        });
        let fields = fields(&form);
        let found: Vec<_> = fields
            .iter()
            .map(|field| (&*field.label, field.default_text()))
            .collect();
        let expected = [("b", "x, y"), ("A?", "yes"), ("c", "3")];
        assert_eq!(found, expected.map(|(label, text)| (label, text.to_owned())));
        for field in &fields {
            assert_eq!(field.parse(&field.default_text()).unwrap(), field.default, "{field:?}");
        }
        assert_eq!(fields[0].hint(), "any of 1 x, 2 y, separated by commas");
    }

    #[test]
    fn malformed_schemas_are_forms_without_members() {
        for schema in [
            json!(null),
            json!([1]),
            json!({"properties": 7}),
            json!({"properties": {}}),
        ] {
            assert_eq!(fields(&schema), [], "{schema}");
        }
    }
}

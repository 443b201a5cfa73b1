//! [`PartialArguments`]: arguments that Vertex AI streams value by value, each with its place as a JSON path.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::call::PartialArgument;

/// A bound on the items of a list that may be missing before one that is set.
const MAX_GAP: usize = 256;

/// The arguments of a call so far.
#[derive(Debug)]
pub(super) struct PartialArguments {
    root: Value,
    /// The place of a string that is not complete yet.
    open: Option<Box<str>>,
}

/// A step of a path.
#[derive(Debug, PartialEq)]
enum Step<'p> {
    Member(Cow<'p, str>),
    Item(usize),
}

impl PartialArguments {
    pub(super) fn new() -> Self {
        Self {
            root: Value::Object(Map::new()),
            open: None,
        }
    }

    /// Sets a value, or appends to a string. Returns a description of the fault if the place cannot exist.
    pub(super) fn apply(&mut self, argument: PartialArgument) -> Result<(), String> {
        let is_continued = self.open.take().is_some_and(|open| open == argument.path);
        let place = self
            .place(&argument.path)
            .ok_or_else(|| format!("the path `{}` of an argument is invalid", argument.path))?;
        match (place, argument.value) {
            (Value::String(text), Some(Value::String(more))) if is_continued => text.push_str(&more),
            (place, Some(value)) => *place = value,
            (_, None) => {}
        }
        self.open = argument.will_continue.then_some(argument.path);
        Ok(())
    }

    /// Returns the JSON text. That of an incomplete call lacks its end, so that it is never taken for complete.
    pub(super) fn text(&self, is_complete: bool) -> String {
        let mut text = self.root.to_string();
        if !is_complete {
            text.pop();
        }
        text
    }

    fn place(&mut self, path: &str) -> Option<&mut Value> {
        let mut place = &mut self.root;
        for step in steps(path)? {
            place = descend(place, step)?;
        }
        Some(place)
    }
}

fn descend<'v>(value: &'v mut Value, step: Step<'_>) -> Option<&'v mut Value> {
    match step {
        Step::Member(name) => {
            if value.is_null() {
                *value = Value::Object(Map::new());
            }
            Some(value.as_object_mut()?.entry(name).or_insert(Value::Null))
        }
        Step::Item(index) => {
            if value.is_null() {
                *value = Value::Array(Vec::new());
            }
            let items = value.as_array_mut()?;
            if index > items.len().saturating_add(MAX_GAP) {
                return None;
            }
            if index >= items.len() {
                items.resize(index + 1, Value::Null);
            }
            items.get_mut(index)
        }
    }
}

/// Parses a path: `$.a[0].b`, `$['a b'][0]`. The root alone is not a place for a value.
fn steps(path: &str) -> Option<Vec<Step<'_>>> {
    let mut rest = path.strip_prefix('$').unwrap_or(path);
    let mut steps = Vec::new();
    while !rest.is_empty() {
        let (step, behind) = first_step(rest)?;
        steps.push(step);
        rest = behind;
    }
    (!steps.is_empty()).then_some(steps)
}

fn first_step(path: &str) -> Option<(Step<'_>, &str)> {
    let Some(inner) = path.strip_prefix('[') else {
        let name = path.strip_prefix('.').unwrap_or(path);
        let end = name.find(['.', '[']).unwrap_or(name.len());
        return (end > 0).then(|| (Step::Member(name[..end].into()), &name[end..]));
    };
    let Some(quote @ (b'\'' | b'"')) = inner.bytes().next() else {
        let (index, behind) = inner.split_once(']')?;
        return Some((Step::Item(index.trim().parse().ok()?), behind));
    };
    quoted_step(&inner[1..], char::from(quote))
}

/// Reads a name in quotes with backslashes as escapes, and the bracket behind it.
fn quoted_step(text: &str, quote: char) -> Option<(Step<'_>, &str)> {
    let (mut name, mut escaped) = (String::new(), false);
    for (at, letter) in text.char_indices() {
        if escaped {
            name.push(letter);
            escaped = false;
        } else if letter == '\\' {
            escaped = true;
        } else if letter == quote {
            let behind = text[at + 1..].strip_prefix(']')?;
            return Some((Step::Member(name.into()), behind));
        } else {
            name.push(letter);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn argument(path: &str, value: Value, will_continue: bool) -> PartialArgument {
        PartialArgument {
            path: path.into(),
            value: Some(value),
            will_continue,
        }
    }

    #[test]
    fn values_arrive_at_their_places() {
        let mut arguments = PartialArguments::new();
        for (path, value, more) in [
            ("$.a[0].s", json!("ab"), true),
            ("$.a[0].s", json!("cd"), true),
            ("$.a[0].s", json!(""), false),
            ("$.a[0].s", json!("new"), false),
            ("$['b c'].d", json!(1.5), false),
            ("$[\"e\\\"\"]", json!(null), false),
            (".f", json!(true), false),
            ("$.a[2]", json!("x"), false),
        ] {
            arguments.apply(argument(path, value, more)).unwrap();
        }
        assert_eq!(
            arguments.text(true),
            r#"{"a":[{"s":"new"},null,"x"],"b c":{"d":1.5},"e\"":null,"f":true}"#
        );
        assert!(serde_json::from_str::<Value>(&arguments.text(false)).is_err());
    }

    #[test]
    fn invalid_paths_are_refused() {
        for path in [
            "",
            "$",
            "$.",
            "$..a",
            "$[",
            "$[x]",
            "$['a",
            "$['a'",
            "$.a[99999999999]",
            "$.a[1000000]",
        ] {
            let mut arguments = PartialArguments::new();
            assert!(arguments.apply(argument(path, json!(1), false)).is_err(), "{path}");
        }
        let mut arguments = PartialArguments::new();
        arguments.apply(argument("$.a", json!("text"), false)).unwrap();
        assert!(arguments.apply(argument("$.a.b", json!(1), false)).is_err());
    }
}

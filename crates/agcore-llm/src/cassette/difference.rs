//! [`Difference`]: a readable description of a difference between two JSON documents.

use std::fmt;

use agcore_chat::text::{clip, floor_char_boundary, prefix};
use serde_json::{Map, Value};

/// The maximum length of an excerpt of a value, in bytes.
const MAX_EXCERPT: usize = 60;

/// The length of the excerpt before the first difference of two strings, in bytes.
const CONTEXT: usize = 20;

/// A place at which two documents differ.
#[derive(Debug, PartialEq)]
pub(super) struct Difference {
    path: String,
    recorded: Option<String>,
    now: Option<String>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path.is_empty() {
            "the request"
        } else {
            &self.path
        };
        match (&self.recorded, &self.now) {
            (Some(recorded), Some(now)) => write!(f, "{path}: recorded {recorded}, now {now}"),
            (Some(recorded), None) => write!(f, "{path}: recorded {recorded}, now missing"),
            (None, Some(now)) => write!(f, "{path}: not recorded, now {now}"),
            (None, None) => f.write_str(path),
        }
    }
}

/// Returns the places at which two documents differ, in the order of the recorded one.
pub(super) fn differences(recorded: &Value, now: &Value) -> Vec<Difference> {
    let mut found = Vec::new();
    compare(&mut String::new(), recorded, now, &mut found);
    found
}

fn compare(path: &mut String, recorded: &Value, now: &Value, found: &mut Vec<Difference>) {
    match (recorded, now) {
        _ if recorded == now => {}
        (Value::Object(recorded), Value::Object(now)) => compare_objects(path, recorded, now, found),
        (Value::Array(recorded), Value::Array(now)) => compare_arrays(path, recorded, now, found),
        (Value::String(recorded), Value::String(now)) => {
            let start = excerpt_start(recorded, now);
            found.push(Difference {
                path: path.clone(),
                recorded: Some(excerpt(recorded, start)),
                now: Some(excerpt(now, start)),
            });
        }
        _ => push(path, Some(recorded), Some(now), found),
    }
}

fn compare_objects(
    path: &mut String,
    recorded: &Map<String, Value>,
    now: &Map<String, Value>,
    found: &mut Vec<Difference>,
) {
    for (name, value) in recorded {
        within(path, name, |path| match now.get(name) {
            Some(now) => compare(path, value, now, found),
            None => push(path, Some(value), None, found),
        });
    }
    for (name, value) in now.iter().filter(|(name, _)| !recorded.contains_key(*name)) {
        within(path, name, |path| push(path, None, Some(value), found));
    }
}

/// Compares items by their index, after skipping equal items at both ends. So an added or removed item is one
/// difference.
fn compare_arrays(path: &mut String, recorded: &[Value], now: &[Value], found: &mut Vec<Difference>) {
    let same = |pair: &(&Value, &Value)| pair.0 == pair.1;
    let head = recorded.iter().zip(now).take_while(same).count();
    let (recorded, now) = (&recorded[head..], &now[head..]);
    let tail = recorded.iter().rev().zip(now.iter().rev()).take_while(same).count();
    let (recorded, now) = (&recorded[..recorded.len() - tail], &now[..now.len() - tail]);
    for at in 0..recorded.len().max(now.len()) {
        let length = path.len();
        path.push_str(&format!("[{}]", head + at));
        match (recorded.get(at), now.get(at)) {
            (Some(recorded), Some(now)) => compare(path, recorded, now, found),
            (recorded, now) => push(path, recorded, now, found),
        }
        path.truncate(length);
    }
}

/// Calls a function with the path of a member.
fn within(path: &mut String, name: &str, compare: impl FnOnce(&mut String)) {
    let length = path.len();
    if length > 0 {
        path.push('.');
    }
    path.push_str(name);
    compare(path);
    path.truncate(length);
}

fn push(path: &str, recorded: Option<&Value>, now: Option<&Value>, found: &mut Vec<Difference>) {
    let shown = |value: &Value| match value {
        Value::String(text) => excerpt(text, 0),
        other => clip(&other.to_string(), MAX_EXCERPT).into_owned(),
    };
    found.push(Difference {
        path: path.to_owned(),
        recorded: recorded.map(shown),
        now: now.map(shown),
    });
}

/// Returns the start of the excerpts of two strings, so that they include the first difference.
fn excerpt_start(a: &str, b: &str) -> usize {
    let same = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    if same <= MAX_EXCERPT / 2 {
        return 0;
    }
    floor_char_boundary(a, same - CONTEXT)
}

/// Returns an excerpt of a string in quotes.
fn excerpt(text: &str, start: usize) -> String {
    let rest = text.get(start..).unwrap_or_default();
    let shown = prefix(rest, MAX_EXCERPT);
    let before = if start > 0 { "…" } else { "" };
    let after = if shown.len() < rest.len() { "…" } else { "" };
    format!("{before}{shown:?}{after}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(recorded: Value, now: Value, expected: &[&str]) {
        let found: Vec<_> = differences(&recorded, &now).iter().map(ToString::to_string).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn lists_each_difference_with_its_path() {
        check(json!({"a": 1}), json!({"a": 1}), &[]);
        check(
            json!({"a": 1, "b": {"c": "x"}, "d": true}),
            json!({"b": {"c": "y"}, "a": 2.5, "e": null}),
            &[
                "a: recorded 1, now 2.5",
                r#"b.c: recorded "x", now "y""#,
                "d: recorded true, now missing",
                "e: not recorded, now null",
            ],
        );
        check(
            json!([1]),
            json!({"a": 1}),
            &[r#"the request: recorded [1], now {"a":1}"#],
        );
    }

    #[test]
    fn an_added_item_is_one_difference() {
        check(
            json!({"m": ["a", "b", "c"]}),
            json!({"m": ["a", "x", "b", "c"]}),
            &[r#"m[1]: not recorded, now "x""#],
        );
        check(json!(["a", "b"]), json!(["a"]), &[r#"[1]: recorded "b", now missing"#]);
        check(
            json!([{"r": "u"}]),
            json!([{"r": "v"}]),
            &[r#"[0].r: recorded "u", now "v""#],
        );
    }

    #[test]
    fn excerpts_of_long_strings_show_the_difference() {
        let (a, b) = ("é".repeat(100) + "one", "é".repeat(100) + "two");
        check(
            json!(a),
            json!(b),
            &[r#"the request: recorded …"ééééééééééone", now …"éééééééééétwo""#],
        );
        let long = "x".repeat(200);
        let shown = format!("recorded \"{}\"…", &long[..MAX_EXCERPT]);
        let found = differences(&json!([long]), &json!([])).remove(0).to_string();
        assert!(found.contains(&shown), "{found}");
    }
}

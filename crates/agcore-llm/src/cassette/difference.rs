//! [`Difference`]: where two JSON documents differ, for people.

use std::fmt;

use agcore_chat::text::floor_char_boundary;
use serde_json::{Map, Value};

/// How much of a value is shown, in bytes.
const SHOWN: usize = 60;

/// How much of a text is shown before the place where it differs, in bytes.
const BEFORE: usize = 20;

/// One place at which two documents differ.
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

/// The places at which the documents differ, in the order of the recorded one.
pub(super) fn differences(recorded: &Value, now: &Value) -> Vec<Difference> {
    let mut found = Vec::new();
    compare(&mut String::new(), recorded, now, &mut found);
    found
}

fn compare(path: &mut String, recorded: &Value, now: &Value, found: &mut Vec<Difference>) {
    match (recorded, now) {
        _ if recorded == now => {}
        (Value::Object(recorded), Value::Object(now)) => objects(path, recorded, now, found),
        (Value::Array(recorded), Value::Array(now)) => arrays(path, recorded, now, found),
        (Value::String(recorded), Value::String(now)) => {
            let from = beginning(recorded, now);
            found.push(Difference {
                path: path.clone(),
                recorded: Some(excerpt(recorded, from)),
                now: Some(excerpt(now, from)),
            });
        }
        _ => push(path, Some(recorded), Some(now), found),
    }
}

fn objects(path: &mut String, recorded: &Map<String, Value>, now: &Map<String, Value>, found: &mut Vec<Difference>) {
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

/// Items are compared by their places, after those that are equal at the beginning and at the end: one item more or less is
/// one difference.
fn arrays(path: &mut String, recorded: &[Value], now: &[Value], found: &mut Vec<Difference>) {
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

fn within(path: &mut String, name: &str, act: impl FnOnce(&mut String)) {
    let length = path.len();
    if length > 0 {
        path.push('.');
    }
    path.push_str(name);
    act(path);
    path.truncate(length);
}

fn push(path: &str, recorded: Option<&Value>, now: Option<&Value>, found: &mut Vec<Difference>) {
    let shown = |value: &Value| match value {
        Value::String(text) => excerpt(text, 0),
        other => cut(&other.to_string()),
    };
    found.push(Difference {
        path: path.to_owned(),
        recorded: recorded.map(shown),
        now: now.map(shown),
    });
}

/// Where to begin to show two texts, so that their first difference is seen.
fn beginning(a: &str, b: &str) -> usize {
    let same = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    if same <= SHOWN / 2 {
        return 0;
    }
    floor_char_boundary(a, same - BEFORE)
}

/// A part of a text in quotes.
fn excerpt(text: &str, from: usize) -> String {
    let rest = text.get(from..).unwrap_or_default();
    let end = floor_char_boundary(rest, SHOWN);
    let (before, after) = (if from > 0 { "…" } else { "" }, if end < rest.len() { "…" } else { "" });
    format!("{before}{:?}{after}", &rest[..end])
}

fn cut(json: &str) -> String {
    match floor_char_boundary(json, SHOWN) {
        end if end < json.len() => format!("{}…", &json[..end]),
        _ => json.to_owned(),
    }
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
    fn names_each_place() {
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
    fn one_item_more_is_one_difference() {
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
    fn long_texts_are_shown_where_they_differ() {
        let (a, b) = ("é".repeat(100) + "one", "é".repeat(100) + "two");
        check(
            json!(a),
            json!(b),
            &[r#"the request: recorded …"ééééééééééone", now …"éééééééééétwo""#],
        );
        let long = "x".repeat(200);
        let shown = format!("recorded \"{}\"…", &long[..SHOWN]);
        let found = differences(&json!([long]), &json!([])).remove(0).to_string();
        assert!(found.contains(&shown), "{found}");
    }
}

//! JSON documents: long lists and objects keep some of their items.

use std::collections::{BTreeMap, BTreeSet};

use agcore_chat::text::{clip, visible};
use serde_json::{Map, Value};

use super::sheet::Sheet;

/// The number of items that lists and objects may have without losing any.
const MAX_ITEMS: usize = 10;

/// The number of members that objects may have without losing any. Objects are usually records, whose members all differ.
const MAX_MEMBERS: usize = 40;

/// The number of items that are kept at the start of a list.
const FIRST: usize = 3;

/// The number of items of a list that are kept because they differ from the others.
const MAX_RARE: usize = 10;

/// The deepest level of an item on which rare values are looked for.
const MAX_DEPTH: usize = 3;

/// The longest list or object on one line, in bytes.
const MAX_INLINE: usize = 100;

/// The longest list of names of items that are left out, in bytes.
const MAX_NAMES: usize = 400;

/// Members whose value names an item.
const NAMES: [&str; 12] = [
    "name", "id", "title", "path", "key", "number", "Name", "Names", "Id", "ID", "file", "url",
];

/// Returns the lines of a document; `None` if the text is not one with a list or an object.
pub(super) fn sheet(text: &str) -> Option<Sheet> {
    if !text.trim_start().starts_with(['{', '[']) {
        return None;
    }
    let value: Value = serde_json::from_str(text).ok()?;
    let mut writer = Writer::default();
    writer.write("", "", &value, "", None);
    Some(writer.0)
}

#[derive(Default)]
struct Writer(Sheet);

/// An item of a list or an object that is written.
struct Item<'v> {
    head: String,
    value: &'v Value,
}

impl Writer {
    /// Writes a value. `head` is the text before it, `comma` that behind it, and `left` why it is left out.
    fn write(&mut self, indent: &str, head: &str, value: &Value, comma: &str, left: Option<usize>) {
        let (open, close, items, kept) = match value {
            Value::Array(items) => {
                let all = items.iter().map(|value| Item {
                    head: String::new(),
                    value,
                });
                ('[', ']', all.collect::<Vec<_>>(), kept_items(items))
            }
            Value::Object(members) => {
                let all = members.iter().map(|(name, value)| Item {
                    head: format!("{}: ", Value::from(name.as_str())),
                    value,
                });
                ('{', '}', all.collect(), kept_members(members))
            }
            scalar => return self.line(format!("{indent}{head}{scalar}{comma}"), left),
        };
        if let Some(text) = inline(value) {
            return self.line(format!("{indent}{head}{text}{comma}"), left);
        }
        self.line(format!("{indent}{head}{open}"), left);
        let (inner, last) = (format!("{indent} "), items.len().saturating_sub(1));
        let mut skipped: Option<Skipped> = None;
        for (at, item) in items.iter().enumerate() {
            let is_left = left.is_none() && !kept.get(at).copied().unwrap_or(true);
            let own = match (is_left, &mut skipped) {
                (false, _) => {
                    self.end(skipped.take(), items.len());
                    left
                }
                (true, Some(skipped)) => Some(skipped.note),
                (true, none) => {
                    let note = self.0.note("");
                    *none = Some(Skipped::new(note, at));
                    Some(note)
                }
            };
            if let Some(skipped) = &mut skipped {
                skipped.add(at, item, self.0.len() + 1);
            }
            let comma = if at == last { "" } else { "," };
            self.write(&inner, &item.head, item.value, comma, own);
        }
        self.end(skipped, items.len());
        self.line(format!("{indent}{close}{comma}"), left);
    }

    fn line(&mut self, line: String, left: Option<usize>) {
        self.0.push(line);
        if let Some(note) = left {
            self.0.leave(self.0.len() - 1, note);
        }
    }

    /// Writes the note of items that were left out.
    fn end(&mut self, skipped: Option<Skipped>, count: usize) {
        if let Some(skipped) = skipped {
            let note = format!(
                "items {} to {} of {count}{}",
                skipped.first + 1,
                skipped.last + 1,
                skipped.names
            );
            self.0.set_note(skipped.note, note);
        }
    }
}

/// Items that are left out together.
struct Skipped {
    note: usize,
    first: usize,
    last: usize,
    /// The names of the items with their lines, until the list is long.
    names: String,
}

impl Skipped {
    fn new(note: usize, first: usize) -> Self {
        let (last, names) = (first, String::new());
        Self {
            note,
            first,
            last,
            names,
        }
    }

    fn add(&mut self, at: usize, item: &Item<'_>, line: usize) {
        self.last = at;
        let name = match item.value {
            Value::Object(members) if item.head.is_empty() => name_of(members),
            _ => Some(item.head.trim_end_matches(": ").to_owned()).filter(|head| !head.is_empty()),
        };
        let Some(name) = name.filter(|_| self.names.len() < MAX_NAMES) else {
            return;
        };
        self.names.push_str(if self.names.is_empty() { ": " } else { ", " });
        self.names.push_str(&format!("{name} (line {line})"));
        if self.names.len() >= MAX_NAMES {
            self.names.push_str(", …");
        }
    }
}

/// Returns what names an item.
fn name_of(members: &Map<String, Value>) -> Option<String> {
    let value = NAMES.iter().find_map(|name| members.get(*name))?;
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    Some(visible(&clip(&text, 40)).into_owned())
}

/// Returns a short list or object on one line.
fn inline(value: &Value) -> Option<String> {
    // Deep documents are not written again for each of their levels.
    let is_flat = |value: &Value| !matches!(value, Value::Array(items) if !items.is_empty()) && !value.is_object();
    let is_small = match value {
        Value::Array(items) => items.len() <= MAX_INLINE && items.iter().all(is_flat),
        Value::Object(members) => members.len() <= MAX_ITEMS && members.values().all(is_flat),
        _ => true,
    };
    is_small
        .then(|| value.to_string())
        .filter(|text| text.len() <= MAX_INLINE)
}

/// Returns which members of an object are kept.
fn kept_members(members: &Map<String, Value>) -> Vec<bool> {
    if members.len() <= MAX_MEMBERS {
        return vec![true; members.len()];
    }
    kept_items(&members.values().cloned().collect::<Vec<_>>())
}

/// Returns which items of a list are kept: some at the start, the last, and those that differ from most.
fn kept_items(items: &[Value]) -> Vec<bool> {
    let count = items.len();
    let mut kept: Vec<bool> = (0..count)
        .map(|at| count <= MAX_ITEMS || at < FIRST || at + 1 == count)
        .collect();
    if count > MAX_ITEMS {
        let rare = rare_items(items);
        rare.into_iter().take(MAX_RARE).for_each(|at| kept[at] = true);
    }
    kept
}

/// Returns the items with rare values in members that have few different ones, or with other members than most.
fn rare_items(items: &[Value]) -> BTreeSet<usize> {
    let mut values: BTreeMap<String, BTreeMap<String, Vec<usize>>> = BTreeMap::new();
    for (at, item) in items.iter().enumerate() {
        scalars(item, "", MAX_DEPTH, &mut |path, value| {
            let of_path = values.entry(path.to_owned()).or_default();
            of_path.entry(value).or_default().push(at);
        });
    }
    let mut rare = BTreeSet::new();
    for by_value in values.into_values() {
        let present: usize = by_value.values().map(Vec::len).sum();
        if present <= items.len() / 20 {
            rare.extend(by_value.into_values().flatten());
        } else if by_value.len() <= 4.max(items.len() / 10) {
            let few = by_value.into_values().filter(|at| at.len() <= 1.max(items.len() / 20));
            rare.extend(few.flatten());
        }
    }
    rare
}

/// Calls a function with the path and the text of each scalar of an item, except those in lists.
fn scalars(value: &Value, path: &str, depth: usize, found: &mut dyn FnMut(&str, String)) {
    match value {
        Value::Object(members) if depth > 0 => {
            for (name, member) in members {
                scalars(member, &format!("{path}.{name}"), depth - 1, found);
            }
        }
        Value::Object(_) => {}
        Value::Array(items) => found(path, if items.is_empty() { "[]" } else { "[…]" }.to_owned()),
        scalar => found(path, scalar.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keeps_items_that_differ_and_names_the_others() {
        let items: Vec<Value> = (0..60)
            .map(|n| json!({"name": format!("job-{n}"), "state": if n == 31 { "failed" } else { "done" }, "log": "x".repeat(90)}))
            .collect();
        let sheet = sheet(&Value::from(items).to_string()).unwrap();
        let text = sheet.render();
        assert!(text.contains("\"job-31\"") && text.contains("\"failed\""), "{text}");
        assert!(!text.contains("\"job-30\""), "{text}");
        let (_, rest) = text.split_once("job-9 (line ").unwrap();
        let line: usize = rest.split(')').next().unwrap().parse().unwrap();
        assert!(
            sheet.lines().skip(line).take(3).any(|line| line.contains("job-9\"")),
            "{text}"
        );
    }

    #[test]
    fn the_lines_are_the_document() {
        let value = json!({"a": [1, {"b": "ü".repeat(200), "c": [[], {}, [[1], [2]]]}], "e\"f": null, "g": (0..99).collect::<Vec<_>>()});
        for text in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
            let lines = sheet(&text).unwrap().into_lines().join("\n");
            assert_eq!(serde_json::from_str::<Value>(&lines).unwrap(), value, "{lines}");
        }
        assert!(sheet("[1").is_none() && sheet("plain").is_none() && sheet("7").is_none());
    }
}

//! Data blocks: whatever label and value, the block has its four lines, no text can leave it, and it says what the value
//! says.
//!
//! The input is a label and JSON (or plain text), divided by NUL.
#![no_main]

use agcore_fuzz::parts;
use agcore_prompt::{DATA_FIELD_CHARS, data_block};
use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Value};

fn cut(text: &str) -> String {
    text.trim().chars().take(DATA_FIELD_CHARS).collect()
}

/// What the block must say.
fn expected(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(cut(text)),
        Value::Array(items) => items.iter().map(expected).collect(),
        Value::Object(members) => {
            let mut cut_members = Map::new();
            for (name, value) in members {
                cut_members.insert(cut(name), expected(value));
            }
            Value::Object(cut_members)
        }
        other => other.clone(),
    }
}

/// The parts of a JSON text that stand inside its strings.
fn inside_strings(json: &str) -> String {
    let (mut inside, mut escaped, mut found) = (false, false, String::new());
    for character in json.chars() {
        match character {
            '"' if !escaped => inside = !inside,
            _ if inside => found.push(character),
            _ => {}
        }
        escaped = character == '\\' && !escaped;
    }
    found
}

fn is_harmless(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~')) && !text.contains(['<', '>', '{', '}', '`'])
}

fuzz_target!(|input: &str| {
    let [label, data] = parts(input);
    let value: Value = serde_json::from_str(data).unwrap_or_else(|_| data.into());
    let block = data_block(label, &value).expect("JSON can be told");

    let lines: Vec<&str> = block.split('\n').collect();
    let [first, _, told, last] = lines[..] else {
        panic!("a block has four lines: {block:?}");
    };
    assert_eq!(last, "</untrusted_data>");
    let told_label = first
        .strip_prefix("<untrusted_data label=")
        .and_then(|rest| rest.strip_suffix('>'));
    let told_label = told_label.expect("the first line is a tag");
    assert!(is_harmless(told_label), "{told_label}");
    assert_eq!(
        serde_json::from_str::<String>(told_label).expect("a JSON string"),
        cut(label)
    );
    assert!(is_harmless(&inside_strings(told)), "{told}");
    assert!(!told.contains("{{"), "{told}");
    assert_eq!(
        serde_json::from_str::<Value>(told).expect("JSON"),
        expected(&value),
        "{told}"
    );
});

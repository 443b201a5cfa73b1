//! Data blocks: for any label and value, the block has four lines, no text can escape from it, and its JSON equals the
//! truncated value.
//!
//! The input is a label and JSON (or plain text), separated by NUL.
#![no_main]

use agcore_fuzz::parts;
use agcore_prompt::{DATA_FIELD_CHARS, PromptErrorKind, data_block};
use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Value};

fn truncated(text: &str) -> String {
    text.trim().chars().take(DATA_FIELD_CHARS).collect()
}

/// Returns the value that the block must contain.
fn expected(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(truncated(text)),
        Value::Array(items) => items.iter().map(expected).collect(),
        Value::Object(members) => {
            let mut truncated_members = Map::new();
            for (name, value) in members {
                truncated_members.insert(truncated(name), expected(value));
            }
            Value::Object(truncated_members)
        }
        other => other.clone(),
    }
}

/// Returns the content of all strings of a JSON text.
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
    let block = match data_block(label, &value) {
        Ok(block) => block,
        Err(error) => match error.kind() {
            PromptErrorKind::DuplicateField { .. } | PromptErrorKind::DataSize { .. } => return,
            _ => panic!("JSON can be serialized: {error}"),
        },
    };

    let lines: Vec<&str> = block.split('\n').collect();
    let [first, _, data, last] = lines[..] else {
        panic!("a block has four lines: {block:?}");
    };
    assert_eq!(last, "</untrusted_data>");
    let block_label = first
        .strip_prefix("<untrusted_data label=")
        .and_then(|rest| rest.strip_suffix('>'));
    let block_label = block_label.expect("the first line is a tag");
    assert!(is_harmless(block_label), "{block_label}");
    assert_eq!(
        serde_json::from_str::<String>(block_label).expect("a JSON string"),
        truncated(label)
    );
    assert!(is_harmless(&inside_strings(data)), "{data}");
    assert!(!data.contains("{{"), "{data}");
    assert_eq!(
        serde_json::from_str::<Value>(data).expect("JSON"),
        expected(&value),
        "{data}"
    );
});

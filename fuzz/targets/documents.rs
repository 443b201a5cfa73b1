//! Documents: each is read or rejected within its limits in every format, and what was read survives as JSON.
#![no_main]

use agcore_document::{Format, FrontMatter, Limits, Node, Value};
use libfuzzer_sys::fuzz_target;

/// Checks that every place is in the text, and returns the number of values.
fn check(node: &Node, lines: usize) -> usize {
    assert!((1..=lines).contains(&node.place.line), "{}", node.place);
    match &node.value {
        Value::List(items) => 1 + items.iter().map(|item| check(item, lines)).sum::<usize>(),
        Value::Table(members) => 1 + members.iter().map(|member| check(&member.node, lines)).sum::<usize>(),
        _ => 1,
    }
}

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let lines = text.chars().filter(|char| matches!(char, '\n' | '\r')).count() + 1;
    let limits = Limits::default().with_max_values(10_000).with_max_depth(32);
    for format in [Format::Toml, Format::Yaml, Format::Json] {
        match format.parse_within(&text, &limits) {
            Ok(root) => {
                assert!(check(&root, lines) <= limits.max_values);
                let json = root.to_json();
                let again = Format::Json.parse(&json.to_string()).unwrap();
                assert_eq!(again.to_json(), json);
                let (value, problems) = root.read_all::<serde_json::Value>();
                assert!(value.is_some() != !problems.is_empty());
            }
            Err(error) => assert!(
                !error.kind.to_string().is_empty() && error.place.line <= lines + 1,
                "{error}"
            ),
        }
    }
    if let Ok(Some(matter)) = FrontMatter::split(&text) {
        match matter.parse() {
            Ok(root) => drop(check(&root, lines)),
            Err(error) => assert!(
                !matter.describe(&error).is_empty() && error.place.line <= lines + 1,
                "{error}"
            ),
        }
    }
});

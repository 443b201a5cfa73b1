//! YAML documents: each is read or rejected within its limits, and what was read survives as JSON.
#![no_main]

use agcore_yaml::{Limits, Node, Value, parse};
use libfuzzer_sys::fuzz_target;

/// Checks that every place is in the text, and returns the number of values.
fn check(node: &Node, lines: usize) -> usize {
    assert!((1..=lines).contains(&node.place.line), "{}", node.place);
    match &node.value {
        Value::List(items) => 1 + items.iter().map(|item| check(item, lines)).sum::<usize>(),
        Value::Table(members) => {
            1 + members
                .iter()
                .map(|member| 1 + check(&member.node, lines))
                .sum::<usize>()
        }
        _ => 1,
    }
}

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let lines = text.chars().filter(|char| matches!(char, '\n' | '\r')).count() + 1;
    let limits = Limits::default().with_max_values(10_000).with_max_depth(32);
    match parse(&text, &limits) {
        Ok(None) => {}
        Ok(Some(root)) => {
            assert!(check(&root, lines) <= limits.max_values);
            let json = root.to_json();
            let again = parse(&json.to_string(), &limits.clone().with_max_values(usize::MAX));
            assert_eq!(again.unwrap().unwrap().to_json(), json);
        }
        Err(error) => assert!(!error.problem.is_empty() && error.place.line <= lines + 1, "{error}"),
    }
});

//! The log of a run that processes were killed in.

use std::collections::HashSet;

/// Returns the calls that a log names, after checking that none was repeated whose result was stored.
pub(crate) fn calls(log: &str) -> HashSet<&str> {
    let mut stored = HashSet::new();
    let mut calls = HashSet::new();
    for line in log.lines() {
        match line.split_once(' ').unwrap() {
            ("stored", call) => drop(stored.insert(call)),
            ("call", call) => {
                assert!(!stored.contains(call), "the stored call {call} was repeated\n{log}");
                calls.insert(call);
            }
            other => panic!("{other:?}\n{log}"),
        }
    }
    calls
}

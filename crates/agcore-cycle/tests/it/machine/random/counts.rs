//! [`Counts`]: what the scripts exercised, so that the test cannot be empty.

use std::{collections::BTreeMap, fmt};

/// Everything that must occur.
const KINDS: &[&str] = &[
    "abandoned",
    "accepted call",
    "accepted text",
    "answer approve",
    "answer deny",
    "answer value",
    "answered",
    "bad arguments",
    "by hand",
    "by hand between turns",
    "call never fits",
    "compacted",
    "cut reply",
    "death",
    "death in a question",
    "death while running",
    "denied uncertain",
    "diverted",
    "done",
    "doubled id",
    "failed call",
    "fatal",
    "fell back",
    "limit calling",
    "limit tools",
    "limit wraps up",
    "long result",
    "lost attempts",
    "misuse",
    "other still runs",
    "out of time",
    "parallel calls",
    "partial answer",
    "pruned",
    "question",
    "question after handoff",
    "question uncertain",
    "reached limit",
    "recast",
    "redo",
    "repaired call",
    "repaired text",
    "replaced",
    "rescue in vain",
    "rescued",
    "resumed again",
    "round",
    "shortened at the threshold",
    "spent",
    "steps",
    "stopped asking",
    "stopped calling",
    "stopped checking",
    "stopped ready",
    "stopped running",
    "stopped summing",
    "stopped summing by hand",
    "summary",
    "summary cancelled",
    "summary failed",
    "summary unfit",
    "text never fits",
    "told",
    "too long",
    "too long twice",
    "turn",
    "wrap up",
    "wrapped up",
];

/// How often each thing happened.
#[derive(Debug, Default)]
pub(super) struct Counts(BTreeMap<&'static str, u64>);

impl Counts {
    pub(super) fn add(&mut self, kind: &'static str) {
        *self.0.entry(kind).or_default() += 1;
    }

    pub(super) fn merge(mut self, other: Self) -> Self {
        for (kind, count) in other.0 {
            *self.0.entry(kind).or_default() += count;
        }
        self
    }

    pub(super) fn assert_all_occurred(&self) {
        let missing: Vec<_> = KINDS.iter().filter(|kind| !self.0.contains_key(**kind)).collect();
        assert!(missing.is_empty(), "never happened: {missing:?}");
        let unknown: Vec<_> = self.0.keys().filter(|kind| !KINDS.contains(kind)).collect();
        assert!(unknown.is_empty(), "not in the list of what must happen: {unknown:?}");
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list: Vec<_> = self.0.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
        f.write_str(&list.join(", "))
    }
}

//! [`Counts`]: the situations that the scripts covered, so that the test cannot be empty.

use std::{collections::BTreeMap, fmt};

/// The situations that must occur.
const KINDS: &[&str] = &[
    "abandoned",
    "accepted call",
    "accepted text",
    "answer approve",
    "answer deny",
    "answer value",
    "answered",
    "call rejected for good",
    "compacted",
    "compacted at the threshold",
    "crash",
    "crash while asking",
    "crash while running",
    "denied uncertain",
    "diverted",
    "done",
    "duplicate id",
    "events sent",
    "failed call",
    "fatal",
    "fell back",
    "invalid arguments",
    "invalid outcome",
    "limit calling",
    "limit tools",
    "limit wraps up",
    "long result",
    "lost attempts",
    "other call still runs",
    "out of time",
    "overflow",
    "overflow not resolved",
    "overflow resolved",
    "overflow twice",
    "parallel calls",
    "partial answer",
    "paused",
    "paused too often",
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
    "requested",
    "requested between turns",
    "resumed again",
    "round",
    "settled without running",
    "spent",
    "steps",
    "stopped asking",
    "stopped calling",
    "stopped checking",
    "stopped ready",
    "stopped requested summary",
    "stopped running",
    "stopped summary",
    "summary",
    "summary cancelled",
    "summary failed",
    "summary unusable",
    "text rejected for good",
    "truncated reply",
    "turn",
    "wrap up",
    "wrapped up",
];

/// The number of times each situation occurred.
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
        assert!(missing.is_empty(), "never occurred: {missing:?}");
        let unknown: Vec<_> = self.0.keys().filter(|kind| !KINDS.contains(kind)).collect();
        assert!(unknown.is_empty(), "missing in the list of situations: {unknown:?}");
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list: Vec<_> = self.0.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
        f.write_str(&list.join(", "))
    }
}

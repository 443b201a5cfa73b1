//! [`Work`]: what a node has saved before it has finished.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The values that a node has saved before it has finished. It begins empty with each visit.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Work {
    /// The results of calls that must not be repeated, by their names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) calls: BTreeMap<String, Value>,
    /// The answers of people, by the keys of the questions.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) answers: BTreeMap<String, Value>,
    /// A value of the node itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) saved: Option<Value>,
}

/// A change of what a node has saved.
#[derive(Debug)]
pub(crate) enum WorkChange {
    Call(String, Value),
    Saved(Value),
}

impl Work {
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub(crate) fn apply(&mut self, change: WorkChange) {
        match change {
            WorkChange::Call(key, result) => drop(self.calls.insert(key, result)),
            WorkChange::Saved(value) => self.saved = Some(value),
        }
    }
}

//! [`ToolSession`]: what the executors of a session remember from round to round.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    arguments::Arguments,
    error::{ToolError, ToolErrorKind},
    grants::Grant,
    permission::JsonPath,
};

/// The version of a session's memory in JSON.
const VERSION: u32 = 1;

/// What the executors of a session remember from round to round: which refusals the model has been told of, and what a
/// person has allowed for the session. Every clone is the same session.
///
/// It can be saved with a suspended turn: [`export`](Self::export), [`restore`](Self::restore).
#[derive(Clone, Default)]
pub struct ToolSession(Arc<Mutex<Memory>>);

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Memory {
    version: u32,
    /// Counts the batches of calls, so that a refusal in a batch does not count against its neighbours.
    batch: u64,
    /// Refusals that the model was told of in this turn, and in which batch.
    told: BTreeMap<String, u64>,
    grants: Vec<Grant>,
}

impl Default for Memory {
    fn default() -> Self {
        Self {
            version: VERSION,
            batch: 0,
            told: BTreeMap::new(),
            grants: Vec::new(),
        }
    }
}

/// A refusal that is told to the model once.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Refusal<'a> {
    NotFound(&'a str),
    Denied(&'a str, &'a Arguments),
}

impl Refusal<'_> {
    fn key(self) -> String {
        match self {
            Self::NotFound(tool) => format!("not found: {tool}"),
            Self::Denied(tool, arguments) => {
                format!("denied: {tool} {}", in_order(arguments.as_value()))
            }
        }
    }
}

impl ToolSession {
    /// A session that remembers nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// A new turn begins: the model is told again of refusals. Not to be called when a suspended turn goes on.
    pub fn begin_turn(&self) {
        self.lock().told.clear();
    }

    /// What a person has allowed for the session.
    pub fn grants(&self) -> Vec<Grant> {
        self.lock().grants.clone()
    }

    /// Allows something for the session.
    pub fn grant(&self, grant: Grant) {
        let mut memory = self.lock();
        if !memory.grants.contains(&grant) {
            memory.grants.push(grant);
        }
    }

    /// Takes back all that was allowed of a tool for the session; says how many.
    pub fn revoke(&self, tool: &str) -> usize {
        let mut memory = self.lock();
        let before = memory.grants.len();
        memory.grants.retain(|grant| grant.tool != tool);
        before - memory.grants.len()
    }

    /// All of it, as JSON.
    pub fn export(&self) -> Value {
        // Plain data with string keys: writing it cannot fail.
        serde_json::to_value(&*self.lock()).unwrap_or_default()
    }

    /// Reads what [`export`](Self::export) gave.
    ///
    /// # Errors
    /// When it is corrupt or of another version.
    pub fn restore(saved: Value) -> Result<Self, ToolError> {
        let refuse =
            |why: String| ToolError::new(ToolErrorKind::Config, format!("the tool session cannot be read: {why}"));
        match saved.get("version").and_then(Value::as_u64) {
            Some(version) if version == u64::from(VERSION) => {}
            Some(version) => {
                return Err(refuse(format!(
                    "it is of version {version}, this program knows {VERSION}"
                )));
            }
            None => return Err(refuse("it has no version".to_owned())),
        }
        let memory = Memory::deserialize(saved).map_err(|error| refuse(error.to_string()))?;
        Ok(Self(Arc::new(Mutex::new(memory))))
    }

    /// A batch of calls begins.
    pub(crate) fn next_batch(&self) -> u64 {
        let mut memory = self.lock();
        memory.batch += 1;
        memory.batch
    }

    /// Remembers a refusal. True when the model had been told of it before this batch.
    pub(crate) fn told_before(&self, refusal: Refusal<'_>, batch: u64) -> bool {
        let told = *self.lock().told.entry(refusal.key()).or_insert(batch);
        told < batch
    }

    /// Whether a person has allowed a call for the session.
    pub(crate) fn covers(&self, tool: &str, arguments: &Arguments, asked: &[&JsonPath]) -> bool {
        self.lock()
            .grants
            .iter()
            .any(|grant| grant.covers(tool, arguments, asked))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Memory> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for ToolSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let memory = self.lock();
        f.debug_struct("ToolSession")
            .field("told", &memory.told.len())
            .field("grants", &memory.grants)
            .finish()
    }
}

/// Compact JSON with sorted keys: the same call, whatever order the model writes its arguments in.
fn in_order(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let sorted: BTreeMap<&String, Value> = members.iter().map(|(key, value)| (key, in_order(value))).collect();
            Value::Object(sorted.into_iter().map(|(key, value)| (key.clone(), value)).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(in_order).collect()),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn arguments(value: Value) -> Arguments {
        Arguments::from(value.as_object().cloned().unwrap_or_default())
    }

    #[test]
    fn the_second_attempt_is_noticed_in_the_next_batch() {
        let session = ToolSession::new();
        let first = arguments(json!({"a": 1, "b": {"x": 1, "y": 2}}));
        let same = arguments(json!({"b": {"y": 2, "x": 1}, "a": 1}));
        let batch = session.next_batch();
        assert!(!session.told_before(Refusal::Denied("t", &first), batch));
        assert!(
            !session.told_before(Refusal::Denied("t", &same), batch),
            "the model could not know yet"
        );
        let restored = ToolSession::restore(session.export()).unwrap();
        let batch = restored.next_batch();
        assert!(restored.told_before(Refusal::Denied("t", &same), batch));
        assert!(!restored.told_before(Refusal::Denied("t", &arguments(json!({"a": 2}))), batch));
        restored.begin_turn();
        assert!(!restored.told_before(Refusal::Denied("t", &same), restored.next_batch()));
    }

    #[test]
    fn refuses_what_it_does_not_know() {
        for (saved, why) in [
            (json!({}), "no version"),
            (json!({"version": 2}), "version 2"),
            (
                json!({"version": 1, "batch": "x", "told": {}, "grants": []}),
                "invalid type",
            ),
        ] {
            let error = ToolSession::restore(saved).expect_err(why);
            assert!(error.message().contains(why), "{error}");
        }
    }
}

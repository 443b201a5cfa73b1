//! [`ToolSession`]: the state that the executors of a session share across rounds.

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
};

/// The version of the JSON form of a session without loaded tools. The grants of version 1 had no owners: they belong to
/// [`Actor::local`](agcore_chat::Actor::local).
const VERSION: u32 = 2;

/// The version of the JSON form of a session with loaded tools. Sessions without any keep the earlier one, so that programs which
/// know nothing of loaded tools can read them.
const VERSION_WITH_LOADED: u32 = 3;

/// The largest number of tools that a session notes as [loaded](ToolSession::load_tool).
pub const MAX_LOADED_TOOLS: usize = 1024;

/// The state that the executors of a session share across rounds: the refusals that the model already knows of, what a person has
/// allowed for the session, what tools keep for it, and the tools that the model has loaded.
///
/// All clones refer to the same session. It can be saved with a suspended turn, using [`export`](Self::export) and
/// [`restore`](Self::restore).
///
/// ```
/// use agcore_tools::{Grant, ToolError, ToolSession};
///
/// let session = ToolSession::new();
/// session.grant(Grant::new("read_file"));
///
/// // Saved, and restored in another process.
/// let restored = ToolSession::restore(session.export())?;
/// assert_eq!(restored.grants(), [Grant::new("read_file")]);
/// assert_eq!(restored.revoke_tool("read_file"), 1);
///
/// // A tool reaches it with `ToolContext::tool_session`.
/// restored.set_value("position", Some(7.into()));
/// assert_eq!(restored.value("position"), Some(7.into()));
/// # Ok::<(), ToolError>(())
/// ```
#[derive(Clone, Default)]
pub struct ToolSession(Arc<Shared>);

/// The part that all clones of a session share.
#[derive(Default)]
struct Shared {
    state: Mutex<SessionState>,
    /// Held while a person is asked, when the approver wants one request at a time.
    asking: tokio::sync::Mutex<()>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SessionState {
    version: u32,
    /// The number of batches of calls, so that a refusal does not count against other calls of the same batch.
    batch: u64,
    /// The refusals that the model has seen in this turn, and the batch of each.
    #[serde(rename = "told")]
    refusals: BTreeMap<String, u64>,
    grants: Vec<Grant>,
    /// The values that tools keep for the session, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    values: BTreeMap<String, Value>,
    /// The names of the tools that were loaded, in the order in which that happened.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    loaded: Vec<String>,
}

impl Default for SessionState {
    fn default() -> Self {
        Self {
            version: VERSION,
            batch: 0,
            refusals: BTreeMap::new(),
            grants: Vec::new(),
            values: BTreeMap::new(),
            loaded: Vec::new(),
        }
    }
}

/// A refusal that the model gets to see once per turn.
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
                format!("denied: {tool} {}", sorted(arguments.as_value()))
            }
        }
    }
}

impl ToolSession {
    /// Creates an empty session.
    pub fn new() -> Self {
        Self::default()
    }

    /// Starts a new turn: every refusal is shown to the model once again. Not to be called when a suspended turn
    /// resumes.
    pub fn begin_turn(&self) {
        self.lock().refusals.clear();
    }

    /// Returns what a person has allowed for the session.
    pub fn grants(&self) -> Vec<Grant> {
        self.lock().grants.clone()
    }

    /// Adds a grant for the session.
    pub fn grant(&self, grant: Grant) {
        let mut state = self.lock();
        if !state.grants.contains(&grant) {
            state.grants.push(grant);
        }
    }

    /// Removes a grant. Returns whether the session had it.
    pub fn revoke(&self, grant: &Grant) -> bool {
        self.retain(|known| known != grant) > 0
    }

    /// Removes all grants whose pattern is the name of a tool, and returns their number.
    pub fn revoke_tool(&self, tool: &str) -> usize {
        self.retain(|grant| grant.tool.as_str() != tool)
    }

    /// Returns the names of the tools that were loaded for the session, in the order in which that happened.
    pub fn loaded_tools(&self) -> Vec<String> {
        self.lock().loaded.clone()
    }

    /// Notes that a tool was loaded: requests offer its definition from now on. Returns whether that is new. At most
    /// [`MAX_LOADED_TOOLS`] are noted.
    ///
    /// ```
    /// use agcore_tools::ToolSession;
    ///
    /// let session = ToolSession::new();
    /// assert!(session.load_tool("create_issue"));
    /// assert!(!session.load_tool("create_issue"));
    /// assert_eq!(session.loaded_tools(), ["create_issue"]);
    /// ```
    pub fn load_tool(&self, name: &str) -> bool {
        let mut state = self.lock();
        if state.loaded.len() >= MAX_LOADED_TOOLS || state.loaded.iter().any(|known| known == name) {
            return false;
        }
        state.loaded.push(name.to_owned());
        true
    }

    fn retain(&self, keep: impl Fn(&Grant) -> bool) -> usize {
        let mut state = self.lock();
        let before = state.grants.len();
        state.grants.retain(keep);
        before - state.grants.len()
    }

    /// Returns a value that a tool keeps for the session.
    pub fn value(&self, name: &str) -> Option<Value> {
        self.lock().values.get(name).cloned()
    }

    /// Keeps a value for the session in place of an earlier one, or removes it. It is stored with the results of the calls, so it
    /// should be small.
    pub fn set_value(&self, name: &str, value: Option<Value>) {
        let mut state = self.lock();
        match value {
            Some(value) => state.values.insert(name.to_owned(), value),
            None => state.values.remove(name),
        };
    }

    /// Serializes the session as JSON.
    pub fn export(&self) -> Value {
        let mut state = self.lock();
        if !state.loaded.is_empty() {
            state.version = VERSION_WITH_LOADED;
        }
        // Serializing plain data with string keys cannot fail.
        serde_json::to_value(&*state).unwrap_or_default()
    }

    /// Restores a session from the output of [`export`](Self::export).
    ///
    /// # Errors
    /// When the value is corrupt or has an unsupported version.
    pub fn restore(saved: Value) -> Result<Self, ToolError> {
        let invalid =
            |reason: String| ToolError::new(ToolErrorKind::Config, format!("cannot read the tool session: {reason}"));
        match saved.get("version").and_then(Value::as_u64) {
            Some(version) if (1..=u64::from(VERSION_WITH_LOADED)).contains(&version) => {}
            Some(version) => {
                return Err(invalid(format!(
                    "it has version {version}, but this program reads version {VERSION_WITH_LOADED}"
                )));
            }
            None => return Err(invalid("it has no version".to_owned())),
        }
        let mut state = SessionState::deserialize(saved).map_err(|error| invalid(error.to_string()))?;
        state.version = VERSION;
        Ok(Self(Arc::new(Shared {
            state: Mutex::new(state),
            asking: tokio::sync::Mutex::default(),
        })))
    }

    /// Returns the number of a new batch of calls.
    pub(crate) fn next_batch(&self) -> u64 {
        let mut state = self.lock();
        // A saved count may be anything. At its end, a refusal that was seen counts as new, which only repeats its text.
        state.batch = state.batch.saturating_add(1);
        state.batch
    }

    /// Records a refusal. Returns whether the model had seen it before this batch.
    pub(crate) fn is_repeated(&self, refusal: Refusal<'_>, batch: u64) -> bool {
        let first = *self.lock().refusals.entry(refusal.key()).or_insert(batch);
        first < batch
    }

    /// Returns the lock that is held while a person is asked about a call of this session, if the approver wants one
    /// request at a time.
    pub(crate) fn asking(&self) -> &tokio::sync::Mutex<()> {
        &self.0.asking
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, SessionState> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for ToolSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.lock();
        f.debug_struct("ToolSession")
            .field("refusals", &state.refusals.len())
            .field("grants", &state.grants)
            .finish()
    }
}

/// Sorts the members of all objects, so that the order in which the model writes arguments does not matter.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let members: BTreeMap<&String, Value> = members.iter().map(|(key, value)| (key, sorted(value))).collect();
            Value::Object(members.into_iter().map(|(key, value)| (key.clone(), value)).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
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
    fn notices_a_repeated_call_in_the_next_batch() {
        let session = ToolSession::new();
        let first = arguments(json!({"a": 1, "b": {"x": 1, "y": 2}}));
        let same = arguments(json!({"b": {"y": 2, "x": 1}, "a": 1}));
        let batch = session.next_batch();
        assert!(!session.is_repeated(Refusal::Denied("t", &first), batch));
        assert!(
            !session.is_repeated(Refusal::Denied("t", &same), batch),
            "the model has not seen the first refusal yet"
        );
        let restored = ToolSession::restore(session.export()).unwrap();
        let batch = restored.next_batch();
        assert!(restored.is_repeated(Refusal::Denied("t", &same), batch));
        assert!(!restored.is_repeated(Refusal::Denied("t", &arguments(json!({"a": 2}))), batch));
        restored.begin_turn();
        assert!(!restored.is_repeated(Refusal::Denied("t", &same), restored.next_batch()));
    }

    #[test]
    fn values_are_kept_with_the_session() {
        let session = ToolSession::new();
        let empty = session.export();
        assert!(empty.get("values").is_none(), "{empty}");
        session.set_value("a", Some(json!([1])));
        session.set_value("b", Some(json!("x")));
        session.set_value("b", None);
        let restored = ToolSession::restore(session.export()).unwrap();
        assert_eq!((restored.value("a"), restored.value("b")), (Some(json!([1])), None));
        restored.begin_turn();
        assert_eq!(restored.value("a"), Some(json!([1])));
        // Sessions from before there were values.
        assert!(ToolSession::restore(empty).unwrap().value("a").is_none());
    }

    #[test]
    fn loaded_tools_are_saved_and_change_the_version_only_if_there_are_any() {
        let session = ToolSession::new();
        assert_eq!(session.export()["version"], 2);
        assert!(session.export().get("loaded").is_none());
        for name in ["b", "a", "b"] {
            session.load_tool(name);
        }
        assert_eq!(session.export()["version"], 3);
        let restored = ToolSession::restore(session.export()).unwrap();
        assert_eq!(restored.loaded_tools(), ["b", "a"]);
        assert_eq!(restored.export()["version"], 3);
        restored.begin_turn();
        assert_eq!(restored.loaded_tools(), ["b", "a"]);
        for number in 0..2 * MAX_LOADED_TOOLS {
            restored.load_tool(&number.to_string());
        }
        assert_eq!(restored.loaded_tools().len(), MAX_LOADED_TOOLS);
    }

    #[test]
    fn rejects_an_unreadable_session() {
        for (saved, reason) in [
            (json!({}), "no version"),
            (json!({"version": 4}), "version 4"),
            (
                json!({"version": 1, "batch": "x", "told": {}, "grants": []}),
                "invalid type",
            ),
        ] {
            let error = ToolSession::restore(saved).expect_err(reason);
            assert!(error.message().contains(reason), "{error}");
        }
    }
}

//! [`RunState`]: JSON values that the steps of a run share.

use std::{
    fmt,
    sync::{Arc, PoisonError, RwLock},
};

use serde_json::{Map, Value};

/// Named JSON values that the steps of a run share. All clones refer to the same values.
///
/// A [`snapshot`](Self::snapshot) is plain JSON, so that it can be saved with an unfinished run.
///
/// ```
/// use agcore_tools::RunState;
/// use serde_json::json;
///
/// let state = RunState::new();
/// let total = state.update("cost", |cost| {
///     *cost = json!(cost.as_u64().unwrap_or(0) + 5);
///     cost.clone()
/// });
/// assert_eq!(total, json!(5));
///
/// // Saved with the run, and restored in another process.
/// let restored = RunState::restore(state.snapshot());
/// assert_eq!(restored.get("cost"), Some(json!(5)));
/// ```
#[derive(Clone, Default)]
pub struct RunState(Arc<RwLock<Map<String, Value>>>);

impl RunState {
    /// Creates an empty state.
    pub fn new() -> Self {
        Self::default()
    }

    /// Restores a state from its [`snapshot`](Self::snapshot).
    pub fn restore(values: Map<String, Value>) -> Self {
        Self(Arc::new(RwLock::new(values)))
    }

    /// Returns a value by name.
    pub fn get(&self, name: &str) -> Option<Value> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    /// Sets a value and returns the previous one.
    pub fn set(&self, name: impl Into<String>, value: Value) -> Option<Value> {
        self.0
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(name.into(), value)
    }

    /// Changes a value atomically with respect to other steps. A missing value starts as null. `change` must not use
    /// this state, which is locked while it runs.
    pub fn update<R>(&self, name: &str, change: impl FnOnce(&mut Value) -> R) -> R {
        let mut values = self.0.write().unwrap_or_else(PoisonError::into_inner);
        change(values.entry(name).or_insert(Value::Null))
    }

    /// Removes a value and returns it.
    pub fn remove(&self, name: &str) -> Option<Value> {
        self.0
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .shift_remove(name)
    }

    /// Returns a copy of all values.
    pub fn snapshot(&self) -> Map<String, Value> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl fmt::Debug for RunState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let values = self.0.read().unwrap_or_else(PoisonError::into_inner);
        f.debug_set().entries(values.keys()).finish()
    }
}

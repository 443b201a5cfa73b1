//! [`RunState`]: what the steps of a run leave for each other.

use std::{
    fmt,
    sync::{Arc, PoisonError, RwLock},
};

use serde_json::{Map, Value};

/// JSON values by name that the steps of a run share; every clone sees the same ones.
///
/// A snapshot of it is plain JSON, so that a run which is saved in the middle takes it along.
#[derive(Clone, Default)]
pub struct RunState(Arc<RwLock<Map<String, Value>>>);

impl RunState {
    /// Nothing shared yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// What a former run left, as [`snapshot`](Self::snapshot) gave it.
    pub fn restore(values: Map<String, Value>) -> Self {
        Self(Arc::new(RwLock::new(values)))
    }

    /// A value by name.
    pub fn get(&self, name: &str) -> Option<Value> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    /// Sets a value; gives back what was there.
    pub fn set(&self, name: impl Into<String>, value: Value) -> Option<Value> {
        self.0
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(name.into(), value)
    }

    /// Changes a value in one step, so that no other step comes between reading and writing. Missing values are null.
    pub fn update<R>(&self, name: &str, change: impl FnOnce(&mut Value) -> R) -> R {
        let mut values = self.0.write().unwrap_or_else(PoisonError::into_inner);
        change(values.entry(name).or_insert(Value::Null))
    }

    /// Removes a value.
    pub fn remove(&self, name: &str) -> Option<Value> {
        self.0
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .shift_remove(name)
    }

    /// All values.
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

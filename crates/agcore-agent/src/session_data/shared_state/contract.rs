//! [`SharedState`]: the contract of where a shared state is kept.

use std::error::Error;

use async_trait::async_trait;
use serde_json::Value;

/// A JSON document that an agent and an application both read and change, such as the draft that a page shows: the contract of
/// where it is kept.
///
/// [`RuntimeBundle::with_shared_state`](crate::RuntimeBundle::with_shared_state) gives it to agents. They see the newest version
/// with each call of the model, and change it with the tool `update_state`, which takes a JSON Patch.
/// [`LocalState`](crate::LocalState) keeps it in memory; `agcore-server` keeps it in the store of its sessions, and sends its
/// changes to front ends as AG-UI events.
#[async_trait]
pub trait SharedState: Send + Sync {
    /// Returns the newest version.
    ///
    /// Dropping the future has no effect.
    ///
    /// # Errors
    /// [`Unavailable`](SharedStateError::Unavailable) if it cannot be read.
    async fn read(&self) -> Result<StateVersion, SharedStateError>;

    /// Writes a new value, if the newest version is still `base`. Returns the number of the new version.
    ///
    /// Dropping the future leaves open whether the value was written.
    ///
    /// # Errors
    /// [`Stale`](SharedStateError::Stale) if there is a newer version, and other errors if the value cannot be written.
    async fn write(&self, base: u64, change: StateChange) -> Result<u64, SharedStateError>;
}

/// A version of a [`SharedState`].
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct StateVersion {
    /// The number of the version: 0 before the first value, and one more with each change.
    pub version: u64,
    /// The value; `null` before the first.
    pub value: Value,
    /// The name of the change that has led to this version, if it had one.
    pub change: Option<String>,
}

impl StateVersion {
    /// Creates a version.
    pub fn new(version: u64, value: Value) -> Self {
        Self {
            version,
            value,
            change: None,
        }
    }

    /// Sets the name of the change that has led to this version.
    #[must_use]
    pub fn with_change(mut self, name: impl Into<String>) -> Self {
        self.change = Some(name.into());
        self
    }
}

/// A change of a [`SharedState`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct StateChange {
    /// The new value.
    pub value: Value,
    /// The name of the change. A tool that may be called again after a crash finds out by it whether its change took place.
    pub name: Option<String>,
}

impl StateChange {
    /// Creates a change.
    pub fn new(value: Value) -> Self {
        Self { value, name: None }
    }

    /// Names the change.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }
}

/// The reason why a [`SharedState`] was not read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SharedStateError {
    /// There is a newer version than the one that was changed.
    #[error("the state has changed meanwhile: version {found} is the newest")]
    Stale {
        /// The newest version.
        found: u64,
    },
    /// The value is not acceptable, for example because it is too large.
    #[error("{0}")]
    Invalid(String),
    /// The place where the state is kept does not work at the moment.
    #[error("the state cannot be reached")]
    Unavailable(#[source] Box<dyn Error + Send + Sync>),
}

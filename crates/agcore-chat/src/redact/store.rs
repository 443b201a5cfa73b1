//! [`Redacted`]: a store that removes secrets from everything before it is stored.

use std::{fmt, sync::Arc};

use super::Redactor;

/// A store that removes secrets from everything before it reaches the store inside.
///
/// The crates that define a contract of stores implement it for this type, if the store inside implements it: `agcore-memory` and
/// `agcore-session` state what is redacted.
///
/// ```
/// use std::sync::Arc;
/// use agcore_chat::redact::{KeyRedactor, Redacted};
///
/// let store = Redacted::new("any store", Arc::new(KeyRedactor));
/// assert_eq!(store.redactor().redact("sk-0123456789abcdef"), "[redacted]");
/// assert_eq!(*store.inner(), "any store");
/// ```
#[derive(Clone)]
pub struct Redacted<S> {
    inner: S,
    redactor: Arc<dyn Redactor>,
}

impl<S> Redacted<S> {
    /// Wraps a store.
    pub fn new(inner: S, redactor: Arc<dyn Redactor>) -> Self {
        Self { inner, redactor }
    }

    /// Returns the store inside, which stores what it gets.
    pub fn inner(&self) -> &S {
        &self.inner
    }

    /// Returns the redactor.
    pub fn redactor(&self) -> &dyn Redactor {
        &*self.redactor
    }
}

impl<S: fmt::Debug> fmt::Debug for Redacted<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redacted")
            .field("inner", &self.inner)
            .finish_non_exhaustive()
    }
}

//! [`StoredKeys`]: the API keys that `agcore keys set` has stored.

use agcore::llm::credential::Secret;

use crate::secrets::{Place, SecretError, SecretStore};

/// The API keys that `agcore keys set` has stored, by the variables that they stand in for.
#[derive(Debug)]
pub(super) struct StoredKeys {
    store: SecretStore,
    names: Vec<String>,
    /// Why the list of keys cannot be read.
    pub(super) problem: Option<String>,
}

impl StoredKeys {
    /// Reads the names of the keys. The keyring is not asked.
    pub(super) fn of_user() -> Self {
        let store = SecretStore::of_user();
        let (names, problem) = match store.names() {
            Ok(names) => (names.into_iter().map(|(name, _)| name).collect(), None),
            Err(error) => (Vec::new(), Some(error.to_string())),
        };
        Self { store, names, problem }
    }

    /// Returns whether a key is stored for a variable.
    pub(super) fn contains(&self, variable: &str) -> bool {
        self.names.iter().any(|name| name == variable)
    }

    /// Returns the key that is stored for a variable.
    ///
    /// # Errors
    /// When the file or the keyring cannot be read.
    pub(super) fn key(&self, variable: &str) -> Result<Option<(Secret, Place)>, SecretError> {
        match self.contains(variable) {
            true => self.store.get(variable),
            false => Ok(None),
        }
    }
}

//! [`TokenStore`]: keeps the tokens of servers.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use async_trait::async_trait;
use rmcp::transport::auth::{AuthError, CredentialStore, StoredCredentials};

use crate::error::McpError;

/// Keeps the tokens of servers, such as the keyring of the system or a file that only its owner can read.
///
/// What is kept is a JSON document that contains secrets. It is opaque: only this crate reads it.
#[async_trait]
pub trait TokenStore: Send + Sync {
    /// Returns what was saved for the server at a URL.
    ///
    /// # Errors
    /// When the store cannot be read.
    async fn load(&self, url: &str) -> Result<Option<String>, McpError>;

    /// Saves the tokens of the server at a URL, in place of earlier ones.
    ///
    /// # Errors
    /// When the store cannot be written.
    async fn save(&self, url: &str, tokens: &str) -> Result<(), McpError>;

    /// Removes the tokens of the server at a URL, if there are any.
    ///
    /// # Errors
    /// When the store cannot be written.
    async fn delete(&self, url: &str) -> Result<(), McpError>;
}

/// A store in the memory of the process.
#[derive(Default)]
pub struct InMemoryTokenStore(Mutex<HashMap<String, String>>);

impl InMemoryTokenStore {
    /// Creates an empty store.
    pub fn new() -> Self {
        Self::default()
    }

    fn entries(&self) -> std::sync::MutexGuard<'_, HashMap<String, String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for InMemoryTokenStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let count = self.entries().len();
        f.debug_struct("InMemoryTokenStore").field("servers", &count).finish()
    }
}

#[async_trait]
impl TokenStore for InMemoryTokenStore {
    async fn load(&self, url: &str) -> Result<Option<String>, McpError> {
        Ok(self.entries().get(url).cloned())
    }

    async fn save(&self, url: &str, tokens: &str) -> Result<(), McpError> {
        self.entries().insert(url.to_owned(), tokens.to_owned());
        Ok(())
    }

    async fn delete(&self, url: &str) -> Result<(), McpError> {
        self.entries().remove(url);
        Ok(())
    }
}

/// The entry of one server, in the form of the library.
#[derive(Clone)]
pub(super) struct Entry {
    pub(super) store: Arc<dyn TokenStore>,
    pub(super) url: String,
}

fn failed(error: &McpError) -> AuthError {
    AuthError::CredentialStoreError(error.to_string())
}

#[async_trait]
impl CredentialStore for Entry {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        let saved = self.store.load(&self.url).await.map_err(|error| failed(&error))?;
        // A document of another version is as good as none: the person signs in again.
        Ok(saved.and_then(|saved| serde_json::from_str(&saved).ok()))
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        let tokens = serde_json::to_string(&credentials);
        let tokens = tokens.map_err(|error| AuthError::CredentialStoreError(error.to_string()))?;
        let saved = self.store.save(&self.url, &tokens).await;
        saved.map_err(|error| failed(&error))
    }

    async fn clear(&self) -> Result<(), AuthError> {
        let deleted = self.store.delete(&self.url).await;
        deleted.map_err(|error| failed(&error))
    }
}

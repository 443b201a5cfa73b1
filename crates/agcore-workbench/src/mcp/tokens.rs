//! [`StoredTokens`]: the tokens of MCP servers, in the store of secrets.

use std::sync::Arc;

use agcore::{
    llm::credential::Secret,
    mcp::{McpError, McpErrorKind, TokenStore},
};
use agcore_settings::secrets::{Preference, SecretError, SecretStore, TOKEN_PREFIX};
use async_trait::async_trait;
use tokio::task::spawn_blocking;

/// The tokens of MCP servers by URL, in the keyring of the system or in a file that only its owner can read.
#[derive(Debug, Clone)]
pub struct StoredTokens(Arc<SecretStore>);

impl StoredTokens {
    /// Returns the tokens of the user.
    pub fn of_user() -> Self {
        Self(Arc::new(SecretStore::of_user()))
    }

    /// Runs work on a blocking thread: a keyring may wait for a person.
    async fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&SecretStore) -> Result<T, SecretError> + Send + 'static,
    ) -> Result<T, McpError> {
        let store = Arc::clone(&self.0);
        let result = spawn_blocking(move || work(&store)).await;
        let failed = |reason: String| McpError::new(McpErrorKind::Unauthorized, reason);
        match result {
            Ok(result) => result.map_err(|error| failed(error.to_string())),
            Err(error) => Err(failed(format!("the store of tokens failed: {error}"))),
        }
    }
}

/// Returns the name of the tokens of a server in the store.
pub(crate) fn token_name(url: &str) -> String {
    format!("{TOKEN_PREFIX}{url}")
}

#[async_trait]
impl TokenStore for StoredTokens {
    async fn load(&self, url: &str) -> Result<Option<String>, McpError> {
        let name = token_name(url);
        let found = self.with(move |store| store.get(&name)).await?;
        Ok(found.map(|(tokens, _)| tokens.expose().to_owned()))
    }

    async fn save(&self, url: &str, tokens: &str) -> Result<(), McpError> {
        let (name, label) = (token_name(url), format!("tokens of {url}"));
        let tokens = Secret::from(tokens);
        let saved = self.with(move |store| store.set(&name, &label, &tokens, Preference::Any));
        saved.await.map(drop)
    }

    async fn delete(&self, url: &str) -> Result<(), McpError> {
        let name = token_name(url);
        self.with(move |store| store.delete(&name)).await.map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn tokens_are_kept_by_the_address_of_their_server() {
        let directory = tempfile::tempdir().unwrap();
        let store = StoredTokens(Arc::new(SecretStore::in_file(directory.path().join("secrets.json"))));
        assert_eq!(store.load("https://a/mcp").await.unwrap(), None);
        store.save("https://a/mcp", "{\"secret\": 1}").await.unwrap();
        store.save("https://b/mcp", "2").await.unwrap();
        store.delete("https://b/mcp").await.unwrap();
        let tokens = store.load("https://a/mcp").await.unwrap();
        assert_eq!(tokens.as_deref(), Some("{\"secret\": 1}"));
        assert_eq!(store.load("https://b/mcp").await.unwrap(), None);
    }

    #[tokio::test]
    async fn a_store_that_cannot_be_read_is_reported_without_tokens() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("secrets.json");
        let store = StoredTokens(Arc::new(SecretStore::in_file(path.clone())));
        store.save("https://a/mcp", "secret-token").await.unwrap();
        let private = std::fs::metadata(&path).unwrap().permissions();
        std::fs::write(&path, "{\"version\": 1, \"secrets\": \"secret-token\"}").unwrap();
        std::fs::set_permissions(&path, private).unwrap();
        let error = store.load("https://a/mcp").await.unwrap_err().to_string();
        assert!(
            error.contains("it is damaged") && !error.contains("secret-token"),
            "{error}"
        );
    }
}

//! [`FileTokens`]: the tokens of MCP servers, in a file that only its owner can read.

use std::{collections::BTreeMap, fs, io, path::PathBuf};

use agcore::mcp::{McpError, McpErrorKind, TokenStore};
use async_trait::async_trait;

use crate::{atomic_file, file_lock::FileLock, places::state_directory};

/// The name of the file in the directory of the program's state.
const FILE: &str = "mcp-tokens.json";

/// The tokens of MCP servers by URL, in a file that only its owner can read.
#[derive(Debug)]
pub(crate) struct FileTokens {
    /// `None` if there is no directory for the state: nothing is kept then.
    file: Option<PathBuf>,
}

impl FileTokens {
    /// Returns the store of the user.
    pub(crate) fn of_user() -> Self {
        Self::in_file(state_directory().map(|directory| directory.join(FILE)))
    }

    fn in_file(file: Option<PathBuf>) -> Self {
        Self { file }
    }

    /// Returns all entries. The content is never quoted in an error.
    fn read(&self) -> Result<BTreeMap<String, String>, McpError> {
        let Some(file) = &self.file else {
            return Ok(BTreeMap::new());
        };
        let text = match fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
            Err(error) => return Err(self.failed("read", &error.to_string())),
        };
        serde_json::from_str(&text).map_err(|_| self.failed("read", "it is damaged; delete it and sign in again"))
    }

    fn change(&self, change: impl FnOnce(&mut BTreeMap<String, String>)) -> Result<(), McpError> {
        let Some(file) = &self.file else {
            return Err(self.failed("written", "set HOME or XDG_STATE_HOME"));
        };
        let failed = |error: io::Error| self.failed("written", &error.to_string());
        // Another process may refresh the tokens of another server.
        let _lock = FileLock::of(file).map_err(failed)?;
        let mut entries = self.read()?;
        change(&mut entries);
        let text = serde_json::to_string_pretty(&entries).unwrap_or_default();
        atomic_file::replace(file, &text).map_err(failed)
    }

    fn failed(&self, what: &str, reason: &str) -> McpError {
        let file = match &self.file {
            Some(file) => file.display().to_string(),
            None => FILE.to_owned(),
        };
        let message = format!("the file of tokens {file} cannot be {what}: {reason}");
        McpError::new(McpErrorKind::Unauthorized, message)
    }
}

#[async_trait]
impl TokenStore for FileTokens {
    async fn load(&self, url: &str) -> Result<Option<String>, McpError> {
        Ok(self.read()?.remove(url))
    }

    async fn save(&self, url: &str, tokens: &str) -> Result<(), McpError> {
        self.change(|entries| {
            entries.insert(url.to_owned(), tokens.to_owned());
        })
    }

    async fn delete(&self, url: &str) -> Result<(), McpError> {
        self.change(|entries| {
            entries.remove(url);
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn keeps_tokens_in_a_private_file() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("state").join(FILE);
        let store = FileTokens::in_file(Some(file.clone()));
        assert_eq!(store.load("https://a/mcp").await.unwrap(), None);
        store.save("https://a/mcp", "{\"secret\": 1}").await.unwrap();
        store.save("https://b/mcp", "2").await.unwrap();
        store.delete("https://b/mcp").await.unwrap();
        let store = FileTokens::in_file(Some(file.clone()));
        assert_eq!(
            store.load("https://a/mcp").await.unwrap().as_deref(),
            Some("{\"secret\": 1}")
        );
        assert_eq!(store.load("https://b/mcp").await.unwrap(), None);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o077, 0);
        }
        fs::write(&file, "secret").unwrap();
        let error = store.load("https://a/mcp").await.unwrap_err().to_string();
        assert!(error.contains("it is damaged") && !error.contains("secret"), "{error}");
        let nowhere = FileTokens::in_file(None);
        assert_eq!(nowhere.load("https://a/mcp").await.unwrap(), None);
        assert!(nowhere.save("https://a/mcp", "1").await.is_err());
    }
}

//! [`Files`]: the files that users have uploaded.

use std::{fmt, sync::Arc};

use agcore_chat::{Actor, Clock};
use agcore_files::{FileKind, FileMapping, FileStorage, OriginFile, StorageError};
use agcore_memory::{Entry, MemoryError, MemoryErrorKind, Record, Timestamp, id, session::SessionStore};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The number of times a record is appended again because another request has appended one.
const ATTEMPTS: usize = 20;

/// The longest name, in bytes.
const MAX_NAME: usize = 255;

/// The files that users have uploaded. Each user has a stream of records in the store, which say what is in the storage.
pub(crate) struct Files {
    storage: Arc<dyn FileStorage>,
    store: Arc<dyn SessionStore>,
    clock: Arc<dyn Clock>,
}

/// A file that a user has uploaded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct StoredFile {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) kind: FileKind,
    pub(crate) size: u64,
    pub(crate) created_at: Timestamp,
    mapping: FileMapping,
}

/// The reason for which a file was not stored or found.
#[derive(Debug)]
pub(crate) enum FileError {
    Store(MemoryError),
    Storage(StorageError),
}

/// The files of a user, and the end of their stream.
struct Listed {
    files: Vec<StoredFile>,
    end: u64,
}

impl Files {
    pub(crate) fn new(storage: Arc<dyn FileStorage>, store: Arc<dyn SessionStore>, clock: Arc<dyn Clock>) -> Self {
        Self { storage, store, clock }
    }

    /// Returns the files of a user, the oldest first.
    pub(crate) async fn list(&self, actor: &Actor) -> Result<Vec<StoredFile>, FileError> {
        Ok(self.read(actor).await?.files)
    }

    /// Stores a file under an id. `name` must be one that [`check_name`] accepts.
    ///
    /// The content is stored first: if the process ends then, nothing refers to it.
    pub(crate) async fn add(
        &self,
        actor: &Actor,
        id: String,
        name: &str,
        kind: FileKind,
        content: Vec<u8>,
    ) -> Result<StoredFile, FileError> {
        let size = content.len() as u64;
        let mapping = self.storage.put(&path_of(actor, &id), content).await?;
        let file = StoredFile {
            id,
            name: name.to_owned(),
            kind,
            size,
            created_at: Timestamp::from(self.clock.now()),
            mapping,
        };
        let data = serde_json::to_value(&file).unwrap_or_default();
        if let Err(error) = self.append(actor, "added", data).await {
            // The user does not get the id.
            if let Err(error) = self.storage.delete(&file.mapping.path).await {
                tracing::warn!(?error, "a file without a record was not deleted");
            }
            return Err(error);
        }
        Ok(file)
    }

    /// Deletes a file. Returns whether the user had it.
    pub(crate) async fn delete(&self, actor: &Actor, id: &str) -> Result<bool, FileError> {
        let listed = self.read(actor).await?;
        let Some(file) = listed.files.into_iter().find(|file| file.id == id) else {
            return Ok(false);
        };
        self.storage.delete(&file.mapping.path).await?;
        let data = serde_json::json!({ "id": id });
        self.append(actor, "deleted", data).await?;
        Ok(true)
    }

    async fn read(&self, actor: &Actor) -> Result<Listed, FileError> {
        let entries = self.store.read(&stream_of(actor), 1).await?;
        let end = entries.last().map_or(0, |entry| entry.seq);
        let mut files: Vec<StoredFile> = Vec::new();
        for Entry { record, .. } in entries {
            match &*record.kind {
                "added" => files.extend(serde_json::from_value::<StoredFile>(record.data).ok()),
                _ => {
                    let id = record.data["id"].as_str().unwrap_or_default();
                    files.retain(|file| file.id != id);
                }
            }
        }
        Ok(Listed { files, end })
    }

    async fn append(&self, actor: &Actor, kind: &str, data: serde_json::Value) -> Result<(), FileError> {
        let stream = stream_of(actor);
        let mut end = self.read(actor).await?.end;
        let record = Record::new(kind, 1, Timestamp::from(self.clock.now()), data);
        for _ in 0..ATTEMPTS {
            match self.store.append(&stream, end, vec![record.clone()]).await {
                Ok(_) => return Ok(()),
                Err(error) => match error.kind() {
                    MemoryErrorKind::Conflict { found, .. } => end = found,
                    _ => return Err(error.into()),
                },
            }
        }
        Err(MemoryError::new(
            MemoryErrorKind::Unavailable,
            "the list of files changes too often; try again",
        )
        .into())
    }
}

impl StoredFile {
    /// Returns the file for a flow.
    pub(crate) fn to_origin(&self) -> OriginFile {
        OriginFile::new(&*self.name)
            .with_kind(self.kind)
            .with_mapping(self.mapping.clone())
    }
}

/// Checks the name of a file, which is shown to people and models and never opened. Returns it without spaces around it.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn check_name(name: &str) -> Result<&str, &'static str> {
    let name = name.trim();
    if name.is_empty() || name.len() > MAX_NAME {
        return Err("must have 1 to 255 bytes");
    }
    if name.contains(['/', '\\']) || name.chars().any(is_hidden) || matches!(name, "." | "..") {
        return Err("must be the name of a file, without a path and without control characters");
    }
    Ok(name)
}

/// Returns whether a character is not shown, or changes how others are shown.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{fffd}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// Returns the path of a file in the storage. It contains nothing that a client has chosen.
fn path_of(actor: &Actor, id: &str) -> String {
    let owner = Sha256::digest(owner_of(actor));
    let owner: String = owner.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    format!("uploads/{owner}/{id}")
}

fn stream_of(actor: &Actor) -> String {
    id::join(["server", "files", &owner_of(actor)])
}

fn owner_of(actor: &Actor) -> String {
    serde_json::to_string(actor).unwrap_or_default()
}

impl From<MemoryError> for FileError {
    fn from(error: MemoryError) -> Self {
        Self::Store(error)
    }
}

impl From<StorageError> for FileError {
    fn from(error: StorageError) -> Self {
        Self::Storage(error)
    }
}

impl fmt::Debug for Files {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Files")
            .field("storage", &self.storage)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_files() {
        assert_eq!(check_name(" 报告 (2).pdf "), Ok("报告 (2).pdf"));
        let long = "a".repeat(256);
        for name in [
            "",
            "  ",
            ".",
            "..",
            "../x",
            "a/b",
            "a\\b",
            "a\0b",
            "a\nb",
            "a\u{202e}fdp.exe",
            "\u{feff}",
            &long,
        ] {
            assert!(check_name(name).is_err(), "{name:?}");
        }
    }

    #[test]
    fn paths_contain_nothing_of_the_client() {
        let path = path_of(&Actor::new("../etc", "a/b"), "file-1");
        let (start, rest) = path.split_once('/').unwrap();
        let (owner, id) = rest.split_once('/').unwrap();
        assert_eq!((start, owner.len(), id), ("uploads", 32, "file-1"));
        assert!(owner.bytes().all(|byte| byte.is_ascii_hexdigit()));
        assert_ne!(path, path_of(&Actor::new("../etc", "a"), "file-1"));
    }
}

//! [`FileStorage`]: where the contents of files are.

mod error;
#[cfg(feature = "local")]
mod local;
#[cfg(feature = "objects")]
mod objects;
#[cfg(any(feature = "local", feature = "objects"))]
mod path;

use std::fmt::Debug;

use async_trait::async_trait;

pub use self::error::{StorageError, StorageErrorKind};
#[cfg(feature = "local")]
pub use self::local::LocalStorage;
#[cfg(feature = "objects")]
pub use self::objects::{BucketPlace, ObjectKeys, ObjectReply, ObjectRequest, ObjectStorage, ObjectTransport};
use crate::origin::{FileMapping, StorageProvider};

/// Keeps the contents of files by their paths. The parts of a path are separated by `/`.
#[async_trait]
pub trait FileStorage: Debug + Send + Sync {
    /// Returns where this storage is, as the mappings of its files say it.
    fn provider(&self) -> StorageProvider;

    /// Stores a file, and replaces the file with the same path.
    ///
    /// # Errors
    /// When the path is invalid, or the storage cannot be written.
    ///
    /// # Cancel safety
    /// When the future is dropped, the file has either its old or its new content.
    async fn put(&self, path: &str, content: Vec<u8>) -> Result<FileMapping, StorageError>;

    /// Returns the content of a file.
    ///
    /// # Errors
    /// When the path is invalid, there is no such file, it is larger than `max_bytes`, or the storage cannot be read.
    ///
    /// # Cancel safety
    /// Nothing is changed.
    async fn get(&self, path: &str, max_bytes: usize) -> Result<Vec<u8>, StorageError>;

    /// Deletes a file, and returns whether there was one.
    ///
    /// # Errors
    /// When the path is invalid, or the storage cannot be written.
    ///
    /// # Cancel safety
    /// When the future is dropped, the file may or may not be deleted.
    async fn delete(&self, path: &str) -> Result<bool, StorageError>;
}

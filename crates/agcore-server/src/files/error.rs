//! [`FileError`]: the reason for which a file was not stored or found.

use agcore_files::StorageError;
use agcore_session::SessionError;

use super::quota::Shortage;

/// The reason for which a file was not stored or found.
#[derive(Debug)]
pub(crate) enum FileError {
    Store(SessionError),
    Storage(StorageError),
    Full(Shortage),
}

impl From<SessionError> for FileError {
    fn from(error: SessionError) -> Self {
        Self::Store(error)
    }
}

impl From<Shortage> for FileError {
    fn from(shortage: Shortage) -> Self {
        Self::Full(shortage)
    }
}

impl From<StorageError> for FileError {
    fn from(error: StorageError) -> Self {
        Self::Storage(error)
    }
}

//! [`GivenFiles`]: the files that the user names with `--file`.

use std::{
    fs::{self, File},
    io::Read,
    path::Path,
};

use agcore::files::{FileMapping, FileStorage, OriginFile, StorageError, StorageErrorKind, StorageProvider};
use agcore_terminal::render::sanitized_line;
use async_trait::async_trait;

use crate::exit::Failure;

/// Files of this machine, read where they are. Their paths in the storage are absolute. Only the user names files, so that a flow
/// reads no others.
#[derive(Debug)]
pub(super) struct GivenFiles;

/// Returns a file for a flow, under the name by which the user knows it.
///
/// # Errors
/// When there is no such file.
pub(super) fn origin(path: &Path) -> Result<OriginFile, Failure> {
    let name = path.display().to_string();
    let failed = |reason: &str| Failure::usage(format!("cannot read {}: {reason}", sanitized_line(&name)));
    let place = fs::canonicalize(path).map_err(|error| failed(&error.to_string()))?;
    if !place.is_file() {
        return Err(failed("it is not a regular file"));
    }
    let place = place.to_str().ok_or_else(|| failed("its path is not UTF-8"))?;
    let mapping = FileMapping::new(StorageProvider::Local, place);
    Ok(OriginFile::new(name).with_local_path(place).with_mapping(mapping))
}

#[async_trait]
impl FileStorage for GivenFiles {
    fn provider(&self) -> StorageProvider {
        StorageProvider::Local
    }

    async fn put(&self, _: &str, _: Vec<u8>) -> Result<FileMapping, StorageError> {
        Err(read_only())
    }

    async fn get(&self, path: &str, max_bytes: usize) -> Result<Vec<u8>, StorageError> {
        let owned = path.to_owned();
        let reading = tokio::task::spawn_blocking(move || read(Path::new(&owned), max_bytes)).await;
        let failed = |error: std::io::Error| {
            let message = format!("the file {path:?} cannot be read; check that it is still there");
            StorageError::new(StorageErrorKind::NotFound, message).with_source(error)
        };
        let content = reading.map_err(|error| failed(error.into()))?.map_err(failed)?;
        if content.len() > max_bytes {
            let message = format!("the file {path:?} is larger than {max_bytes} bytes; divide it");
            return Err(StorageError::new(StorageErrorKind::TooLarge, message));
        }
        Ok(content)
    }

    async fn delete(&self, _: &str) -> Result<bool, StorageError> {
        Err(read_only())
    }
}

/// Reads a file up to the byte that is too much.
fn read(path: &Path, max_bytes: usize) -> std::io::Result<Vec<u8>> {
    // Opening a pipe would wait for its other end.
    if !path.is_file() {
        return Err(std::io::ErrorKind::NotFound.into());
    }
    let mut content = Vec::new();
    let limit = u64::try_from(max_bytes).unwrap_or(u64::MAX).saturating_add(1);
    File::open(path)?.take(limit).read_to_end(&mut content)?;
    Ok(content)
}

#[cold]
fn read_only() -> StorageError {
    let message = "the files of the user are only read; use another storage for new ones";
    StorageError::new(StorageErrorKind::InvalidPath, message)
}

//! [`LocalStorage`]: files in a folder of this machine.

use std::{
    io::{self, Read, Write},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use async_trait::async_trait;
use cap_std::{
    ambient_authority,
    fs::{Dir, OpenOptions},
};

use super::{FileStorage, StorageError, StorageErrorKind, path};
use crate::origin::{FileMapping, StorageProvider};

/// The beginning of the names of files that are being written.
const TEMPORARY: &str = ".agcore-upload-";

/// Files in a folder. Paths and symbolic links cannot lead out of it.
///
/// Its methods need a runtime of tokio, on whose threads for blocking work they read and write.
///
/// ```
/// use agcore_files::{FileStorage, LocalStorage, StorageErrorKind};
///
/// # let folder = tempfile::tempdir()?;
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let storage = LocalStorage::open(folder.path())?;
/// let mapping = storage.put("uploads/7.csv", b"a,b\n".to_vec()).await?;
/// assert_eq!(storage.get(&mapping.path, 100).await?, b"a,b\n");
/// let error = storage.get("../secret", 100).await.unwrap_err();
/// assert_eq!(error.kind(), StorageErrorKind::InvalidPath);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct LocalStorage {
    folder: Arc<Folder>,
}

#[derive(Debug)]
struct Folder {
    dir: Dir,
    /// Numbers the files that are being written.
    uploads: AtomicU64,
}

impl LocalStorage {
    /// Opens a folder, which must exist. This function blocks.
    ///
    /// # Errors
    /// When the folder cannot be opened.
    pub fn open(folder: &Path) -> Result<Self, StorageError> {
        let dir = Dir::open_ambient_dir(folder, ambient_authority()).map_err(|error| {
            let message = "the folder of files cannot be opened; create it, or check its permissions";
            StorageError::new(StorageErrorKind::Unavailable, message).with_source(error)
        })?;
        let uploads = AtomicU64::new(0);
        Ok(Self {
            folder: Arc::new(Folder { dir, uploads }),
        })
    }

    async fn blocking<T: Send + 'static>(
        &self,
        path: &str,
        work: impl FnOnce(&Folder, &Path) -> io::Result<T> + Send + 'static,
    ) -> Result<T, StorageError> {
        check(path)?;
        let (folder, owned) = (Arc::clone(&self.folder), path.to_owned());
        let task = tokio::task::spawn_blocking(move || work(&folder, Path::new(&owned)));
        let result = task.await.unwrap_or_else(|error| Err(io::Error::other(error)));
        result.map_err(|error| failed(path, error))
    }
}

#[async_trait]
impl FileStorage for LocalStorage {
    fn provider(&self) -> StorageProvider {
        StorageProvider::Local
    }

    async fn put(&self, path: &str, content: Vec<u8>) -> Result<FileMapping, StorageError> {
        self.blocking(path, move |folder, path| folder.put(path, &content))
            .await?;
        Ok(FileMapping::new(StorageProvider::Local, path))
    }

    async fn get(&self, path: &str, max_bytes: usize) -> Result<Vec<u8>, StorageError> {
        let read = self
            .blocking(path, move |folder, path| folder.get(path, max_bytes))
            .await?;
        read.ok_or_else(|| {
            let message = format!("the file {path:?} is larger than {max_bytes} bytes; ask for more");
            StorageError::new(StorageErrorKind::TooLarge, message)
        })
    }

    async fn delete(&self, path: &str) -> Result<bool, StorageError> {
        let deleted = self.blocking(path, |folder, path| folder.dir.remove_file(path)).await;
        match deleted {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == StorageErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }
}

impl Folder {
    /// Writes another file first and renames it, so that readers never see a part.
    fn put(&self, path: &Path, content: &[u8]) -> io::Result<()> {
        if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            self.dir.create_dir_all(parent)?;
        }
        let (temporary, mut file) = self.temporary(path)?;
        let written = file.write_all(content).and_then(|()| file.sync_all());
        drop(file);
        let done = written.and_then(|()| self.dir.rename(&temporary, &self.dir, path));
        if done.is_err() {
            // The first error is the cause.
            let _ = self.dir.remove_file(&temporary);
        }
        done
    }

    /// Creates a new file beside a path. Other processes may write into the same folder.
    fn temporary(&self, path: &Path) -> io::Result<(std::path::PathBuf, cap_std::fs::File)> {
        loop {
            let number = self.uploads.fetch_add(1, Ordering::Relaxed);
            let temporary = path.with_file_name(format!("{TEMPORARY}{number}"));
            match self
                .dir
                .open_with(&temporary, OpenOptions::new().write(true).create_new(true))
            {
                Ok(file) => return Ok((temporary, file)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Returns `None` if the file is too large.
    fn get(&self, path: &Path, max_bytes: usize) -> io::Result<Option<Vec<u8>>> {
        let file = self.dir.open(path)?;
        // Devices and pipes have no end, and opening them may have effects.
        if !file.metadata()?.is_file() {
            return Err(io::ErrorKind::NotFound.into());
        }
        let mut content = Vec::new();
        file.take((max_bytes as u64).saturating_add(1))
            .read_to_end(&mut content)?;
        Ok((content.len() <= max_bytes).then_some(content))
    }
}

/// Accepts the paths of all storages, those of files that are being written excepted.
fn check(path: &str) -> Result<(), StorageError> {
    path::check(path)?;
    let is_own = path.rsplit('/').next().is_some_and(|name| name.starts_with(TEMPORARY));
    if is_own { Err(path::invalid(path)) } else { Ok(()) }
}

fn failed(path: &str, error: io::Error) -> StorageError {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::IsADirectory | io::ErrorKind::NotADirectory => {
            let message = format!("there is no file {path:?} in this storage; check the path");
            StorageError::new(StorageErrorKind::NotFound, message).with_source(error)
        }
        _ => {
            let message = format!("the file {path:?} cannot be read or written; check its permissions and the disk");
            StorageError::new(StorageErrorKind::Unavailable, message).with_source(error)
        }
    }
}

//! [`MediaArchive`]: keeps what models have made as files of a storage.

use std::{fmt, sync::Arc};

use agcore_files::{FileMapping, FileStorage, StorageError};
use agcore_llm::{GeneratedImages, Speech, VideoFile, wire::operation::ImageData};

/// Keeps images, speech and videos that models have made as files of a storage, within limits.
///
/// The name of a file is the one that is given, with an extension by its first bytes, never by what a server claims. What a
/// server returned as a URL is not downloaded: its URL is passed on, and expires after some time.
///
/// ```
/// use std::sync::Arc;
///
/// use agcore_catalog::{Kept, MediaArchive};
/// use agcore_files::LocalStorage;
/// use agcore_llm::{GeneratedImages, wire::operation::ImageData};
///
/// # let folder = tempfile::tempdir()?;
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let archive = MediaArchive::new(Arc::new(LocalStorage::open(folder.path())?));
/// let images = GeneratedImages::new([ImageData::Bytes(b"\x89PNG\r\n\x1a\n".as_slice().into())]);
/// let kept = archive.keep_images("session-7/fox", &images).await?;
/// assert!(matches!(&kept[0], Kept::File(file) if file.path == "session-7/fox-1.png"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
#[must_use]
pub struct MediaArchive {
    storage: Arc<dyn FileStorage>,
    max_bytes: usize,
    max_files: usize,
}

/// A file that was kept, or the URL of one that was not. `Debug` does not show the URL, which may contain a signature.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum Kept {
    /// The place of the file in the storage.
    File(FileMapping),
    /// The URL from which the file can be downloaded for some time.
    Url(String),
}

/// The reason nothing was kept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// A file is larger than the limit.
    #[error("a file has {bytes} bytes, more than the limit of {limit}; raise it with `with_max_bytes`")]
    TooLarge {
        /// The size of the file.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// A reply has more files than the limit.
    #[error("there are {files} files, more than the limit of {limit}; raise it with `with_max_files`")]
    TooMany {
        /// The number of files.
        files: usize,
        /// The limit.
        limit: usize,
    },
    /// The storage failed.
    #[error("a file that a model has made cannot be kept")]
    Storage(#[from] StorageError),
}

impl MediaArchive {
    /// The default limit of the bytes of a file.
    pub const DEFAULT_MAX_BYTES: usize = 256 << 20;

    /// The default limit of the files of a reply.
    pub const DEFAULT_MAX_FILES: usize = 32;

    /// Creates an archive in a storage.
    pub fn new(storage: Arc<dyn FileStorage>) -> Self {
        Self {
            storage,
            max_bytes: Self::DEFAULT_MAX_BYTES,
            max_files: Self::DEFAULT_MAX_FILES,
        }
    }

    /// Sets the limit of the bytes of a file.
    pub fn with_max_bytes(mut self, max: usize) -> Self {
        self.max_bytes = max;
        self
    }

    /// Sets the limit of the files of a reply.
    pub fn with_max_files(mut self, max: usize) -> Self {
        self.max_files = max;
        self
    }

    /// Keeps all images of a reply as `NAME-1.png`, `NAME-2.png` and so on, or none of them.
    ///
    /// When the future is dropped, some of the files may have been written.
    ///
    /// # Errors
    /// Fails if a limit is exceeded, before anything is written, or if the storage fails.
    pub async fn keep_images(&self, name: &str, images: &GeneratedImages) -> Result<Vec<Kept>, ArchiveError> {
        let (files, limit) = (images.images.len(), self.max_files);
        if files > limit {
            return Err(ArchiveError::TooMany { files, limit });
        }
        for image in &images.images {
            if let ImageData::Bytes(bytes) = image {
                self.check(bytes)?;
            }
        }
        let mut kept = Vec::with_capacity(files);
        for (index, image) in images.images.iter().enumerate() {
            let one = match image {
                ImageData::Bytes(bytes) => self.put(&format!("{name}-{}", index + 1), bytes).await,
                ImageData::Url(url) => Ok(Kept::Url(url.clone())),
            };
            match one {
                Ok(one) => kept.push(one),
                Err(error) => {
                    self.discard(&kept).await;
                    return Err(error);
                }
            }
        }
        Ok(kept)
    }

    /// Keeps a speech.
    ///
    /// # Errors
    /// As [`keep_images`](Self::keep_images).
    pub async fn keep_speech(&self, name: &str, speech: &Speech) -> Result<Kept, ArchiveError> {
        match &speech.url {
            Some(url) if speech.audio.is_empty() => Ok(Kept::Url(url.clone())),
            _ => {
                self.check(&speech.audio)?;
                self.put(name, &speech.audio).await
            }
        }
    }

    /// Keeps a video.
    ///
    /// # Errors
    /// As [`keep_images`](Self::keep_images).
    pub async fn keep_video(&self, name: &str, video: &VideoFile) -> Result<Kept, ArchiveError> {
        match video {
            VideoFile::Url(url) => Ok(Kept::Url(url.clone())),
            VideoFile::Bytes(bytes) => {
                self.check(bytes)?;
                self.put(name, bytes).await
            }
        }
    }

    fn check(&self, content: &[u8]) -> Result<(), ArchiveError> {
        let (bytes, limit) = (content.len(), self.max_bytes);
        match bytes > limit {
            true => Err(ArchiveError::TooLarge { bytes, limit }),
            false => Ok(()),
        }
    }

    async fn put(&self, name: &str, content: &[u8]) -> Result<Kept, ArchiveError> {
        let path = format!("{name}.{}", extension(content));
        Ok(Kept::File(self.storage.put(&path, content.to_vec()).await?))
    }

    /// Deletes files of a reply that could not be kept as a whole.
    async fn discard(&self, kept: &[Kept]) {
        for file in kept {
            if let Kept::File(file) = file {
                // The error that is reported is the one that came first.
                drop(self.storage.delete(&file.path).await);
            }
        }
    }
}

/// Returns the extension for a file by its first bytes; `bin` if they are unknown.
fn extension(content: &[u8]) -> &'static str {
    let at = |offset: usize, magic: &[u8]| content.get(offset..).is_some_and(|rest| rest.starts_with(magic));
    match () {
        () if at(0, b"\x89PNG\r\n\x1a\n") => "png",
        () if at(0, b"\xff\xd8\xff") => "jpg",
        () if at(0, b"GIF8") => "gif",
        () if at(0, b"RIFF") && at(8, b"WEBP") => "webp",
        () if at(0, b"RIFF") && at(8, b"WAVE") => "wav",
        () if at(0, b"ID3") || at(0, b"\xff\xfb") || at(0, b"\xff\xf3") => "mp3",
        () if at(0, b"OggS") => "ogg",
        () if at(0, b"fLaC") => "flac",
        () if at(4, b"ftyp") => "mp4",
        () if at(0, b"\x1a\x45\xdf\xa3") => "webm",
        () => "bin",
    }
}

impl fmt::Debug for MediaArchive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MediaArchive")
            .field("storage", &self.storage)
            .field("max_bytes", &self.max_bytes)
            .field("max_files", &self.max_files)
            .finish()
    }
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(file) => f.debug_tuple("File").field(file).finish(),
            Self::Url(_) => f.write_str("Url"),
        }
    }
}

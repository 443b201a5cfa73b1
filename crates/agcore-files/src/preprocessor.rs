//! [`FilePreprocessor`]: what turns files into documents and tables.

use std::fmt::Debug;

use async_trait::async_trait;

use crate::{
    origin::OriginFile,
    preprocessed::{OtherFile, Preprocessed},
    problem::{FileProblem, FileProblemKind},
    storage::{FileStorage, StorageErrorKind},
};

/// Turns files into documents, tables and other files.
///
/// Reading a file takes much computation. An implementation does it on a thread of its own, as
/// [`StandardPreprocessor`](crate::StandardPreprocessor) does, or in another process, and never in the task that awaits it.
#[async_trait]
pub trait FilePreprocessor: Debug + Send + Sync {
    /// Reads one file.
    ///
    /// # Errors
    /// When the file cannot be read: it is broken, protected, too large, or of an unsupported kind.
    ///
    /// # Cancel safety
    /// Dropping the future asks the work to stop; nothing is left behind.
    async fn preprocess(&self, file: &OriginFile, content: Vec<u8>) -> Result<Preprocessed, FileProblem>;

    /// Returns the largest file in bytes that is read.
    fn max_bytes(&self) -> usize;
}

/// Reads files from a storage, one after the other. A file that cannot be read becomes an [`OtherFile`] with its problem, and
/// does not keep the others from being read.
///
/// # Cancel safety
/// Nothing is changed; dropping the future loses what was read so far.
pub async fn preprocess_all(
    preprocessor: &dyn FilePreprocessor,
    storage: &dyn FileStorage,
    files: &[OriginFile],
) -> Preprocessed {
    let mut all = Preprocessed::new();
    for file in files {
        match preprocess_stored(preprocessor, storage, file).await {
            Ok(found) => all.append(found),
            Err(problem) => all.other_files.push(OtherFile::new(file.clone()).with_problem(problem)),
        }
    }
    all
}

async fn preprocess_stored(
    preprocessor: &dyn FilePreprocessor,
    storage: &dyn FileStorage,
    file: &OriginFile,
) -> Result<Preprocessed, FileProblem> {
    let unavailable = |message: &str| FileProblem::new(&file.name, FileProblemKind::Unavailable, message);
    let Some(mapping) = &file.mapping else {
        return Err(unavailable("it has no place in a storage; store it first"));
    };
    if mapping.provider != storage.provider() {
        return Err(unavailable(
            "it is in another storage; use the storage that its mapping names",
        ));
    }
    let content = storage.get(&mapping.path, preprocessor.max_bytes()).await;
    let content = content.map_err(|error| match error.kind() {
        StorageErrorKind::TooLarge => crate::work::exceeded(
            &file.name,
            &format!("it is larger than {} bytes", preprocessor.max_bytes()),
        ),
        _ => unavailable("its storage did not return it; check the storage, and try again").with_source(error),
    })?;
    preprocessor.preprocess(file, content).await
}

//! [`Ingest`]: reads files into a store.

mod folder;
mod known;
mod save;

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};

use agcore_chat::Actor;
use agcore_files::{FilePreprocessor, FileProblem, FileProblemKind, FolderLimits, FolderReader};
use agcore_memory::{
    MemoryError,
    knowledge::{KnowledgeSource, SourceStore},
};

use self::{known::stem, save::save};
use crate::{
    prepared::{Naming, Prepared, prepare, unreadable},
    report::{FileOutcome, FileStatus, IngestError},
};

/// Progress of reading a folder.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct IngestProgress<'o> {
    /// The result of the last file.
    pub outcome: &'o FileOutcome,
    /// The number of files that were read.
    pub done: usize,
    /// The number of all files.
    pub total: usize,
}

/// Reads files and folders into a store, as pages that a search finds and a citation points to.
///
/// Each file is saved in one transaction, with a record of its content. If the process dies, the next call reads only the files
/// that are missing; if a file has changed, only its pages are replaced; if one was deleted, so are its pages.
///
/// Cheap to clone. See the [crate] for an example.
#[derive(Clone)]
pub struct Ingest {
    store: Arc<dyn SourceStore>,
    preprocessor: Arc<dyn FilePreprocessor>,
    owner: Actor,
    tags: Vec<String>,
    name: Option<String>,
    page: Option<String>,
    title: Option<String>,
    limits: FolderLimits,
    parallel: usize,
}

impl fmt::Debug for Ingest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ingest")
            .field("store", &self.store)
            .field("preprocessor", &self.preprocessor)
            .field("owner", &self.owner)
            .field("tags", &self.tags)
            .finish_non_exhaustive()
    }
}

impl Ingest {
    /// Creates a value that saves the pages of the actor [`local`](Actor::local).
    pub fn new(store: Arc<dyn SourceStore>, preprocessor: Arc<dyn FilePreprocessor>) -> Self {
        Self {
            store,
            preprocessor,
            owner: Actor::local(),
            tags: Vec::new(),
            name: None,
            page: None,
            title: None,
            limits: FolderLimits::new(),
            parallel: 4,
        }
    }

    /// Sets the owner of the sources and pages.
    #[must_use]
    pub fn with_owner(mut self, owner: Actor) -> Self {
        self.owner = owner;
        self
    }

    /// Adds a tag to all pages.
    #[must_use]
    pub fn with_tag(mut self, tag: impl Into<String>) -> Self {
        self.tags.push(tag.into());
        self
    }

    /// Sets the name of the folder or file in the ids of its sources, which citations show. By default, it is its own name.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets the id of the page of a file, with which the ids begin if there are several. By default, it is the path of the file
    /// without its extension. Folders ignore it.
    #[must_use]
    pub fn with_page_id(mut self, id: impl Into<String>) -> Self {
        self.page = Some(id.into());
        self
    }

    /// Sets the title of the pages of a file. Folders ignore it.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets the limits on folders.
    #[must_use]
    pub fn with_folder_limits(mut self, limits: FolderLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets how many files of a folder are read at the same time, at least one; 4 by default. Their contents are in memory.
    #[must_use]
    pub fn with_parallel(mut self, files: usize) -> Self {
        self.parallel = files.max(1);
        self
    }

    /// Reads one file. If it does not exist, and was read before, it is removed.
    ///
    /// Needs a runtime of tokio, on whose threads for blocking work the file is read.
    ///
    /// # Errors
    /// When there is no file at this path, or the store fails. A file that cannot be read is an outcome.
    ///
    /// # Cancel safety
    /// The file may or may not be saved, but never a part of it.
    pub async fn file(&self, path: &Path) -> Result<FileOutcome, IngestError> {
        let (folder, name) = parent_and_name(path)?;
        let location = folder.join(&name).to_string_lossy().into_owned();
        let known = known::all(&*self.store, &self.owner.tenant).await?;
        let source = match known.at(&location) {
            Some(known) if self.name.is_none() => known.id.clone(),
            _ => self.name.clone().unwrap_or_else(|| name.clone()),
        };
        let naming = self.naming(source, Some(location), stem(&name));
        let known = match known.named(&naming) {
            Ok(known) => known.cloned(),
            Err(reason) => return Ok(FileOutcome::new(naming.source, FileStatus::Failed(reason))),
        };
        let reader = blocking(move || FolderReader::open(&folder)).await?;
        let prepared = self.prepare_file(&reader, &name, &naming, known.as_ref()).await;
        if matches!(prepared, Prepared::Gone) && known.is_none() {
            let message = "there is no such file; check its path";
            return Err(FileProblem::new(&path.to_string_lossy(), FileProblemKind::Unavailable, message).into());
        }
        Ok(save(&*self.store, &naming, prepared, known.as_ref()).await?)
    }

    /// Reads a content that is not in a file, such as an upload. `source` is its id, which ends with a file name, for its kind.
    ///
    /// # Errors
    /// When the store fails. A content that cannot be read is an outcome.
    ///
    /// # Cancel safety
    /// The content may or may not be saved, but never a part of it.
    pub async fn content(&self, source: &str, content: Vec<u8>) -> Result<FileOutcome, MemoryError> {
        let naming = self.naming(source.to_owned(), None, stem(source));
        let known = self.store.source(&self.owner.tenant, source).await?;
        let prepared = prepare(&*self.preprocessor, &naming, content, known.as_ref()).await;
        save(&*self.store, &naming, prepared, known.as_ref()).await
    }

    /// Removes a source with its pages. Returns the number of pages, or `None` if there is no such source.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn remove(&self, source: &str) -> Result<Option<u64>, MemoryError> {
        self.store.delete_source(&self.owner.tenant, source).await
    }

    fn naming(&self, source: String, location: Option<String>, page: &str) -> Naming {
        Naming {
            source,
            location,
            page: self.page.clone().unwrap_or_else(|| page.to_owned()),
            title: self.title.clone(),
            tags: self.tags.clone(),
            owner: self.owner.clone(),
        }
    }

    async fn prepare_file(
        &self,
        reader: &FolderReader,
        path: &str,
        naming: &Naming,
        known: Option<&KnowledgeSource>,
    ) -> Prepared {
        let (reader, owned, limit) = (reader.clone(), path.to_owned(), self.preprocessor.max_bytes());
        match blocking(move || reader.read(&owned, limit)).await {
            Ok(Some(content)) => prepare(&*self.preprocessor, naming, content, known).await,
            Ok(None) => Prepared::Gone,
            Err(found) => unreadable(naming, found),
        }
    }
}

/// Runs work that blocks on a thread for it.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, FileProblem> + Send + 'static,
) -> Result<T, FileProblem> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| {
        let message = "the thread that read it was stopped; try again";
        Err(FileProblem::new("the file", FileProblemKind::Unavailable, message).with_source(error))
    })
}

/// Returns the real folder of a file and its name. A link to a file is followed, because a person has named it.
fn parent_and_name(path: &Path) -> Result<(PathBuf, String), FileProblem> {
    let shown = path.to_string_lossy();
    let failed = |message: String| FileProblem::new(&shown, FileProblemKind::Unavailable, message);
    // A file that was deleted has a folder.
    let real = path.canonicalize().or_else(|error| {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let parent = parent.unwrap_or(Path::new(".")).canonicalize();
        match (parent, path.file_name()) {
            (Ok(parent), Some(name)) => Ok(parent.join(name)),
            _ => Err(failed(format!("{error}; check its path"))),
        }
    })?;
    match (real.parent(), real.file_name().and_then(|name| name.to_str())) {
        (Some(parent), Some(name)) => Ok((parent.to_owned(), name.to_owned())),
        _ => Err(failed("its name is not that of a file; check its path".to_owned())),
    }
}

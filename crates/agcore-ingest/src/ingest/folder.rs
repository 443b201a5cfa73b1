//! Reads the files of a folder.

use std::{collections::BTreeSet, path::Path};

use agcore_files::{FileProblem, FileProblemKind, FolderFiles, FolderReader};
use agcore_memory::knowledge::KnowledgeSource;
use futures_util::{StreamExt, stream::FuturesOrdered};

use super::{
    Ingest, IngestProgress, blocking,
    known::{self, Known, stem},
    save::save,
};
use crate::{
    prepared::{Naming, Prepared},
    report::{FileOutcome, FileStatus, IngestError, IngestReport},
};

/// A folder that is read.
struct Folder {
    /// Its real path.
    path: String,
    /// Its name in the ids of its sources.
    name: String,
    reader: FolderReader,
    files: FolderFiles,
    known: Known,
}

impl Ingest {
    /// Reads all files of a folder and its subfolders, except for those whose names begin with a dot. Symbolic links are not
    /// followed. Files that were read from this folder before and no longer exist are removed.
    ///
    /// Needs a runtime of tokio, on whose threads for blocking work the files are read.
    ///
    /// # Errors
    /// When the folder cannot be listed, has too many files, or has none although it had some, or the store fails.
    ///
    /// # Cancel safety
    /// Files that were saved stay saved. Another call continues with the others.
    pub async fn folder(
        &self,
        folder: &Path,
        mut progress: impl FnMut(IngestProgress<'_>) + Send,
    ) -> Result<IngestReport, IngestError> {
        let folder = open(self, folder).await?;
        let mut report = IngestReport::default();
        let gone: Vec<&KnowledgeSource> = folder.gone().collect();
        let total = folder.files.files.len() + gone.len();
        let mut done = 0;
        let mut add = |outcome: FileOutcome, report: &mut IngestReport| {
            done += 1;
            progress(IngestProgress {
                outcome: &outcome,
                done,
                total,
            });
            report.add(outcome);
        };
        // Files are read at the same time, and saved in their order.
        let (mut files, mut prepared) = (folder.files.files.iter(), FuturesOrdered::new());
        loop {
            let free = self.parallel.saturating_sub(prepared.len());
            prepared.extend(files.by_ref().take(free).map(|file| prepare(self, &folder, file)));
            let Some((naming, known, read)) = prepared.next().await else {
                break;
            };
            let outcome = match read {
                Ok(read) => save(&*self.store, &naming, read, known).await?,
                Err(reason) => FileOutcome::new(naming.source, FileStatus::Failed(reason)),
            };
            add(outcome, &mut report);
        }
        drop(prepared);
        for source in gone {
            let naming = self.naming(source.id.clone(), source.location.clone(), "");
            let outcome = save(&*self.store, &naming, Prepared::Gone, Some(source)).await?;
            add(outcome, &mut report);
        }
        report.left_out = folder.files.left_out;
        Ok(report)
    }
}

async fn open(ingest: &Ingest, path: &Path) -> Result<Folder, IngestError> {
    let (owned, limits) = (path.to_owned(), ingest.limits.clone());
    let listed = blocking(move || {
        let real = owned.canonicalize().map_err(|error| {
            let message = format!("the folder cannot be opened ({error}); check its path and its permissions");
            FileProblem::new(&owned.to_string_lossy(), FileProblemKind::Unavailable, message).with_source(error)
        })?;
        let reader = FolderReader::open(&real)?;
        let files = reader.list(&limits)?;
        Ok((real, reader, files))
    });
    let (real, reader, files) = listed.await?;
    let name = real.file_name().map(|name| name.to_string_lossy().into_owned());
    let folder = Folder {
        path: real.to_string_lossy().trim_end_matches('/').to_owned(),
        name: ingest.name.clone().or(name).unwrap_or_else(|| "files".to_owned()),
        reader,
        files,
        known: known::all(&*ingest.store, &ingest.owner.tenant).await?,
    };
    let before = folder.known.below(&folder.path).count();
    if folder.files.files.is_empty() && before > 0 {
        let message = format!(
            "the folder has no files, but had {before}; nothing was removed: check that it is the right one, or remove its sources"
        );
        return Err(FileProblem::new(&path.to_string_lossy(), FileProblemKind::Unavailable, message).into());
    }
    Ok(folder)
}

impl Folder {
    /// Returns the sources whose files no longer exist. Those below folders that could not be read are not known to be gone.
    fn gone(&self) -> impl Iterator<Item = &KnowledgeSource> {
        let files: BTreeSet<&str> = self.files.files.iter().map(String::as_str).collect();
        let unread: Vec<&str> = self
            .files
            .left_out
            .iter()
            .filter(|left| left.is_unread_folder)
            .map(|left| left.path.as_str())
            .collect();
        let is_below = |path: &str, folder: &&str| path.strip_prefix(*folder).is_some_and(|rest| rest.starts_with('/'));
        let sources = self.known.below(&self.path);
        let gone = sources
            .filter(move |(path, _)| !files.contains(path) && !unread.iter().any(|folder| is_below(path, folder)));
        gone.map(|(_, source)| source)
    }
}

async fn prepare<'f>(
    ingest: &Ingest,
    folder: &'f Folder,
    file: &str,
) -> (Naming, Option<&'f KnowledgeSource>, Result<Prepared, String>) {
    let location = format!("{}/{file}", folder.path);
    let source = match folder.known.at(&location) {
        Some(known) => known.id.clone(),
        None => format!("{}/{file}", folder.name),
    };
    let mut naming = ingest.naming(source, Some(location), stem(file));
    // Of a single file only.
    (naming.page, naming.title) = (stem(file).to_owned(), None);
    let known = match folder.known.named(&naming) {
        Ok(known) => known,
        Err(reason) => return (naming, None, Err(reason)),
    };
    let prepared = ingest.prepare_file(&folder.reader, file, &naming, known).await;
    (naming, known, Ok(prepared))
}

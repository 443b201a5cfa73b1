//! A folder, and a store for its files.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use agcore_chat::SystemClock;
use agcore_files::StandardPreprocessor;
use agcore_ingest::{FileOutcome, FileStatus, Ingest, IngestReport};
use agcore_memory::{
    knowledge::{InMemoryKnowledgeStore, KnowledgeStore, PageFilter, SourceStore},
    search::{InMemoryTextIndex, KnowledgeIndex, MemoryRetriever, RetrievalSettings, RetrievedPage},
};
use tempfile::TempDir;

/// A folder `handbook` in a temporary directory, and a store.
pub(crate) struct Handbook {
    pub(crate) directory: TempDir,
    pub(crate) store: Arc<dyn SourceStore>,
}

impl Handbook {
    pub(crate) fn new() -> Self {
        let store = InMemoryKnowledgeStore::new(Arc::new(SystemClock::new()));
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("handbook")).unwrap();
        Self {
            directory,
            store: Arc::new(store),
        }
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.directory.path().join("handbook")
    }

    /// Writes a file of the folder.
    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.folder().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    pub(crate) fn ingest(&self) -> Ingest {
        ingest(Arc::clone(&self.store))
    }

    pub(crate) async fn read(&self) -> IngestReport {
        self.ingest().folder(&self.folder(), |_| ()).await.unwrap()
    }

    /// Returns the ids of all pages.
    pub(crate) async fn pages(&self) -> Vec<String> {
        let pages = self.store.list(&PageFilter::new("local")).await.unwrap();
        let mut ids: Vec<String> = pages.into_iter().map(|page| page.id).collect();
        ids.sort_unstable();
        ids
    }

    /// Returns the best pages for a query.
    pub(crate) async fn search(&self, query: &str) -> Vec<RetrievedPage> {
        let store: Arc<dyn KnowledgeStore> = Arc::new(Arc::clone(&self.store));
        let index = KnowledgeIndex::new(store, Arc::new(InMemoryTextIndex::new()));
        let mut settings = RetrievalSettings::default();
        settings.max_results = 5;
        let retriever = MemoryRetriever::new(Arc::new(index), Arc::new(SystemClock::new())).with_settings(settings);
        retriever.retrieve("local", query).await.unwrap().hits
    }

    /// Returns where the best page for a query is.
    pub(crate) async fn cited(&self, query: &str) -> String {
        let hits = self.search(query).await;
        hits.first()
            .map(|hit| hit.page.citation().to_string())
            .unwrap_or_default()
    }
}

pub(crate) fn ingest(store: Arc<dyn SourceStore>) -> Ingest {
    Ingest::new(store, Arc::new(StandardPreprocessor::new(Arc::new(SystemClock::new()))))
}

/// Returns the sources with what became of them, as `added a.md`.
pub(crate) fn outcomes(report: &IngestReport) -> Vec<String> {
    report.files.iter().map(outcome).collect()
}

pub(crate) fn outcome(file: &FileOutcome) -> String {
    let status = match &file.status {
        FileStatus::Added => "added".to_owned(),
        FileStatus::Changed => "changed".to_owned(),
        FileStatus::Unchanged => "unchanged".to_owned(),
        FileStatus::Removed => "removed".to_owned(),
        FileStatus::Skipped(reason) | FileStatus::Failed(reason) => reason.clone(),
        other => format!("{other:?}"),
    };
    format!("{}: {status}", file.source)
}

pub(crate) fn fixture(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures/files")
        .join(name);
    fs::read(path).unwrap()
}

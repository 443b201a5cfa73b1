//! Makes files searchable: each file becomes pages of a store of knowledge, and each page knows its place in the file.
//!
//! ```
//! use std::sync::Arc;
//!
//! use agcore_chat::SystemClock;
//! use agcore_files::StandardPreprocessor;
//! use agcore_ingest::Ingest;
//! use agcore_memory::{
//!     knowledge::InMemoryKnowledgeStore,
//!     search::{InMemoryTextIndex, KnowledgeIndex, MemoryRetriever},
//! };
//!
//! # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
//! # let directory = tempfile::tempdir()?;
//! # let folder = directory.path().join("handbook");
//! # std::fs::create_dir(&folder)?;
//! std::fs::write(folder.join("prices.csv"), "plant,price\ntomato,3.20\nrose,7.50\n")?;
//! std::fs::write(folder.join("garden.md"), "# Garden\n\nWater tomatoes in the morning.\n")?;
//!
//! let clock = Arc::new(SystemClock::new());
//! let store = Arc::new(InMemoryKnowledgeStore::new(clock.clone()));
//! let ingest = Ingest::new(store.clone(), Arc::new(StandardPreprocessor::new(clock.clone())));
//! let report = ingest.folder(&folder, |progress| println!("{} of {}", progress.done, progress.total)).await?;
//! assert_eq!((report.files.len(), report.pages().saved), (2, 2));
//!
//! let index = KnowledgeIndex::new(store, Arc::new(InMemoryTextIndex::new()));
//! let retriever = MemoryRetriever::new(Arc::new(index), clock);
//! let found = retriever.retrieve("local", "What does a rose cost?").await?;
//! assert_eq!(found.hits[0].page.citation().to_string(), "handbook/prices.csv, lines 2 to 3");
//!
//! // Only what has changed is read again.
//! std::fs::remove_file(folder.join("prices.csv"))?;
//! let report = ingest.folder(&folder, |_| ()).await?;
//! assert_eq!((report.unchanged, report.pages().deleted), (1, 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | to | use |
//! |---|---|
//! | read a folder, a file, or a content | [`Ingest`] |
//! | show how far it is | [`IngestProgress`] |
//! | see what became of the files | [`IngestReport`], [`FileOutcome`], [`FileStatus`] |
//!
//! # From files to pages
//!
//! | file | pages | place |
//! |---|---|---|
//! | Markdown, plain text | the page of a wiki, with its front matter; a long one is cut at its headings | lines and headings |
//! | PDF | passages | pages |
//! | DOCX | passages below headings | headings |
//! | HTML, JSON | passages below headings | headings, lines of JSON |
//! | XLSX | up to 20 rows of a sheet, with the names of the columns | sheet and cells |
//! | CSV, TSV | up to 20 rows, with the names of the columns | lines |
//! | tables in HTML, DOCX and JSON | up to 20 rows, with the names of the columns | rows below a heading |
//!
//! The formats are those of the [`FilePreprocessor`](agcore_files::FilePreprocessor).
//!
//! # Interruptions
//!
//! A file is saved in one transaction: the record with the hash of its content, and all of its pages. The next call compares
//! hashes, so that a folder of any size can be continued after the process was killed, and the result is the same. A file that
//! cannot be read is an outcome, and a record with the reason; it is read again when its content changes, or if the reason may be
//! temporary. The pages of its earlier content stay until it can be read again or is deleted.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod report;
mod cut;
mod prepared;
mod ingest;

pub use self::{
    ingest::{Ingest, IngestProgress},
    report::{FileOutcome, FileStatus, IngestError, IngestReport},
};

//! Turns files into passages with positions and into tables that language models can read and search.
//!
//! ```
//! # #[cfg(feature = "markdown")] {
//! use std::sync::Arc;
//!
//! use agcore_chat::SystemClock;
//! use agcore_files::{FilePreprocessor, OriginFile, StandardPreprocessor};
//!
//! # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
//! let preprocessor = StandardPreprocessor::new(Arc::new(SystemClock::new()));
//! let content = b"# Garden\n\n## Tomatoes\n\nWater them in the morning.\n".to_vec();
//! let found = preprocessor.preprocess(&OriginFile::new("garden.md"), content).await?;
//!
//! let document = &found.documents[0];
//! assert_eq!(document.title.as_deref(), Some("Garden"));
//! let passage = &document.passages[1];
//! assert_eq!(passage.text, "## Tomatoes\n\nWater them in the morning.");
//! assert_eq!(passage.position.headings, ["Garden", "Tomatoes"]);
//! assert_eq!(passage.position.line, Some(3));
//! # Ok::<(), agcore_files::FileProblem>(())
//! # }).unwrap();
//! # }
//! ```
//!
//! | to | use |
//! |---|---|
//! | read one file | [`StandardPreprocessor`] |
//! | read files from a storage | [`preprocess_all`] |
//! | read files in a way of your own | [`FilePreprocessor`] |
//! | find out the kind of a file | [`FileKind::detect`] |
//! | decode a text in any encoding | `decode_text` |
//! | keep files | [`FileStorage`], `LocalStorage`, `ObjectStorage` |
//! | list and read all files of a folder | `FolderReader` (feature `local`) |
//!
//! # Hostile files
//!
//! Files come from strangers. Whatever is in them, reading one ends with a result or a [`FileProblem`]: sizes are measured and
//! never believed, each kind of growth has one of the [`Limits`], parsers run on threads of their own with a limit of time, and
//! a parser that panics concerns only its file. Entities that a document defines are refused.
//!
//! # PDF
//!
//! The characters of a PDF file are those of its `ToUnicode` tables, otherwise of the predefined tables for Chinese, Japanese and
//! Korean, of encodings, names of glyphs and font files. Characters that none of them knows become U+FFFD, and a warning in
//! [`Preprocessed::warnings`] lists their pages; a file without any known character is refused. The values of form fields
//! and texts that are put on a page follow its text; those that are hidden, and passwords, are left out. Texts that are drawn twice
//! to look bold are read once.
//!
//! `scripts/pdf-recall` compares the words with those of other readers. In 86 public files (py-pdf/sample-files and
//! jsvine/pdfplumber, November 2026), a recall of at least 0.99 is reached in:
//!
//! | words | files |
//! |---|---|
//! | of pypdf 7.1.1 | 65 |
//! | of pypdf, with white space at other places | 81 |
//! | that pypdf and PDFium both find | 81 |
//!
//! The difference are words that pypdf joins, splits, or reads twice. With their default settings, `pdf-extract` 0.12 reaches 62
//! of pypdf's, `pdf_oxide` 0.3 51, and `pdf-inspector` 1.25, which writes Markdown, 27.
//!
//! # Features
//!
//! <!-- features -->
//!
//! | feature | description |
//! |---|---|
//! | `formats` | All formats. |
//! | `text` | Plain text, in UTF-8, UTF-16 and legacy encodings. |
//! | `markdown` | Markdown: passages below headings, and tables. |
//! | `html` | HTML: passages below headings, and tables. |
//! | `json` | JSON: lists of objects become tables, everything else passages. |
//! | `csv` | Tables in CSV and TSV. |
//! | `xlsx` | Sheets of Excel workbooks (XLSX) as tables. |
//! | `pdf` | The text of PDF files, page by page. |
//! | `docx` | Word documents (DOCX): passages below headings, and tables. |
//! | `local` | `LocalStorage`: files in a folder, for which it needs a runtime of tokio; `FolderReader`: all files of a folder. |
//! | `objects` | `ObjectStorage`: files in a bucket of Amazon S3, Google Cloud Storage, Aliyun OSS or Tencent COS. |
//!
//! <!-- /features -->

#[cfg(all(doctest, feature = "html"))]
#[doc = include_str!("../README.md")]
struct Readme;

mod problem;
mod limits;
mod kind;
mod origin;
mod document;
mod table;
mod preprocessed;
mod storage;
#[cfg_attr(
    not(feature = "formats"),
    allow(dead_code, reason = "each format needs a part of it")
)]
mod work;
#[cfg_attr(
    not(feature = "formats"),
    allow(dead_code, reason = "each format needs a part of it")
)]
mod outline;
#[cfg_attr(
    not(feature = "formats"),
    allow(dead_code, reason = "each format needs a part of it")
)]
mod grid;
#[cfg(feature = "_text")]
mod decode;
#[cfg(feature = "_archive")]
#[cfg_attr(not(feature = "docx"), allow(dead_code, reason = "workbooks are only measured"))]
mod archive;
mod parse;
#[cfg(feature = "local")]
mod folder;
mod preprocessor;
mod standard;

#[cfg(feature = "_text")]
pub use decode::decode_text;
pub use document::{Document, Passage, Position};
#[cfg(feature = "local")]
pub use folder::{FolderFiles, FolderLimits, FolderReader, LeftOut};
pub use kind::FileKind;
pub use limits::Limits;
pub use origin::{FileMapping, OriginFile, StorageProvider};
pub use preprocessed::{OtherFile, Preprocessed};
pub use preprocessor::{FilePreprocessor, preprocess_all};
pub use problem::{FileProblem, FileProblemKind};
pub use standard::StandardPreprocessor;
#[cfg(feature = "local")]
pub use storage::LocalStorage;
#[cfg(feature = "objects")]
pub use storage::{BucketPlace, ObjectKeys, ObjectReply, ObjectRequest, ObjectStorage, ObjectTransport};
pub use storage::{FileStorage, StorageError, StorageErrorKind};
pub use table::Table;

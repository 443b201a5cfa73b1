//! [`Preprocessed`]: what was found in files.

use serde::{Deserialize, Serialize};

use crate::{document::Document, origin::OriginFile, problem::FileProblem, table::Table};

/// A file that is neither a document nor a table, or that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OtherFile {
    /// The file.
    pub file: OriginFile,
    /// The media type, such as `image/png`, if it is detected by the first bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    /// The size in bytes, if the content was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<usize>,
    /// Why the file could not be read. `None` if there is no text to be read from it, as in an image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<FileProblem>,
}

impl OtherFile {
    /// Creates a file without text.
    pub fn new(file: OriginFile) -> Self {
        Self {
            file,
            media_type: None,
            bytes: None,
            problem: None,
        }
    }

    /// Sets why the file could not be read.
    #[must_use]
    pub fn with_problem(mut self, problem: FileProblem) -> Self {
        self.problem = Some(problem);
        self
    }
}

/// The documents, tables and other files that were found in one or several files.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Preprocessed {
    /// Texts, in passages.
    pub documents: Vec<Document>,
    /// Tables. A file can have many, besides its text.
    pub tables: Vec<Table>,
    /// Files without text, and files that could not be read.
    pub other_files: Vec<OtherFile>,
    /// The parts that are missing of files that could be read, of the kind [`Incomplete`](crate::FileProblemKind::Incomplete).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<FileProblem>,
}

impl Preprocessed {
    /// Creates an empty result.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds what was found in other files.
    pub fn append(&mut self, mut other: Self) {
        self.documents.append(&mut other.documents);
        self.tables.append(&mut other.tables);
        self.other_files.append(&mut other.other_files);
        self.warnings.append(&mut other.warnings);
    }
}

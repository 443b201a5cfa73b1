//! [`OriginFile`]: a file as a user gave it.

use serde::{Deserialize, Serialize};

use crate::kind::FileKind;

/// Where the storage of a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StorageProvider {
    /// A folder of this machine.
    Local,
    /// Amazon S3.
    Aws,
    /// Google Cloud Storage.
    Gcp,
    /// Aliyun OSS.
    Aliyun,
    /// Tencent COS.
    Tencent,
}

/// The place of a file in a storage.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FileMapping {
    /// Where the storage is.
    pub provider: StorageProvider,
    /// The path in the storage, with `/` between its parts.
    pub path: String,
    /// Whether everyone may read the file; `None` if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub public: Option<bool>,
}

impl FileMapping {
    /// Creates a place. Whether everyone may read the file is unknown.
    pub fn new(provider: StorageProvider, path: impl Into<String>) -> Self {
        Self {
            provider,
            path: path.into(),
            public: None,
        }
    }

    /// Sets whether everyone may read the file.
    #[must_use]
    pub fn with_public(mut self, public: bool) -> Self {
        self.public = Some(public);
        self
    }
}

/// A file as a user gave it: its name, and where its content is.
///
/// ```
/// use agcore_files::{FileMapping, OriginFile, StorageProvider};
///
/// let file = OriginFile::new("prices.csv").with_mapping(FileMapping::new(StorageProvider::Local, "uploads/7.csv"));
/// assert_eq!(
///     serde_json::to_string(&file)?,
///     r#"{"name":"prices.csv","mapping":{"provider":"local","path":"uploads/7.csv"}}"#
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OriginFile {
    /// The name, as the user knows it. It is shown, and never opened.
    pub name: String,
    /// The kind. `None` means that it is detected by content and name.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<FileKind>,
    /// The path of a local copy, if there is one. It is data for tools; this crate does not open it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local_path: Option<String>,
    /// The place in a storage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mapping: Option<FileMapping>,
}

impl OriginFile {
    /// Creates a file whose kind will be detected.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            kind: None,
            local_path: None,
            mapping: None,
        }
    }

    /// Sets the kind, so that it is not detected.
    #[must_use]
    pub fn with_kind(mut self, kind: FileKind) -> Self {
        self.kind = Some(kind);
        self
    }

    /// Sets the path of a local copy.
    #[must_use]
    pub fn with_local_path(mut self, path: impl Into<String>) -> Self {
        self.local_path = Some(path.into());
        self
    }

    /// Sets the place in a storage.
    #[must_use]
    pub fn with_mapping(mut self, mapping: FileMapping) -> Self {
        self.mapping = Some(mapping);
        self
    }
}

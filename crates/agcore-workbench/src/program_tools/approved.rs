//! [`Approved`]: the state of files when a change of them was approved.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use agcore::tools::ToolError;
use ring::digest::{SHA256, digest};

use super::file_name::shown;

/// The files as people saw them in questions about calls, by call.
#[derive(Debug, Default)]
pub(super) struct Approved(Mutex<HashMap<String, (PathBuf, Fingerprint)>>);

/// A hash of the content of a file, or `None` if it did not exist.
pub(super) type Fingerprint = Option<Vec<u8>>;

impl Approved {
    /// Checks that a file is still as it was in the question about the call, if there was one. Returns whether there was.
    ///
    /// # Errors
    /// When it has changed since.
    pub(super) fn check(&self, call_id: &str, path: &Path, content: Option<&str>) -> Result<bool, ToolError> {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match seen.remove(call_id) {
            Some((seen, fingerprint)) if seen == path && fingerprint != fingerprint_of(content) => {
                Err(ToolError::failed(format!(
                    "{} has changed since the call was approved, so nothing was written; read it again",
                    shown(path)
                )))
            }
            seen => Ok(seen.is_some()),
        }
    }

    /// Remembers a file with this content, or that there is none, for a call about which a person is asked.
    pub(super) fn remember(&self, call_id: &str, path: &Path, content: Option<&str>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(call_id.to_owned(), (path.to_owned(), fingerprint_of(content)));
    }
}

/// Returns the hash of a content.
pub(super) fn fingerprint_of(content: Option<&str>) -> Fingerprint {
    content.map(|content| digest(&SHA256, content.as_bytes()).as_ref().to_vec())
}

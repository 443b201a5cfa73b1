//! [`Temporary`]: the private temporary folder of a sandbox.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use tempfile::TempDir;

/// The names of the parts, one for each temporary folder of the system.
const PARTS: [&str; 3] = ["shm", "tmp", "var-tmp"];

/// A folder that only commands of one sandbox see as their temporary folder. It is removed with the sandbox.
#[derive(Debug)]
pub(crate) struct Temporary {
    /// Removes it when it is dropped.
    _folder: TempDir,
    path: PathBuf,
}

impl Temporary {
    /// Creates the folder, with a part for each temporary folder of the system.
    ///
    /// # Errors
    /// When it cannot be created.
    pub(crate) fn new() -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("agcore-sandbox-").tempdir()?;
        let path = folder.path().canonicalize()?;
        for part in PARTS {
            fs::create_dir(path.join(part))?;
        }
        Ok(Self { _folder: folder, path })
    }

    /// Returns its parts.
    pub(crate) fn parts(&self) -> impl Iterator<Item = PathBuf> {
        PARTS.iter().map(|part| self.path.join(part))
    }

    /// Returns the folder that commands use if they do not see it as that of the system.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the part that replaces a temporary folder of the system.
    pub(crate) fn part(&self, shared: &Path) -> PathBuf {
        match shared.to_str() {
            Some("/dev/shm") => self.path.join("shm"),
            Some("/var/tmp") => self.path.join("var-tmp"),
            _ => self.path.join("tmp"),
        }
    }
}

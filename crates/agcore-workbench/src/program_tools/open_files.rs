//! [`OpenFiles`]: files that are open in an editor, with changes that are not saved.

use std::{fmt, path::Path, sync::Arc};

/// The files of the folder as an editor has them. Tools that read or change one file use it; those that search many read the saved
/// ones.
///
/// The methods may block: they are called by tools that run on threads of their own, and before a person is asked about a change.
/// Paths are absolute and without links, and the tools have checked that they may be used.
pub trait OpenFiles: Send + Sync {
    /// Returns the text of a file that the editor can read, or `None` if it is to be read from the disk.
    fn read(&self, path: &Path) -> Option<String>;

    /// Writes a file, if the editor can. Returns whether it did; otherwise it is to be written to the disk.
    ///
    /// # Errors
    /// Why the editor, which must write it, does not.
    fn write(&self, path: &Path, text: &str) -> Result<bool, String>;
}

/// The files of a folder that are open, if there is an editor.
#[derive(Clone, Default)]
pub(super) struct Opened(Option<Arc<dyn OpenFiles>>);

impl Opened {
    /// Returns the files of an editor.
    pub(super) fn of(files: impl OpenFiles + 'static) -> Self {
        Self(Some(Arc::new(files)))
    }

    /// Returns whether there is an editor.
    pub(super) fn has_editor(&self) -> bool {
        self.0.is_some()
    }

    /// Returns the text of a file, if an editor can read it.
    pub(super) fn read(&self, path: &Path) -> Option<String> {
        self.0.as_ref()?.read(path)
    }

    /// Writes a file, if an editor can. Returns whether it did.
    ///
    /// # Errors
    /// Why the editor does not.
    pub(super) fn write(&self, path: &Path, text: &str) -> Result<bool, String> {
        self.0.as_ref().map_or(Ok(false), |files| files.write(path, text))
    }
}

impl fmt::Debug for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Opened").field(&self.has_editor()).finish()
    }
}

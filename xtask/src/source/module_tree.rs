//! The modules of a crate as data: what each one defines, imports and refers to.
//!
//! Path resolution covers imports, re-exports, globs and exported macros of one crate. Names that macros generate are
//! not visible.

mod tree;
mod names;
mod read;
mod resolve;

use std::path::Path;

pub(crate) use tree::{Id, Meaning, ModuleTree, ROOT};

impl ModuleTree {
    /// Reads the crate whose root is `file`. `read` returns the text of a file if it exists.
    ///
    /// # Errors
    ///
    /// Returns an error if the root is missing or a file does not parse.
    pub(crate) fn read(file: &Path, read: &dyn Fn(&Path) -> Option<String>) -> anyhow::Result<Self> {
        read::crate_modules(file, read)
    }

    /// Returns what `path` means in the module `from`, or `None` if that cannot be determined.
    pub(crate) fn resolve(&self, from: Id, path: &[String]) -> Option<Meaning> {
        resolve::resolve(self, from, path)
    }
}

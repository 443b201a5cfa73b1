//! The modules of a crate as data: what each defines, imports and names.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;

/// A module by its index in the tree.
pub(super) type Id = usize;

/// The module that is the crate itself.
pub(super) const ROOT: Id = 0;

/// All modules of a crate, parents before children.
#[derive(Debug, Default)]
pub(super) struct ModuleTree {
    pub(super) modules: Vec<Module>,
}

/// One module, in a file of its own or inline.
#[derive(Debug, Default)]
pub(super) struct Module {
    pub(super) name: String,
    pub(super) parent: Option<Id>,
    pub(super) file: PathBuf,
    pub(super) children: BTreeMap<String, Id>,
    pub(super) scope: Scope,
}

/// What the items of a module bring into its namespace, and what they name.
#[derive(Debug, Default)]
pub(super) struct Scope {
    /// What is defined here.
    pub(super) items: BTreeSet<String>,
    /// Macros that `#[macro_export]` moves to the root.
    pub(super) exported_macros: BTreeSet<String>,
    /// What `use` gives a name here.
    pub(super) imports: BTreeMap<String, Vec<String>>,
    /// What `use …::*` opens here.
    pub(super) globs: Vec<Vec<String>>,
    pub(super) references: Vec<Reference>,
}

/// A path that code of the module names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reference {
    pub(super) path: Vec<String>,
    pub(super) line: usize,
}

/// Where a reference stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Site {
    pub(super) file: PathBuf,
    pub(super) line: usize,
    pub(super) path: Vec<String>,
}

impl ModuleTree {
    /// The chain of modules from the root to this one, itself included.
    pub(super) fn chain(&self, id: Id) -> Vec<Id> {
        let mut chain = vec![id];
        let mut current = id;
        while let Some(parent) = self.modules[current].parent {
            chain.push(parent);
            current = parent;
        }
        chain.reverse();
        chain
    }

    /// The module as a path from `crate`.
    pub(super) fn path(&self, id: Id) -> String {
        let names = self.chain(id).into_iter().map(|id| self.modules[id].name.as_str());
        names.collect::<Vec<_>>().join("::")
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{} (`{}`)", self.file.display(), self.line, self.path.join("::"))
    }
}

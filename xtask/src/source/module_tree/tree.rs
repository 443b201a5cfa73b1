//! The tree of modules.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use syn::{Attribute, Item};

/// A module by its index in the tree.
pub(crate) type Id = usize;

/// The root module of the crate.
pub(crate) const ROOT: Id = 0;

/// All modules of a crate, parents before children. Test code is left out.
#[derive(Default)]
pub(crate) struct ModuleTree {
    pub(crate) modules: Vec<Module>,
}

/// One module, in its own file or inline.
#[derive(Default)]
pub(crate) struct Module {
    pub(crate) name: String,
    pub(crate) parent: Option<Id>,
    pub(crate) file: PathBuf,
    pub(crate) children: BTreeMap<String, Id>,
    pub(crate) scope: Scope,
    /// The items of the module as they are written.
    pub(crate) items: Vec<Item>,
    /// The attributes of `mod name;`; none for the root.
    pub(crate) attributes: Vec<Attribute>,
}

/// The names that the items of a module define or import, and the paths that they refer to.
#[derive(Debug, Default)]
pub(crate) struct Scope {
    /// The names of items that are defined here.
    pub(crate) items: BTreeSet<String>,
    /// Macros that `#[macro_export]` moves to the root.
    pub(super) exported_macros: BTreeSet<String>,
    /// The paths that `use` imports, by the name they have here.
    pub(super) imports: BTreeMap<String, Vec<String>>,
    /// The paths of `use …::*`.
    pub(super) globs: Vec<Vec<String>>,
    pub(crate) references: Vec<Reference>,
}

/// A path in the code of a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reference {
    pub(crate) path: Vec<String>,
    pub(crate) line: usize,
}

/// The module or item that a path resolves to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// A module of the crate.
    Module(Id),
    /// An item (or a part of it, such as a variant) that is defined in this module.
    Item(Id, String),
    /// An item of another crate or of the language: the full path.
    Foreign(Vec<String>),
}

impl ModuleTree {
    /// Returns the modules from the root to this one, inclusive.
    pub(crate) fn chain(&self, id: Id) -> Vec<Id> {
        let mut chain = vec![id];
        let mut current = id;
        while let Some(parent) = self.modules[current].parent {
            chain.push(parent);
            current = parent;
        }
        chain.reverse();
        chain
    }

    /// Returns the path of the module, starting with `crate`.
    pub(crate) fn path(&self, id: Id) -> String {
        let names = self.chain(id).into_iter().map(|id| self.modules[id].name.as_str());
        names.collect::<Vec<_>>().join("::")
    }
}

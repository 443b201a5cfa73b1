//! Levels: which of the modules below one parent refer to each other.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use crate::source::module_tree::{Id, Meaning, ModuleTree};

/// The references between the modules below one parent, each with one place where it occurs. The parent's own items are
/// a node with the parent's name.
pub(super) type Level = BTreeMap<String, BTreeMap<String, Site>>;

/// The place of a reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Site {
    pub(super) file: PathBuf,
    pub(super) line: usize,
    pub(super) path: Vec<String>,
}

/// Returns all levels of a crate that contain a reference.
pub(super) fn all(tree: &ModuleTree) -> Vec<Level> {
    let mut levels: BTreeMap<Id, Level> = BTreeMap::new();
    for (from, module) in tree.modules.iter().enumerate() {
        for reference in &module.scope.references {
            let to = match tree.resolve(from, &reference.path) {
                Some(Meaning::Module(id) | Meaning::Item(id, _)) if id != from => id,
                _ => continue,
            };
            let (parent, user, used) = meet(tree, from, to);
            let level = levels.entry(parent).or_default();
            level.entry(user).or_default().entry(used).or_insert_with(|| Site {
                file: module.file.clone(),
                line: reference.line,
                path: reference.path.clone(),
            });
        }
    }
    levels.into_values().collect()
}

/// Returns the lowest module above both, and the two nodes of its level.
fn meet(tree: &ModuleTree, from: Id, to: Id) -> (Id, String, String) {
    let (user, used) = (tree.chain(from), tree.chain(to));
    let shared = user.iter().zip(&used).take_while(|(a, b)| a == b).count();
    let parent = user[shared - 1];
    let node = |chain: &[Id]| match chain.get(shared) {
        Some(&child) => tree.path(child),
        None => tree.path(parent),
    };
    (parent, node(&user), node(&used))
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{} (`{}`)", self.file.display(), self.line, self.path.join("::"))
    }
}

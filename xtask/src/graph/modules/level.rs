//! Levels: the uses between the modules below one parent.

use std::collections::BTreeMap;

use crate::graph::modules::resolve;
use crate::graph::modules::scope::{Id, ModuleTree, Site};

/// Who uses whom below one parent, each with one place that shows it. The
/// parent's own items are a node named after it.
pub(super) type Level = BTreeMap<String, BTreeMap<String, Site>>;

/// The levels of a crate that have any uses.
pub(super) fn all(tree: &ModuleTree) -> Vec<Level> {
    let mut levels: BTreeMap<Id, Level> = BTreeMap::new();
    for (from, module) in tree.modules.iter().enumerate() {
        for reference in &module.scope.references {
            let Some(to) = resolve::resolve(tree, from, &reference.path) else {
                continue;
            };
            if from == to {
                continue;
            }
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

/// The lowest module above both, and the two nodes of its level.
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

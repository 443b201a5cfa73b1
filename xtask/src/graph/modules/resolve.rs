//! Following a path to the module that defines what it names.

use crate::graph::modules::scope::{Id, ModuleTree, ROOT};

/// Imports that name each other in a ring must not keep us.
const LONGEST_CHAIN: usize = 32;

/// What a path names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    /// Defined in this module, or the module itself.
    Ours(Id),
    /// Another crate's, or the language's.
    Foreign,
}

/// The module that defines what `path` means in module `from`; `None` when it
/// is not this crate's.
pub(super) fn resolve(tree: &ModuleTree, from: Id, path: &[String]) -> Option<Id> {
    let resolver = Resolver { tree };
    let meaning = match path {
        // A bare word is never a module: it is a variable that is called like one.
        [name] => resolver.item(from, name, &[], LONGEST_CHAIN),
        path => resolver.follow(from, path, LONGEST_CHAIN),
    };
    match meaning? {
        Meaning::Ours(id) => Some(id),
        Meaning::Foreign => None,
    }
}

struct Resolver<'a> {
    tree: &'a ModuleTree,
}

impl Resolver<'_> {
    fn follow(&self, from: Id, path: &[String], fuel: usize) -> Option<Meaning> {
        let fuel = fuel.checked_sub(1)?;
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => self.descend(ROOT, rest, fuel),
            "self" => self.descend(from, rest, fuel),
            "super" => self.descend(self.tree.modules[from].parent?, rest, fuel),
            name => self.look_up(from, name, rest, fuel),
        }
    }

    /// The rest of a path that has reached a module of ours.
    fn descend(&self, module: Id, rest: &[String], fuel: usize) -> Option<Meaning> {
        let Some((name, rest)) = rest.split_first() else {
            return Some(Meaning::Ours(module));
        };
        match name.as_str() {
            "self" => self.descend(module, rest, fuel),
            "super" => self.descend(self.tree.modules[module].parent?, rest, fuel),
            // A name that a macro makes: it is somewhere in here.
            name => self.look_up(module, name, rest, fuel).or(Some(Meaning::Ours(module))),
        }
    }

    /// A name in the scope of a module: with more to come it is first of all a
    /// child, at the end of a path first of all an item.
    fn look_up(&self, module: Id, name: &str, rest: &[String], fuel: usize) -> Option<Meaning> {
        let child = self.tree.modules[module].children.get(name);
        let in_child = || child.and_then(|&child| self.descend(child, rest, fuel));
        let as_item = || self.item(module, name, rest, fuel);
        if rest.is_empty() {
            as_item().or_else(in_child)
        } else {
            in_child().or_else(as_item)
        }
    }

    /// A name that is defined in a module, or that `use` gives it.
    fn item(&self, module: Id, name: &str, rest: &[String], fuel: usize) -> Option<Meaning> {
        let fuel = fuel.checked_sub(1)?;
        let scope = &self.tree.modules[module].scope;
        if scope.items.contains(name) {
            return Some(Meaning::Ours(module));
        }
        if let Some(import) = scope.imports.get(name) {
            let path = [import, rest].concat();
            return self.follow(module, &path, fuel).or(Some(Meaning::Foreign));
        }
        let mut globs = scope.globs.iter();
        globs.find_map(|glob| self.through_glob(module, glob, name, rest, fuel))
    }

    fn through_glob(&self, module: Id, glob: &[String], name: &str, rest: &[String], fuel: usize) -> Option<Meaning> {
        match self.follow(module, glob, fuel)? {
            Meaning::Ours(opened) if opened != module => self.look_up(opened, name, rest, fuel),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::graph::modules::read;

    const FILES: &[(&str, &str)] = &[
        (
            "lib.rs",
            "mod error; mod wire; pub mod fold; pub use error::{Error, Kind as ErrorKind}; pub use wire::*; pub use serde::Value;",
        ),
        ("error.rs", "pub struct Error; pub enum Kind { A }"),
        ("wire.rs", "mod chat; pub use chat::Chat; pub use self::chat::encode;"),
        (
            "wire/chat.rs",
            "pub struct Chat; pub fn encode() {} macro_rules! local { () => {} }",
        ),
        (
            "fold.rs",
            "use std::fmt; mod inner { #[macro_export] macro_rules! shout { () => {} } pub struct Deep; }",
        ),
    ];

    #[track_caller]
    fn check(from: &str, path: &str, expected: Option<&str>) {
        let text = |path: &Path| {
            let found = FILES.iter().find(|(name, _)| Path::new(name) == path);
            found.map(|(_, text)| (*text).to_owned())
        };
        let tree = read::crate_modules(Path::new("lib.rs"), &text).unwrap();
        let from = (0..tree.modules.len()).find(|&id| tree.path(id) == from).unwrap();
        let path: Vec<String> = path.split("::").map(str::to_owned).collect();
        let found = resolve(&tree, from, &path).map(|id| tree.path(id));
        assert_eq!(found.as_deref(), expected);
    }

    #[test]
    fn items_are_found_where_they_are_defined() {
        check("crate::fold", "crate::error::Error", Some("crate::error"));
        check("crate::fold", "super::error::Kind::A", Some("crate::error"));
        check("crate::wire::chat", "super::super::fold", Some("crate::fold"));
        check("crate", "fold::inner::Deep", Some("crate::fold::inner"));
    }

    #[test]
    fn re_exports_and_globs_are_followed() {
        check("crate::fold", "crate::Error", Some("crate::error"));
        check("crate::fold", "crate::ErrorKind::A", Some("crate::error"));
        check("crate::fold", "crate::Chat", Some("crate::wire::chat"));
        check("crate::fold", "crate::wire::encode", Some("crate::wire::chat"));
    }

    #[test]
    fn exported_macros_are_at_the_root() {
        check("crate::error", "crate::shout", Some("crate::fold::inner"));
    }

    #[test]
    fn foreign_names_lead_nowhere() {
        check("crate::fold", "fmt::Display", None);
        check("crate::fold", "serde::Value", None);
        check("crate::fold", "crate::Value", None);
        check("crate", "fold", None);
    }
}

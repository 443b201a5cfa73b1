//! The paths under which a library exports its items.

use std::collections::{BTreeMap, BTreeSet};

use syn::{Attribute, Item, ItemUse, UseTree, Visibility};

use crate::source::module_tree::{Id, Meaning, ModuleTree, ROOT};
use crate::source::public_api::tokens;
use crate::source::rust_source;

/// An exported module or item. An item is identified by the module that defines it and its name there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Target {
    Module(Id),
    Item(Id, String),
    /// An item of another crate, by its path; or the call of a macro that declares items.
    Foreign(String),
}

/// A target under one of its public paths.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Export {
    pub(super) path: String,
    /// The conditions of the modules and re-exports on the way, rendered.
    pub(super) conditions: Vec<String>,
}

/// All exports of a library. The first export of a target is its canonical path.
pub(super) type Exports = BTreeMap<Target, Vec<Export>>;

/// Collects the exports of a library.
pub(super) fn collect(tree: &ModuleTree, crate_name: &str) -> Exports {
    let mut collector = Collector {
        tree,
        exports: Exports::new(),
        open: BTreeSet::new(),
    };
    collector.module(ROOT, crate_name, &[]);
    collector.exported_macros(crate_name);
    let mut exports = collector.exports;
    for paths in exports.values_mut() {
        paths.sort_by_key(|export| (export.path.matches("::").count(), export.path.clone()));
        paths.dedup_by(|a, b| a.path == b.path);
    }
    exports
}

/// Returns the conditions of an item, rendered.
pub(super) fn conditions(attributes: &[Attribute]) -> impl Iterator<Item = String> {
    let conditions = attributes.iter().filter(|attribute| attribute.path().is_ident("cfg"));
    conditions.map(|attribute| tokens::render(quote::ToTokens::to_token_stream(attribute)))
}

/// Returns whether an item is `#[doc(hidden)]` and therefore not part of the API.
pub(super) fn is_hidden(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("doc")
            && attribute
                .meta
                .require_list()
                .is_ok_and(|list| list.tokens.to_string() == "hidden")
    })
}

struct Collector<'a> {
    tree: &'a ModuleTree,
    exports: Exports,
    /// The modules that are being visited, so that globs which include each other end.
    open: BTreeSet<Id>,
}

impl Collector<'_> {
    fn export(&mut self, target: Target, path: String, conditions: &[String]) {
        let conditions = conditions.to_vec();
        self.exports
            .entry(target)
            .or_default()
            .push(Export { path, conditions });
    }

    /// Exports the public items of a module under `path`.
    fn module(&mut self, id: Id, path: &str, outer: &[String]) {
        if !self.open.insert(id) {
            return;
        }
        let tree = self.tree;
        for item in &tree.modules[id].items {
            let attributes = rust_source::item_attributes(item);
            if rust_source::is_test_only(attributes) || is_hidden(attributes) {
                continue;
            }
            match item {
                Item::Use(item) => self.re_export(id, item, path, outer),
                Item::Macro(_) => {}
                item => {
                    if let Some(name) = public_name(item) {
                        let path = format!("{path}::{name}");
                        match tree.modules[id].children.get(&name) {
                            Some(&child) if matches!(item, Item::Mod(_)) => {
                                self.public_module(child, &path, outer);
                            }
                            _ => self.export(Target::Item(id, name), path, outer),
                        }
                    }
                }
            }
        }
        self.macro_calls(id, path, outer);
        self.open.remove(&id);
    }

    fn public_module(&mut self, id: Id, path: &str, outer: &[String]) {
        let own = conditions(&self.tree.modules[id].attributes);
        let conditions: Vec<String> = outer.iter().cloned().chain(own).collect();
        let is_first = !self.exports.contains_key(&Target::Module(id));
        self.export(Target::Module(id), path.to_owned(), &conditions);
        // Under a second path, the module is listed as a re-export without its content.
        if is_first {
            self.module(id, path, &conditions);
        }
    }

    fn re_export(&mut self, id: Id, item: &ItemUse, path: &str, outer: &[String]) {
        if !matches!(item.vis, Visibility::Public(_)) {
            return;
        }
        let conditions: Vec<String> = outer.iter().cloned().chain(conditions(&item.attrs)).collect();
        for (name, source) in leaves(&item.tree) {
            match name {
                Some(name) => self.named(id, &source, format!("{path}::{name}"), &conditions),
                None => self.glob(id, &source, path, &conditions),
            }
        }
    }

    fn named(&mut self, id: Id, source: &[String], path: String, conditions: &[String]) {
        match self.resolve(id, source) {
            Some(Meaning::Module(module)) => self.public_module(module, &path, conditions),
            Some(Meaning::Item(module, name)) if source.last() == Some(&name) => {
                self.export(Target::Item(module, name), path, conditions);
            }
            Some(Meaning::Foreign(source)) => self.export(Target::Foreign(source.join("::")), path, conditions),
            // A variant of an enum, or a crate that is named by its full path.
            Some(Meaning::Item(..)) | None => self.export(Target::Foreign(source.join("::")), path, conditions),
        }
    }

    fn glob(&mut self, id: Id, source: &[String], path: &str, conditions: &[String]) {
        match self.resolve(id, source) {
            Some(Meaning::Module(module)) => self.module(module, path, conditions),
            _ => {
                let target = Target::Foreign(format!("{}::*", source.join("::")));
                self.export(target, format!("{path}::*"), conditions);
            }
        }
    }

    /// Resolves the path of a re-export, which may be a single word.
    fn resolve(&self, id: Id, source: &[String]) -> Option<Meaning> {
        let relative = [&["self".to_owned()], source].concat();
        let is_local = source.len() == 1 && {
            let module = &self.tree.modules[id];
            module.children.contains_key(&source[0]) || module.scope.items.contains(&source[0])
        };
        self.tree.resolve(id, if is_local { &relative } else { source })
    }

    /// Exports the calls of macros that may declare public items: a snapshot shows at least their arguments.
    fn macro_calls(&mut self, id: Id, path: &str, outer: &[String]) {
        let calls = self.tree.modules[id].items.iter().filter_map(|item| match item {
            Item::Macro(call) if call.ident.is_none() => Some(call),
            _ => None,
        });
        let calls: Vec<String> = calls
            .filter(|call| declares_public_items(call.mac.tokens.clone()))
            .map(|call| tokens::render(quote::ToTokens::to_token_stream(&call.mac)))
            .collect();
        for call in calls {
            self.export(Target::Foreign(call), format!("{path}::_"), outer);
        }
    }

    fn exported_macros(&mut self, crate_name: &str) {
        let tree = self.tree;
        for (id, module) in tree.modules.iter().enumerate() {
            for item in &module.items {
                if let Item::Macro(item) = item
                    && let Some(name) = &item.ident
                    && item
                        .attrs
                        .iter()
                        .any(|attribute| attribute.path().is_ident("macro_export"))
                    && !is_hidden(&item.attrs)
                {
                    let path = format!("{crate_name}::{name}");
                    self.export(Target::Item(id, name.to_string()), path, &[]);
                }
            }
        }
    }
}

fn declares_public_items(tokens: proc_macro2::TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        proc_macro2::TokenTree::Ident(word) => word == "pub",
        proc_macro2::TokenTree::Group(group) => declares_public_items(group.stream()),
        _ => false,
    })
}

/// Returns the name of an item that is declared `pub`.
fn public_name(item: &Item) -> Option<String> {
    let (visibility, name) = match item {
        Item::Const(item) => (&item.vis, &item.ident),
        Item::Enum(item) => (&item.vis, &item.ident),
        Item::Fn(item) => (&item.vis, &item.sig.ident),
        Item::Mod(item) => (&item.vis, &item.ident),
        Item::Static(item) => (&item.vis, &item.ident),
        Item::Struct(item) => (&item.vis, &item.ident),
        Item::Trait(item) => (&item.vis, &item.ident),
        Item::TraitAlias(item) => (&item.vis, &item.ident),
        Item::Type(item) => (&item.vis, &item.ident),
        Item::Union(item) => (&item.vis, &item.ident),
        _ => return None,
    };
    matches!(visibility, Visibility::Public(_)).then(|| name.to_string())
}

/// Returns each leaf of a `use` tree: its name here (`None` for a glob) and its path.
fn leaves(tree: &UseTree) -> Vec<(Option<String>, Vec<String>)> {
    let mut found = Vec::new();
    collect_leaves(tree, &[], &mut found);
    found
}

fn collect_leaves(tree: &UseTree, prefix: &[String], found: &mut Vec<(Option<String>, Vec<String>)>) {
    let joined = |name: &syn::Ident| match name == "self" {
        true => prefix.to_vec(),
        false => [prefix, &[name.to_string()]].concat(),
    };
    match tree {
        UseTree::Path(tree) => {
            let prefix = [prefix, &[tree.ident.to_string()]].concat();
            collect_leaves(&tree.tree, &prefix, found);
        }
        UseTree::Group(group) => {
            for tree in &group.items {
                collect_leaves(tree, prefix, found);
            }
        }
        UseTree::Name(leaf) => {
            let path = joined(&leaf.ident);
            found.push((path.last().cloned(), path));
        }
        UseTree::Rename(leaf) => found.push((Some(leaf.rename.to_string()), joined(&leaf.ident))),
        UseTree::Glob(_) => found.push((None, prefix.to_vec())),
    }
}

//! Reading a crate from its root file by following its `mod` declarations.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use syn::{Expr, ExprLit, Item, ItemMod, Lit, Meta};

use crate::source::module_tree::names;
use crate::source::module_tree::tree::{Id, Module, ModuleTree, ROOT};
use crate::source::rust_source;

/// Returns the text of a file if it exists.
type Files<'a> = &'a dyn Fn(&Path) -> Option<String>;

/// Reads the modules of the crate whose root is `file`, without test code.
pub(super) fn crate_modules(file: &Path, files: Files<'_>) -> anyhow::Result<ModuleTree> {
    let mut tree = ModuleTree::default();
    let text = files(file).with_context(|| format!("cannot read {}", file.display()))?;
    let root = Module {
        name: "crate".to_owned(),
        file: file.to_owned(),
        ..Module::default()
    };
    let folder = file.parent().unwrap_or(Path::new("")).to_owned();
    let mut reader = Reader { tree: &mut tree, files };
    reader.module(root, parse(file, &text)?, &folder)?;
    lift_exported_macros(&mut tree);
    Ok(tree)
}

struct Reader<'a> {
    tree: &'a mut ModuleTree,
    files: Files<'a>,
}

impl Reader<'_> {
    /// Adds a module and everything below it. The files of its children are in `folder`.
    fn module(&mut self, module: Module, items: Vec<Item>, folder: &Path) -> anyhow::Result<Id> {
        let id = self.tree.modules.len();
        let file = module.file.clone();
        let scope = names::collect(&items);
        self.tree.modules.push(Module { scope, ..module });
        for item in &items {
            let Item::Mod(child) = item else {
                continue;
            };
            if rust_source::is_test_only(&child.attrs) {
                continue;
            }
            if let Some(child_id) = self.child(child, id, &file, folder)? {
                let name = child.ident.to_string();
                self.tree.modules[id].children.insert(name, child_id);
            }
        }
        self.tree.modules[id].items = items;
        Ok(id)
    }

    /// Adds a declared module; returns `None` if its file does not exist, which the compiler reports better.
    fn child(&mut self, declaration: &ItemMod, parent: Id, file: &Path, folder: &Path) -> anyhow::Result<Option<Id>> {
        let name = declaration.ident.to_string();
        let mut module = Module {
            name: name.clone(),
            parent: Some(parent),
            file: file.to_owned(),
            attributes: declaration.attrs.clone(),
            ..Module::default()
        };
        let below = folder.join(&name);
        if let Some((_, items)) = &declaration.content {
            return self.module(module, items.clone(), &below).map(Some);
        }
        for (path, below) in candidates(declaration, file, folder, below) {
            if let Some(text) = (self.files)(&path) {
                let items = parse(&path, &text)?;
                module.file = path;
                return self.module(module, items, &below).map(Some);
            }
        }
        Ok(None)
    }
}

/// Returns the possible paths of a module's file, each with the folder of its children.
fn candidates(declaration: &ItemMod, file: &Path, folder: &Path, below: PathBuf) -> Vec<(PathBuf, PathBuf)> {
    if let Some(path) = path_attribute(declaration) {
        let path = file.parent().unwrap_or(Path::new("")).join(path);
        let below = path.parent().unwrap_or(Path::new("")).to_owned();
        return vec![(path, below)];
    }
    let flat = folder.join(format!("{}.rs", declaration.ident));
    vec![(flat, below.clone()), (below.join("mod.rs"), below)]
}

fn path_attribute(declaration: &ItemMod) -> Option<String> {
    declaration.attrs.iter().find_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("path") => match &pair.value {
            Expr::Lit(ExprLit {
                lit: Lit::Str(path), ..
            }) => Some(path.value()),
            _ => None,
        },
        _ => None,
    })
}

fn parse(file: &Path, text: &str) -> anyhow::Result<Vec<Item>> {
    let parsed = syn::parse_file(text);
    Ok(parsed
        .with_context(|| format!("{} does not parse", file.display()))?
        .items)
}

/// Adds the macros with `#[macro_export]` to the root, where the language puts them.
fn lift_exported_macros(tree: &mut ModuleTree) {
    let mut lifted = Vec::new();
    for id in 0..tree.modules.len() {
        let macros = std::mem::take(&mut tree.modules[id].scope.exported_macros);
        let path: Vec<String> = tree.chain(id).iter().map(|&id| tree.modules[id].name.clone()).collect();
        for name in macros {
            tree.modules[id].scope.items.insert(name.clone());
            lifted.push((name.clone(), [path.clone(), vec![name]].concat()));
        }
    }
    // A macro that is written at the root is already defined there.
    lifted.retain(|(name, _)| !tree.modules[ROOT].scope.items.contains(name));
    tree.modules[ROOT].scope.imports.extend(lifted);
}

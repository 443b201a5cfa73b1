//! Collecting the names that the items of one module define, import and refer to.

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{ImplItem, Item, ItemUse, Macro, TraitItem, UseTree, Visibility};

use crate::source::module_tree::tree::{Reference, Scope};
use crate::source::rust_source;

/// Collects the names in the items of a module, without nested modules and test code.
pub(super) fn collect(items: &[Item]) -> Scope {
    let mut collector = Collector::default();
    for item in items {
        if !rust_source::is_test_only(rust_source::item_attributes(item)) {
            collector.define(item);
            collector.visit_item(item);
        }
    }
    collector.scope
}

#[derive(Default)]
struct Collector {
    scope: Scope,
}

impl Collector {
    fn define(&mut self, item: &Item) {
        if let Item::Macro(item) = item {
            self.define_macro(item);
        } else if let Some(name) = defined_name(item) {
            self.scope.items.insert(name.to_string());
        }
    }

    fn define_macro(&mut self, item: &syn::ItemMacro) {
        let Some(name) = &item.ident else {
            return;
        };
        let is_exported = item
            .attrs
            .iter()
            .any(|attribute| attribute.path().is_ident("macro_export"));
        let names = if is_exported {
            &mut self.scope.exported_macros
        } else {
            &mut self.scope.items
        };
        names.insert(name.to_string());
    }

    fn refer(&mut self, path: Vec<String>, line: usize) {
        self.scope.references.push(Reference { path, line });
    }

    /// Collects a `use` tree. A private import refers to what it imports; a re-export only adds another name for it.
    fn import(&mut self, tree: &UseTree, prefix: &[String], is_private: bool) {
        let joined = |name: &syn::Ident| [prefix, &[name.to_string()]].concat();
        match tree {
            UseTree::Path(tree) => self.import(&tree.tree, &joined(&tree.ident), is_private),
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.import(tree, prefix, is_private);
                }
            }
            UseTree::Name(leaf) if leaf.ident == "self" => {
                let name = prefix.last().cloned().unwrap_or_default();
                self.bind(name, prefix.to_vec(), &leaf.ident, is_private);
            }
            UseTree::Name(leaf) => {
                self.bind(leaf.ident.to_string(), joined(&leaf.ident), &leaf.ident, is_private);
            }
            UseTree::Rename(leaf) => {
                let path = if leaf.ident == "self" {
                    prefix.to_vec()
                } else {
                    joined(&leaf.ident)
                };
                self.bind(leaf.rename.to_string(), path, &leaf.ident, is_private);
            }
            UseTree::Glob(glob) => {
                if is_private {
                    self.refer(prefix.to_vec(), glob.star_token.spans[0].start().line);
                }
                self.scope.globs.push(prefix.to_vec());
            }
        }
    }

    fn bind(&mut self, name: String, path: Vec<String>, at: &syn::Ident, is_private: bool) {
        if is_private {
            self.refer(path.clone(), at.span().start().line);
        }
        self.scope.imports.insert(name, path);
    }
}

impl<'ast> Visit<'ast> for Collector {
    fn visit_item(&mut self, item: &'ast Item) {
        let is_module = matches!(item, Item::Mod(_));
        if !is_module && !rust_source::is_test_only(rust_source::item_attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item(&mut self, item: &'ast ImplItem) {
        if !rust_source::is_test_only(rust_source::impl_item_attributes(item)) {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_trait_item(&mut self, item: &'ast TraitItem) {
        if !rust_source::is_test_only(rust_source::trait_item_attributes(item)) {
            visit::visit_trait_item(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        if item.leading_colon.is_none() {
            let is_private = matches!(item.vis, Visibility::Inherited);
            self.import(&item.tree, &[], is_private);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.leading_colon.is_none() {
            let names: Vec<String> = path.segments.iter().map(|part| part.ident.to_string()).collect();
            let line = path.segments.first().map_or(0, |part| part.ident.span().start().line);
            self.refer(names, line);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        self.visit_path(&call.path);
        self.scope.references.extend(paths_in(call.tokens.clone()));
    }

    // The paths of `pub(in path)` and of attributes are not references.
    fn visit_visibility(&mut self, _: &'ast Visibility) {}

    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}
}

fn defined_name(item: &Item) -> Option<&syn::Ident> {
    match item {
        Item::Const(item) => Some(&item.ident),
        Item::Enum(item) => Some(&item.ident),
        Item::Fn(item) => Some(&item.sig.ident),
        Item::Static(item) => Some(&item.ident),
        Item::Struct(item) => Some(&item.ident),
        Item::Trait(item) => Some(&item.ident),
        Item::TraitAlias(item) => Some(&item.ident),
        Item::Type(item) => Some(&item.ident),
        Item::Union(item) => Some(&item.ident),
        _ => None,
    }
}

/// Returns the paths of two or more segments in the arguments of a macro.
fn paths_in(tokens: TokenStream) -> Vec<Reference> {
    let mut found = Vec::new();
    let mut path: Vec<String> = Vec::new();
    let (mut line, mut colons) = (0, 0);
    for token in tokens {
        match token {
            TokenTree::Punct(mark) if mark.as_char() == ':' && !path.is_empty() => colons += 1,
            TokenTree::Ident(name) => {
                if colons != 2 {
                    close(&mut path, line, &mut found);
                    line = name.span().start().line;
                }
                path.push(name.to_string());
                colons = 0;
            }
            other => {
                close(&mut path, line, &mut found);
                colons = 0;
                if let TokenTree::Group(group) = other {
                    found.extend(paths_in(group.stream()));
                }
            }
        }
    }
    close(&mut path, line, &mut found);
    found
}

fn close(path: &mut Vec<String>, line: usize, found: &mut Vec<Reference>) {
    let path = std::mem::take(path);
    if path.len() > 1 {
        found.push(Reference { path, line });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(source: &str, expected: &[&str]) {
        let file = syn::parse_file(source).unwrap();
        let scope = collect(&file.items);
        let paths: Vec<String> = scope.references.iter().map(|found| found.path.join("::")).collect();
        assert_eq!(paths, expected);
    }

    #[test]
    fn private_imports_are_references() {
        check(
            "use crate::a::{self, b::{C, D as E}, f::*};",
            &["crate::a", "crate::a::b::C", "crate::a::b::D", "crate::a::f"],
        );
    }

    #[test]
    fn re_exports_are_not_references() {
        check("pub use crate::a::B; pub(crate) use c::*;", &[]);
    }

    #[test]
    fn paths_in_code_and_in_macros_are_references() {
        check(
            "fn f() { crate::a::g(vec![super::b::C, x.y, m!(crate::d::E)]); }",
            &["crate::a::g", "vec", "super::b::C", "crate::d::E"],
        );
    }

    #[test]
    fn ignores_test_code() {
        check(
            "#[cfg(test)] mod tests { use crate::a; } #[cfg(test)] use crate::b;",
            &[],
        );
        check("impl S { #[cfg(test)] fn f() { crate::a::g(); } }", &["S"]);
    }

    #[test]
    fn ignores_paths_in_visibilities_and_attributes() {
        check("pub(in crate::a) struct S; #[crate::b::attr] struct T;", &[]);
    }

    #[test]
    fn does_not_mistake_a_type_annotation_for_a_path() {
        let tokens: TokenStream = "a: b::C, d : e".parse().unwrap();
        let paths: Vec<_> = paths_in(tokens)
            .into_iter()
            .map(|found| found.path.join("::"))
            .collect();
        assert_eq!(paths, ["b::C"]);
    }
}

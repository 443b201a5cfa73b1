//! The entries of exported items and of their parts.

use std::collections::BTreeSet;

use quote::{ToTokens as _, quote};
use syn::visit::Visit as _;
use syn::{Attribute, Fields, Item, ItemEnum, ItemStruct, ItemTrait, Signature, TraitItem, Visibility};

use crate::source::module_tree::{Id, Meaning, ModuleTree};
use crate::source::public_api::entry::Entry;
use crate::source::public_api::exports::{self, Export, Exports, Target};
use crate::source::public_api::signature::{self, Mentioned};
use crate::source::public_api::tokens::render;
use crate::source::rust_source;

/// Crates that do not count as foreign: those of every program, and one whose derives implement only their traits.
const STANDARD: &[&str] = &["alloc", "core", "std", "thiserror"];

/// Returns the entries of all exports. `dependencies` are the names of the crates that code can refer to.
pub(super) fn entries(tree: &ModuleTree, exports: &Exports, dependencies: &BTreeSet<String>) -> Vec<Entry> {
    let mut lister = Lister {
        tree,
        exports,
        dependencies,
        entries: Vec::new(),
    };
    for (target, paths) in exports {
        lister.target(target, paths);
    }
    lister.implementations();
    lister.entries
}

/// Collects the entries of a library.
pub(super) struct Lister<'a> {
    pub(super) tree: &'a ModuleTree,
    pub(super) exports: &'a Exports,
    dependencies: &'a BTreeSet<String>,
    entries: Vec<Entry>,
}

/// The place of an entry: the module whose imports apply, the path, and the conditions.
pub(super) struct Place<'a> {
    pub(super) module: Id,
    pub(super) path: &'a str,
    pub(super) conditions: &'a [String],
}

impl Place<'_> {
    /// Returns the place for the parts of an item. They are listed without the conditions of the item.
    fn parts(&self) -> Self {
        Self {
            module: self.module,
            path: self.path,
            conditions: &[],
        }
    }
}

impl Lister<'_> {
    fn target(&mut self, target: &Target, paths: &[Export]) {
        let [canonical, others @ ..] = paths else {
            return;
        };
        match target {
            Target::Module(_) => self.plain(canonical, format!("mod {}", canonical.path)),
            Target::Foreign(source) => {
                for export in paths {
                    self.foreign(source, export);
                }
                return;
            }
            Target::Item(module, name) => {
                for item in &self.tree.modules[*module].items {
                    self.item(*module, name, item, canonical);
                }
            }
        }
        for other in others {
            self.plain(other, format!("use {} as {}", canonical.path, other.path));
        }
    }

    fn foreign(&mut self, source: &str, export: &Export) {
        let text = match export.path.strip_suffix("::_") {
            Some(_) => source.to_owned(),
            None => format!("use {source} as {}", export.path),
        };
        self.plain(export, text);
        let root = source.split("::").next().unwrap_or_default();
        if let Some(entry) = self.entries.last_mut()
            && self.dependencies.contains(root)
        {
            entry.crates.insert(root.to_owned());
        }
    }

    fn plain(&mut self, export: &Export, text: String) {
        self.entries.push(Entry {
            path: export.path.clone(),
            is_implementation: false,
            text: conditional(&export.conditions, &text),
            crates: BTreeSet::new(),
        });
    }

    /// Adds an entry whose signature consists of `tokens`.
    pub(super) fn add(&mut self, place: &Place<'_>, text: String, mentioned: Mentioned) {
        self.entries.push(Entry {
            path: place.path.to_owned(),
            is_implementation: text.starts_with("impl"),
            text: conditional(place.conditions, &text),
            crates: self.crates(place.module, mentioned),
        });
    }

    fn crates(&self, module: Id, mentioned: Mentioned) -> BTreeSet<String> {
        let roots = mentioned.paths.into_iter().filter_map(|path| {
            let root = match self.tree.resolve(module, &path) {
                Some(Meaning::Foreign(path)) => path.into_iter().next()?,
                Some(_) => return None,
                None if path.len() > 1 => path.into_iter().next()?,
                None => return None,
            };
            self.dependencies.contains(&root).then_some(root)
        });
        roots.filter(|root| !STANDARD.contains(&root.as_str())).collect()
    }

    fn item(&mut self, module: Id, name: &str, item: &Item, export: &Export) {
        let attributes = rust_source::item_attributes(item);
        if rust_source::is_test_only(attributes) || exports::is_hidden(attributes) {
            return;
        }
        let own = exports::conditions(attributes);
        let conditions: Vec<String> = export.conditions.iter().cloned().chain(own).collect();
        let place = Place {
            module,
            path: &export.path,
            conditions: &conditions,
        };
        let path = &export.path;
        match item {
            Item::Const(item) if item.ident == name => {
                let text = format!("const {path}: {}", render(item.ty.to_token_stream()));
                self.add(&place, text, Mentioned::by(|collector| collector.visit_type(&item.ty)));
            }
            Item::Static(item) if item.ident == name => {
                let text = format!("static {path}: {}", render(item.ty.to_token_stream()));
                self.add(&place, text, Mentioned::by(|collector| collector.visit_type(&item.ty)));
            }
            Item::Type(item) if item.ident == name => {
                let text = format!(
                    "type {path}{} = {}",
                    signature::generics(&item.generics),
                    render(item.ty.to_token_stream())
                );
                self.add(&place, text, Mentioned::by(|collector| collector.visit_item_type(item)));
            }
            Item::Fn(item) if item.sig.ident == name => self.function(&place, &item.sig, ""),
            Item::Struct(item) if item.ident == name => self.structure(&place, item),
            Item::Enum(item) if item.ident == name => self.enumeration(&place, item),
            Item::Trait(item) if item.ident == name => self.interface(&place, item),
            Item::Macro(item) if item.ident.as_ref().is_some_and(|ident| ident == name) => {
                self.add(&place, format!("macro {path}!"), Mentioned::default());
            }
            _ => {}
        }
    }

    pub(super) fn function(&mut self, place: &Place<'_>, signature: &Signature, suffix: &str) {
        let mentioned = Mentioned::by(|collector| collector.visit_signature(signature));
        self.add(
            place,
            format!("{}{suffix}", signature::function(place.path, signature)),
            mentioned,
        );
    }

    fn structure(&mut self, place: &Place<'_>, item: &ItemStruct) {
        let parts = place.parts();
        let mentioned = Mentioned::by(|collector| {
            collector.visit_generics(&item.generics);
            let public = item.fields.iter().filter(|field| is_public(&field.vis));
            public.for_each(|field| collector.visit_type(&field.ty));
            collector.derives(&item.attrs);
        });
        let body = match &item.fields {
            Fields::Unit => String::new(),
            Fields::Unnamed(fields) => {
                let fields = fields.unnamed.iter().map(|field| match is_public(&field.vis) {
                    true => format!("pub {}", render(field.ty.to_token_stream())),
                    false => "_".to_owned(),
                });
                format!("({})", fields.collect::<Vec<_>>().join(", "))
            }
            Fields::Named(fields) if fields.named.iter().all(|field| is_public(&field.vis)) => " {}".to_owned(),
            Fields::Named(_) => " { .. }".to_owned(),
        };
        let (path, generics) = (place.path, signature::generics(&item.generics));
        let text = format!("{}struct {path}{generics}{body}", signature::markers(&item.attrs));
        self.add(place, text, mentioned);
        for field in item.fields.iter().filter(|field| is_public(&field.vis)) {
            if let Some(name) = &field.ident
                && !exports::is_hidden(&field.attrs)
            {
                let text = format!("{path}::{name}: {}", render(field.ty.to_token_stream()));
                let mentioned = Mentioned::by(|collector| collector.visit_type(&field.ty));
                self.part(&parts, name, &field.attrs, |lister, place| {
                    lister.add(place, text, mentioned);
                });
            }
        }
    }

    fn enumeration(&mut self, place: &Place<'_>, item: &ItemEnum) {
        let parts = place.parts();
        let text = format!(
            "{}enum {}{}",
            signature::markers(&item.attrs),
            place.path,
            signature::generics(&item.generics)
        );
        let mentioned = Mentioned::by(|collector| {
            collector.visit_generics(&item.generics);
            collector.derives(&item.attrs);
        });
        self.add(place, text, mentioned);
        for variant in item
            .variants
            .iter()
            .filter(|variant| !exports::is_hidden(&variant.attrs))
        {
            let fields = match &variant.fields {
                Fields::Unit => String::new(),
                Fields::Unnamed(fields) => {
                    let types = fields.unnamed.iter().map(|field| render(field.ty.to_token_stream()));
                    format!("({})", types.collect::<Vec<_>>().join(", "))
                }
                Fields::Named(fields) => {
                    let fields = fields.named.iter().map(|field| {
                        let (name, kind) = (&field.ident, &field.ty);
                        render(quote!(#name: #kind))
                    });
                    format!(" {{ {} }}", fields.collect::<Vec<_>>().join(", "))
                }
            };
            let text = format!(
                "{}{}::{}{fields}",
                signature::markers(&variant.attrs),
                place.path,
                variant.ident
            );
            let mentioned = Mentioned::by(|collector| collector.visit_fields(&variant.fields));
            self.part(&parts, &variant.ident, &variant.attrs, |lister, place| {
                lister.add(place, text, mentioned);
            });
        }
    }

    fn interface(&mut self, place: &Place<'_>, item: &ItemTrait) {
        let parts = place.parts();
        let bounds = match item.supertraits.is_empty() {
            true => String::new(),
            false => format!(": {}", render(item.supertraits.to_token_stream())),
        };
        let safety = if item.unsafety.is_some() { "unsafe " } else { "" };
        let text = format!(
            "{safety}trait {}{}{bounds}",
            place.path,
            signature::generics(&item.generics)
        );
        let mentioned = Mentioned::by(|collector| {
            collector.visit_generics(&item.generics);
            item.supertraits
                .iter()
                .for_each(|bound| collector.visit_type_param_bound(bound));
        });
        self.add(place, text, mentioned);
        for item in &item.items {
            let attributes = rust_source::trait_item_attributes(item);
            if exports::is_hidden(attributes) || rust_source::is_test_only(attributes) {
                continue;
            }
            let provided = |is_provided| if is_provided { " (provided)" } else { "" };
            match item {
                TraitItem::Fn(item) => self.part(&parts, &item.sig.ident, attributes, |lister, place| {
                    lister.function(place, &item.sig, provided(item.default.is_some()));
                }),
                TraitItem::Const(item) => self.part(&parts, &item.ident, attributes, |lister, place| {
                    let kind = render(item.ty.to_token_stream());
                    let text = format!("const {}: {kind}{}", place.path, provided(item.default.is_some()));
                    lister.add(place, text, Mentioned::by(|collector| collector.visit_type(&item.ty)));
                }),
                TraitItem::Type(item) => self.part(&parts, &item.ident, attributes, |lister, place| {
                    let bounds = match item.bounds.is_empty() {
                        true => String::new(),
                        false => format!(": {}", render(item.bounds.to_token_stream())),
                    };
                    let text = format!("type {}{}{bounds}", place.path, signature::generics(&item.generics));
                    lister.add(
                        place,
                        text,
                        Mentioned::by(|collector| collector.visit_trait_item_type(item)),
                    );
                }),
                _ => {}
            }
        }
    }

    /// Adds the entry of a part of an item, with the part's own path, after the conditions of `place` and of the part.
    pub(super) fn part(
        &mut self,
        place: &Place<'_>,
        name: &syn::Ident,
        attributes: &[Attribute],
        add: impl FnOnce(&mut Self, &Place<'_>),
    ) {
        let own = exports::conditions(attributes);
        let conditions: Vec<String> = place.conditions.iter().cloned().chain(own).collect();
        let path = format!("{}::{name}", place.path);
        let part = Place {
            module: place.module,
            path: &path,
            conditions: &conditions,
        };
        add(self, &part);
    }
}

pub(super) fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn conditional(conditions: &[String], text: &str) -> String {
    let mut unique: Vec<&str> = Vec::new();
    for condition in conditions {
        if !unique.contains(&condition.as_str()) {
            unique.push(condition);
        }
    }
    unique.push(text);
    unique.join(" ")
}

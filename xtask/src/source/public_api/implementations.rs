//! The entries of implementations: the public items of `impl` blocks, and the implemented traits.

use quote::ToTokens as _;
use syn::visit::Visit as _;
use syn::{GenericArgument, ImplItem, Item, ItemImpl, PathArguments, Type};

use crate::source::module_tree::{Id, Meaning};
use crate::source::public_api::exports::{self, Export, Target};
use crate::source::public_api::items::{Lister, Place, is_public};
use crate::source::public_api::signature::{self, Mentioned};
use crate::source::public_api::tokens::render;
use crate::source::rust_source;

/// The item that a path in an implementation refers to.
enum Resolved {
    Exported(Export),
    /// An item of this library that is not exported.
    Private,
    /// Another crate, the standard library, or a type parameter.
    Elsewhere,
}

impl Lister<'_> {
    /// Adds the entries of all implementations for exported types and of exported traits.
    pub(super) fn implementations(&mut self) {
        let tree = self.tree;
        for (id, module) in tree.modules.iter().enumerate() {
            for item in &module.items {
                if let Item::Impl(item) = item
                    && !rust_source::is_test_only(&item.attrs)
                    && !exports::is_hidden(&item.attrs)
                {
                    self.implementation(id, item);
                }
            }
        }
    }

    fn implementation(&mut self, module: Id, item: &ItemImpl) {
        let subject = self.resolved_type(module, &item.self_ty);
        match (&item.trait_, subject) {
            (None, Resolved::Exported(export)) => self.inherent(module, item, &export),
            (None, _) | (Some(_), Resolved::Private) => {}
            (Some((of, _)), subject) => self.trait_implementation(module, item, of, &subject),
        }
    }

    fn inherent(&mut self, module: Id, item: &ItemImpl, export: &Export) {
        let conditions: Vec<String> = exports::conditions(&item.attrs).collect();
        let place = Place {
            module,
            path: &export.path,
            conditions: &conditions,
        };
        for item in &item.items {
            let attributes = rust_source::impl_item_attributes(item);
            if exports::is_hidden(attributes) || rust_source::is_test_only(attributes) {
                continue;
            }
            match item {
                ImplItem::Fn(item) if is_public(&item.vis) => {
                    self.part(&place, &item.sig.ident, attributes, |lister, place| {
                        lister.function(place, &item.sig, "");
                    });
                }
                ImplItem::Const(item) if is_public(&item.vis) => {
                    self.part(&place, &item.ident, attributes, |lister, place| {
                        let text = format!("const {}: {}", place.path, render(item.ty.to_token_stream()));
                        lister.add(place, text, Mentioned::by(|collector| collector.visit_type(&item.ty)));
                    });
                }
                _ => {}
            }
        }
    }

    fn trait_implementation(&mut self, module: Id, item: &ItemImpl, of: &syn::Path, subject: &Resolved) {
        let interface = self.resolved(module, of);
        let arguments: Vec<Resolved> = arguments(of).map(|kind| self.resolved_type(module, kind)).collect();
        let parts = [subject, &interface].into_iter().chain(&arguments);
        if parts.clone().any(|part| matches!(part, Resolved::Private)) {
            return;
        }
        // Without an exported part, the implementation adds nothing to the API.
        let exported = parts.filter_map(|part| match part {
            Resolved::Exported(export) => Some(export),
            _ => None,
        });
        let Some(export) = exported.into_iter().next() else {
            return;
        };
        let conditions: Vec<String> = exports::conditions(&item.attrs).collect();
        let place = Place {
            module,
            path: &export.path,
            conditions: &conditions,
        };
        let (parameters, _, bounds) = item.generics.split_for_impl();
        let name = match &interface {
            Resolved::Exported(export) => signature::with_arguments(&export.path, of),
            _ => render(signature::last_segment(of)),
        };
        let target = match subject {
            Resolved::Exported(export) => signature::with_type_arguments(&export.path, &item.self_ty),
            _ => render(item.self_ty.to_token_stream()),
        };
        let bounds = bounds.map(|bounds| format!(" {}", render(bounds.to_token_stream())));
        let text = format!(
            "impl{} {name} for {target}{}",
            render(parameters.to_token_stream()),
            bounds.unwrap_or_default()
        );
        let mentioned = Mentioned::by(|collector| {
            collector.visit_path(of);
            collector.visit_generics(&item.generics);
            collector.visit_type(&item.self_ty);
        });
        self.add(&place, text, mentioned);
    }

    /// Resolves a type that is written as a path, possibly behind a reference.
    fn resolved_type(&self, module: Id, kind: &Type) -> Resolved {
        match kind {
            Type::Path(kind) if kind.qself.is_none() => self.resolved(module, &kind.path),
            Type::Reference(kind) => self.resolved_type(module, &kind.elem),
            _ => Resolved::Elsewhere,
        }
    }

    fn resolved(&self, module: Id, path: &syn::Path) -> Resolved {
        let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        match self.tree.resolve(module, &names) {
            Some(Meaning::Item(module, name)) => {
                let paths = self.exports.get(&Target::Item(module, name));
                let canonical = paths.and_then(|paths| paths.first().cloned());
                canonical.map_or(Resolved::Private, Resolved::Exported)
            }
            _ => Resolved::Elsewhere,
        }
    }
}

/// Returns the generic arguments of a path that are types, such as `T` in `From<T>`.
fn arguments(path: &syn::Path) -> impl Iterator<Item = &Type> {
    let arguments = match path.segments.last().map(|segment| &segment.arguments) {
        Some(PathArguments::AngleBracketed(arguments)) => Some(&arguments.args),
        _ => None,
    };
    arguments.into_iter().flatten().filter_map(|argument| match argument {
        GenericArgument::Type(kind) => Some(kind),
        _ => None,
    })
}

//! Rendering signatures, and finding the paths in them.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{Attribute, FnArg, Generics, Meta, Pat, Signature, Token, Type};

use crate::source::public_api::tokens::render;

/// The paths that occur in a signature.
#[derive(Debug, Default)]
pub(super) struct Mentioned {
    pub(super) paths: Vec<Vec<String>>,
}

impl Mentioned {
    pub(super) fn by(visit: impl FnOnce(&mut Self)) -> Self {
        let mut mentioned = Self::default();
        visit(&mut mentioned);
        mentioned
    }

    pub(super) fn derives(&mut self, attributes: &[Attribute]) {
        for path in derives(attributes) {
            self.visit_path(&path);
        }
    }
}

impl<'ast> Visit<'ast> for Mentioned {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names = path.segments.iter().map(|segment| segment.ident.to_string());
        self.paths.push(names.collect());
        visit::visit_path(self, path);
    }
}

/// Renders a function under its path. Patterns of parameters are reduced to their names.
pub(super) fn function(path: &str, signature: &Signature) -> String {
    let mut plain = signature.clone();
    for input in &mut plain.inputs {
        match input {
            FnArg::Receiver(input) => input.mutability = None,
            FnArg::Typed(input) => {
                input.attrs.clear();
                match &mut *input.pat {
                    Pat::Ident(name) => name.mutability = None,
                    pattern => *pattern = wildcard(),
                }
            }
        }
    }
    let text = render(plain.to_token_stream());
    text.replacen(&format!("fn {}", signature.ident), &format!("fn {path}"), 1)
}

fn wildcard() -> Pat {
    Pat::Wild(syn::PatWild {
        attrs: Vec::new(),
        underscore_token: Token![_](proc_macro2::Span::call_site()),
    })
}

pub(super) fn generics(generics: &Generics) -> String {
    let bounds = generics.where_clause.as_ref();
    let bounds = bounds.map(|bounds| format!(" {}", render(bounds.to_token_stream())));
    format!("{}{}", render(generics.to_token_stream()), bounds.unwrap_or_default())
}

/// Renders the derives and the attributes that restrict how a type can be used.
pub(super) fn markers(attributes: &[Attribute]) -> String {
    let mut derived: Vec<String> = derives(attributes)
        .iter()
        .filter_map(|path| Some(path.segments.last()?.ident.to_string()))
        .collect();
    derived.sort();
    let mut text = match derived.is_empty() {
        true => String::new(),
        false => format!("#[derive({})] ", derived.join(", ")),
    };
    if attributes
        .iter()
        .any(|attribute| attribute.path().is_ident("non_exhaustive"))
    {
        text.push_str("#[non_exhaustive] ");
    }
    text
}

/// Returns the derived traits, also those in `cfg_attr`.
fn derives(attributes: &[Attribute]) -> Vec<syn::Path> {
    let mut found = Vec::new();
    for attribute in attributes {
        collect_derives(&attribute.meta, &mut found);
    }
    found
}

fn collect_derives(meta: &Meta, found: &mut Vec<syn::Path>) {
    let Meta::List(list) = meta else {
        return;
    };
    if list.path.is_ident("derive") {
        let paths = list.parse_args_with(Punctuated::<syn::Path, Token![,]>::parse_terminated);
        found.extend(paths.into_iter().flatten());
    } else if list.path.is_ident("cfg_attr") {
        let metas = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
        for meta in metas.into_iter().flatten().skip(1) {
            collect_derives(&meta, found);
        }
    }
}

pub(super) fn last_segment(path: &syn::Path) -> TokenStream {
    path.segments.last().map(ToTokens::to_token_stream).unwrap_or_default()
}

/// Renders an exported path with the generic arguments of the path as it is written.
pub(super) fn with_arguments(exported: &str, written: &syn::Path) -> String {
    let arguments = written
        .segments
        .last()
        .map(|segment| segment.arguments.to_token_stream());
    format!("{exported}{}", render(arguments.unwrap_or_default()))
}

pub(super) fn with_type_arguments(exported: &str, written: &Type) -> String {
    match written {
        Type::Path(kind) => with_arguments(exported, &kind.path),
        Type::Reference(kind) => {
            let lifetime = kind.lifetime.as_ref().map(|lifetime| format!("{lifetime} "));
            let mutable = if kind.mutability.is_some() { "mut " } else { "" };
            let inner = with_type_arguments(exported, &kind.elem);
            format!("&{}{mutable}{inner}", lifetime.unwrap_or_default())
        }
        other => render(other.to_token_stream()),
    }
}

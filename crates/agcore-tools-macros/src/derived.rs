//! The attributes `#[arguments]` and `#[output]`: derive what the type of an argument or an answer needs.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::{
    Attribute, Error, Fields, Generics, Item, Path, Result, Token,
    parse::{ParseStream, Parser},
};

use crate::{
    expand::{at, derives},
    options,
    parameter::is_for_derive,
    types::parts,
};

/// Generates the type with its derives. `tools` is the path of agcore-tools unless an option sets another one.
///
/// # Errors
/// When the item is neither a struct nor an enum, or the options contain anything but `crate = path`.
pub(crate) fn expand(attribute: &str, tools: Path, options: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let path = |input: ParseStream<'_>| {
        if input.is_empty() {
            return Ok(tools);
        }
        input.parse::<Token![crate]>()?;
        input.parse::<Token![=]>()?;
        input.call(options::path)
    };
    let tools = path.parse2(options)?;
    let item: Item = syn::parse2(item)?;
    let checks = match &item {
        Item::Struct(item) => checks(&tools, &item.generics, &[&item.fields]),
        Item::Enum(item) => {
            let plain = item.variants.iter().filter(|variant| is_plain(&variant.attrs));
            let fields: Vec<&Fields> = plain.map(|variant| &variant.fields).collect();
            checks(&tools, &item.generics, &fields)
        }
        _ => {
            return Err(Error::new_spanned(
                item,
                format!("`#[{attribute}]` must be on a struct or an enum"),
            ));
        }
    };
    let derives = derives(&tools);
    Ok(quote!(#checks #derives #item))
}

/// Generates a check of each type of a field, so that the compiler points at one that lacks its attribute. The derives report it
/// too, but in terms of serde. Comes before the type: the compiler reports in this order.
fn checks(tools: &Path, generics: &Generics, fields: &[&Fields]) -> Option<TokenStream> {
    if !generics.params.is_empty() {
        // The derives add bounds, which would have to be repeated.
        return None;
    }
    let fields = fields.iter().copied().flatten().filter(|field| is_plain(&field.attrs));
    let types = fields.flat_map(|field| parts(&field.ty));
    let checks: Vec<TokenStream> = types
        .filter(|ty| !mentions_self(ty.to_token_stream()))
        .map(|ty| quote_spanned!(at(ty)=> let _ = <#ty as #tools::__private::Member>::CHECK;))
        .collect();
    (!checks.is_empty()).then(|| quote!(const _: () = { #(#checks)* };))
}

/// Returns whether a field or variant with these attributes certainly exists, and is read by the traits of its type.
fn is_plain(attributes: &[Attribute]) -> bool {
    let is_special = |attribute: &Attribute| is_for_derive(attribute) || attribute.path().is_ident("cfg");
    !attributes.iter().any(is_special)
}

/// Returns whether the type contains `Self`, which has no meaning in a check outside of the type.
fn mentions_self(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == "Self",
        TokenTree::Group(group) => mentions_self(group.stream()),
        _ => false,
    })
}

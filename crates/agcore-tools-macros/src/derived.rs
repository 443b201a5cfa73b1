//! The attributes `#[arguments]` and `#[output]`: derive what the type of an argument or an answer needs.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{
    Error, Item, Path, Result, Token,
    parse::{ParseStream, Parser},
};

use crate::{expand::derives, options};

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
    if !matches!(item, Item::Struct(_) | Item::Enum(_)) {
        return Err(Error::new_spanned(
            item,
            format!("`#[{attribute}]` must be on a struct or an enum"),
        ));
    }
    let derives = derives(&tools);
    Ok(quote!(#derives #item))
}

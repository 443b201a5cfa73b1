//! [`Permission`]: an entry of `permissions(…)`.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{
    Error, Ident, LitStr, Path, Result,
    ext::IdentExt,
    parse::{Parse, ParseStream},
};

/// An entry of `permissions(…)`.
pub(crate) enum Permission {
    /// A predefined permission, and the name of its variant.
    Known(Ident, &'static str),
    /// A custom permission, `namespace:name`.
    Custom(LitStr),
}

/// The predefined permissions, by their names in rules and JSON.
const KNOWN: [(&str, &str); 6] = [
    ("read", "Read"),
    ("write", "Write"),
    ("delete", "Delete"),
    ("network", "Network"),
    ("shell", "Shell"),
    ("file_system", "FileSystem"),
];

impl Permission {
    /// Returns the location of the entry.
    pub(crate) fn span(&self) -> Span {
        match self {
            Self::Known(word, _) => word.span(),
            Self::Custom(text) => text.span(),
        }
    }

    /// Returns whether a tool with this permission changes data.
    pub(crate) fn is_change(&self) -> bool {
        matches!(self, Self::Known(_, "Write" | "Delete"))
    }

    /// Returns the expression that creates the permission.
    pub(crate) fn expression(&self, tools: &Path) -> TokenStream {
        match self {
            Self::Known(_, variant) => {
                let variant = Ident::new(variant, Span::call_site());
                quote!(#tools::Permission::#variant)
            }
            Self::Custom(text) => {
                quote!(#tools::Permission::custom(#text).expect("#[tool] has checked the permission"))
            }
        }
    }
}

impl PartialEq for Permission {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Known(_, variant), Self::Known(_, other)) => variant == other,
            (Self::Custom(text), Self::Custom(other)) => text.value() == other.value(),
            (Self::Known(..), Self::Custom(_)) | (Self::Custom(_), Self::Known(..)) => false,
        }
    }
}

impl Parse for Permission {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        if input.peek(LitStr) {
            return custom(input.parse()?);
        }
        let word = input.call(Ident::parse_any)?;
        match KNOWN.iter().find(|(known, _)| word == known) {
            Some((_, variant)) => Ok(Self::Known(word, variant)),
            None => Err(Error::new(
                word.span(),
                format!(
                    "unknown permission `{word}`: expected {}, or a custom one as \"namespace:name\"",
                    KNOWN.map(|(known, _)| known).join(", ")
                ),
            )),
        }
    }
}

/// Checks the form in the same way as `Permission::custom`, which would panic at run time.
fn custom(text: LitStr) -> Result<Permission> {
    let is_part = |part: &str| {
        let is_allowed = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
        !part.is_empty() && part.chars().all(is_allowed)
    };
    match text.value().split_once(':') {
        Some((namespace, name)) if is_part(namespace) && is_part(name) => Ok(Permission::Custom(text)),
        _ => Err(Error::new(
            text.span(),
            "a custom permission has the form \"namespace:name\", with letters, digits, `_`, `-`, `.` and `/` in both \
             parts; write predefined permissions without quotes",
        )),
    }
}

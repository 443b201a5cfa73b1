//! [`Permission`]: one of `permissions(…)`.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{
    Error, Ident, LitStr, Path, Result,
    ext::IdentExt,
    parse::{Parse, ParseStream},
};

/// One of `permissions(…)`.
pub(crate) enum Permission {
    /// A word that agcore-tools knows, and its variant.
    Known(Ident, &'static str),
    /// An application's own, `namespace:name`.
    Own(LitStr),
}

/// The words, as the permission's text in rules and JSON has them.
const KNOWN: [(&str, &str); 6] = [
    ("read", "Read"),
    ("write", "Write"),
    ("delete", "Delete"),
    ("network", "Network"),
    ("shell", "Shell"),
    ("file_system", "FileSystem"),
];

impl Permission {
    /// Where it stands.
    pub(crate) fn span(&self) -> Span {
        match self {
            Self::Known(word, _) => word.span(),
            Self::Own(text) => text.span(),
        }
    }

    /// The expression that makes it.
    pub(crate) fn expression(&self, tools: &Path) -> TokenStream {
        match self {
            Self::Known(_, variant) => {
                let variant = Ident::new(variant, Span::call_site());
                quote!(#tools::Permission::#variant)
            }
            Self::Own(text) => {
                quote!(#tools::Permission::custom(#text).expect("#[tool] has looked at its form"))
            }
        }
    }
}

impl PartialEq for Permission {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Known(_, variant), Self::Known(_, other)) => variant == other,
            (Self::Own(text), Self::Own(other)) => text.value() == other.value(),
            (Self::Known(..), Self::Own(_)) | (Self::Own(_), Self::Known(..)) => false,
        }
    }
}

impl Parse for Permission {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        if input.peek(LitStr) {
            return own(input.parse()?);
        }
        let word = input.call(Ident::parse_any)?;
        match KNOWN.iter().find(|(known, _)| word == known) {
            Some((_, variant)) => Ok(Self::Known(word, variant)),
            None => Err(Error::new(
                word.span(),
                format!(
                    "there is no permission `{word}`; there are {}, and your own as \"namespace:name\"",
                    KNOWN.map(|(known, _)| known).join(", ")
                ),
            )),
        }
    }
}

/// Looks at the form as `Permission::custom` does, so that a wrong one does not get as far.
fn own(text: LitStr) -> Result<Permission> {
    let is_part = |part: &str| {
        let is_fine = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
        !part.is_empty() && part.chars().all(is_fine)
    };
    match text.value().split_once(':') {
        Some((namespace, name)) if is_part(namespace) && is_part(name) => Ok(Permission::Own(text)),
        _ => Err(Error::new(
            text.span(),
            "a permission of your own is \"namespace:name\", both of letters, digits, `_`, `-`, `.` or `/`; the known \
             ones stand without quotes",
        )),
    }
}

//! [`Tool`]: the validated input of the macro.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Result, ext::IdentExt};

use crate::{function::Function, options::Options, problems::Problems};

/// A function with its options.
pub(crate) struct Tool {
    pub(crate) options: Options,
    pub(crate) function: Function,
    pub(crate) name: TokenStream,
    pub(crate) description: TokenStream,
}

impl Tool {
    /// Parses the options of the attribute and the item below it.
    ///
    /// # Errors
    /// All mistakes in either.
    pub(crate) fn parse(options: TokenStream, item: TokenStream) -> Result<Self> {
        let mut problems = Problems::default();
        let options = problems.ok(syn::parse2::<Options>(options));
        let function = Function::parse(item, &mut problems);
        let tool = options
            .zip(function)
            .and_then(|(options, function)| Self::describe(options, function, &mut problems));
        problems.finish()?;
        // Unreachable: without a problem there is a tool.
        tool.ok_or_else(|| syn::Error::new(proc_macro2::Span::call_site(), "invalid tool"))
    }

    fn describe(options: Options, function: Function, problems: &mut Problems) -> Option<Self> {
        let name = match &options.name {
            Some(name) => quote!(#name),
            None => function.name.unraw().to_string().to_token_stream(),
        };
        let description = match &options.description {
            Some(description) => quote!(#description),
            None => description(&function, problems)?,
        };
        Some(Self {
            options,
            function,
            name,
            description,
        })
    }
}

fn description(function: &Function, problems: &mut Problems) -> Option<TokenStream> {
    let text = problems.ok(function.documentation())?;
    if text.is_none() {
        problems.add(
            &function.name,
            "the tool has no description for the model: write a doc comment or `#[tool(description = \"…\")]`",
        );
    }
    text.map(|text| text.to_token_stream())
}

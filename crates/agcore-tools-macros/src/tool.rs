//! [`Tool`]: the validated input of the macro.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{
    Path, Result,
    ext::IdentExt,
    parse::{ParseStream, Parser},
};

use crate::{function::Function, options::Options, problems::Problems};

/// A function with its options.
pub(crate) struct Tool {
    pub(crate) options: Options,
    pub(crate) function: Function,
    pub(crate) name: TokenStream,
    pub(crate) description: TokenStream,
}

impl Tool {
    /// Parses the options of the attribute and the item below it; `tools` is the usual path of agcore-tools.
    ///
    /// # Errors
    /// All mistakes in either.
    pub(crate) fn parse(tools: Path, options: TokenStream, item: TokenStream) -> Result<Self> {
        let mut problems = Problems::default();
        let parser = |input: ParseStream<'_>| Options::parse(input, tools);
        let options = problems.ok(parser.parse2(options));
        let function = Function::parse(item, &mut problems);
        let tool = options
            .zip(function)
            .and_then(|(options, function)| Self::describe(options, function, &mut problems));
        problems.finish()?;
        // Unreachable: without a problem there is a tool.
        tool.ok_or_else(|| syn::Error::new(proc_macro2::Span::call_site(), "invalid tool"))
    }

    fn describe(options: Options, function: Function, problems: &mut Problems) -> Option<Self> {
        match (options.is_blocking, &function.asyncness) {
            (false, None) => problems.add(
                function.fn_token,
                "a tool must be an async function: write `async fn`, or `#[tool(blocking)]` for one that blocks its thread",
            ),
            (true, Some(asyncness)) => problems.add(
                asyncness,
                "a blocking tool is a plain function: remove `async`, or remove `blocking`",
            ),
            _ => {}
        }
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

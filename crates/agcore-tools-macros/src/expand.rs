//! Expands a [`Tool`] into a function that creates it with `typed`.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Ident, spanned::Spanned};

use crate::{
    options::Options,
    parameter::{Parameter, Source},
    tool::Tool,
};

/// Generates the code of a tool.
pub(crate) fn expand(tool: &Tool) -> TokenStream {
    let (options, function) = (&tool.options, &tool.function);
    let tools = &options.tools;
    let (outer, visibility, ident) = (&function.attributes.outer, &function.visibility, &function.name);
    let Arguments { ty, declaration } = arguments(tool);
    let (inner, checks, call) = (inner(tool), checks(tool), call(tool, &ty));
    let (permissions, annotations, output) = (permissions(options), annotations(options), output(options));
    quote! {
        #(#outer)*
        #visibility fn #ident() -> impl #tools::BaseTool + ::core::fmt::Debug {
            #declaration
            #inner
            #checks
            #call #permissions #annotations #output
        }
    }
}

/// Returns a span with the location of these tokens for messages, but with the hygiene of a macro, so that lints treat
/// the generated code as such.
fn at(tokens: &impl Spanned) -> Span {
    Span::mixed_site().located_at(tokens.span())
}

/// The type of the arguments, and its declaration, which is empty for `NoArguments`.
struct Arguments {
    ty: TokenStream,
    declaration: TokenStream,
}

fn arguments(tool: &Tool) -> Arguments {
    let tools = &tool.options.tools;
    let attributes = &tool.function.attributes.arguments;
    let fields: Vec<_> = tool.function.parameters.iter().filter_map(field).collect();
    if fields.is_empty() && attributes.is_empty() {
        return Arguments {
            ty: quote!(#tools::NoArguments),
            declaration: TokenStream::new(),
        };
    }
    let schemars = quote!(#tools::schemars);
    let path = schemars.to_string();
    let ty = quote!(__ToolArguments);
    let declaration = quote! {
        #[derive(::serde::Deserialize, #schemars::JsonSchema)]
        #[schemars(crate = #path)]
        #(#attributes)*
        struct #ty {
            #(#fields,)*
        }
    };
    Arguments { ty, declaration }
}

fn field(parameter: &Parameter) -> Option<TokenStream> {
    let ty = &parameter.ty;
    match &parameter.source {
        Source::Model(name, attributes) => Some(quote!(#(#attributes)* #name: #ty)),
        Source::Context => None,
    }
}

/// Generates the original function.
fn inner(tool: &Tool) -> TokenStream {
    let function = &tool.function;
    let (attributes, ident, output, body) = (
        &function.attributes.inner,
        &function.name,
        &function.output,
        &function.body,
    );
    let parameters = function.parameters.iter().map(|parameter| {
        let Parameter {
            attributes,
            pattern,
            ty,
            ..
        } = parameter;
        quote!(#(#attributes)* #pattern: #ty)
    });
    quote! {
        #(#attributes)*
        async fn #ident(#(#parameters),*) -> #output #body
    }
}

/// Generates a mention of each type that is extracted from the context, so that the compiler points at a type that does
/// not implement `FromContext`.
fn checks(tool: &Tool) -> TokenStream {
    let tools = &tool.options.tools;
    let from_context = tool
        .function
        .parameters
        .iter()
        .filter(|parameter| matches!(parameter.source, Source::Context));
    from_context
        .map(|Parameter { ty, .. }| quote_spanned!(at(ty)=> let _ = <#ty as #tools::FromContext>::check;))
        .collect()
}

/// Generates the call of `typed`, with a closure that destructures the arguments and calls the function.
fn call(tool: &Tool, arguments: &TokenStream) -> TokenStream {
    let Tool {
        options,
        function,
        name,
        description,
    } = tool;
    let (tools, ident, output) = (&options.tools, &function.name, &function.output);
    let all = Ident::new("arguments", Span::mixed_site());
    let mut extracted = Vec::new();
    let mut values = Vec::new();
    for Parameter { ty, source, .. } in &function.parameters {
        values.push(match source {
            Source::Model(name, _) => quote!(#all.#name),
            Source::Context => {
                let name = format_ident!("context_{}", extracted.len(), span = Span::mixed_site());
                extracted.push(quote!(#name: #ty));
                name.into_token_stream()
            }
        });
    }
    // With these spans, the compiler points at an unsupported return type, and at the name of the function for all
    // other errors.
    let result = quote_spanned! {at(output)=>
        let output: ::core::result::Result<_, #tools::ToolError> = #ident(#(#values),*).await;
        #tools::IntoToolOutput::into_output(output?)
    };
    quote_spanned! {at(ident)=>
        #tools::typed(#name, #description, move |#all: #arguments, #(#extracted),*| async move { #result })
    }
}

fn permissions(options: &Options) -> Option<TokenStream> {
    let tools = &options.tools;
    let mut permissions = options
        .permissions
        .iter()
        .map(|permission| permission.expression(tools))
        .peekable();
    permissions.peek()?;
    Some(quote!(.with_permissions([#(#permissions),*])))
}

fn annotations(options: &Options) -> Option<TokenStream> {
    let tools = &options.tools;
    let mut annotations = options
        .annotations
        .iter()
        .map(|annotation| {
            let method = format_ident!("with_{}", annotation.name);
            let value = &annotation.value;
            quote!(.#method(#value))
        })
        .peekable();
    annotations.peek()?;
    Some(quote!(.with_annotations(#tools::ToolAnnotations::new() #(#annotations)*)))
}

fn output(options: &Options) -> Option<TokenStream> {
    options.output.as_ref().map(|ty| quote!(.with_output::<#ty>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(options: TokenStream, item: TokenStream, expected: TokenStream) {
        let tool = Tool::parse(options, item).unwrap();
        assert_eq!(expand(&tool).to_string(), expected.to_string());
    }

    #[test]
    fn expands_to_a_call_of_typed() {
        check(
            quote!(read_only, permissions(read)),
            quote! {
                /// Adds.
                #[inline]
                pub async fn add(
                    /// The first.
                    mut a: i64,
                    db: State<Db>,
                ) -> Result<i64, ToolError> {
                    body()
                }
            },
            quote! {
                /// Adds.
                pub fn add() -> impl ::agcore_tools::BaseTool + ::core::fmt::Debug {
                    #[derive(::serde::Deserialize, ::agcore_tools::schemars::JsonSchema)]
                    #[schemars(crate = ":: agcore_tools :: schemars")]
                    struct __ToolArguments {
                        /// The first.
                        a: i64,
                    }

                    #[inline]
                    async fn add(mut a: i64, db: State<Db>) -> Result<i64, ToolError> {
                        body()
                    }

                    let _ = <State<Db> as ::agcore_tools::FromContext>::check;
                    ::agcore_tools::typed(
                        "add",
                        "Adds.",
                        move |arguments: __ToolArguments, context_0: State<Db>| async move {
                            let output: ::core::result::Result<_, ::agcore_tools::ToolError> =
                                add(arguments.a, context_0).await;
                            ::agcore_tools::IntoToolOutput::into_output(output?)
                        }
                    )
                    .with_permissions([::agcore_tools::Permission::Read])
                    .with_annotations(::agcore_tools::ToolAnnotations::new().with_read_only(true))
                }
            },
        );
    }

    #[test]
    fn a_tool_without_arguments_has_no_type_for_them() {
        check(
            quote!(crate = agcore::tools),
            quote! {
                /// Waits.
                async fn wait() -> Result<(), ToolError> {}
            },
            quote! {
                /// Waits.
                fn wait() -> impl agcore::tools::BaseTool + ::core::fmt::Debug {
                    async fn wait() -> Result<(), ToolError> {}
                    agcore::tools::typed(
                        "wait",
                        "Waits.",
                        move |arguments: agcore::tools::NoArguments,| async move {
                            let output: ::core::result::Result<_, agcore::tools::ToolError> = wait().await;
                            agcore::tools::IntoToolOutput::into_output(output?)
                        }
                    )
                }
            },
        );
    }
}

//! What a [`Tool`] becomes: a function that makes it by `typed`.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Ident, spanned::Spanned};

use crate::{
    options::Options,
    parameter::{Parameter, Source},
    tool::Tool,
};

/// Writes the tool out.
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

/// The place of these tokens for messages, without their scope: lints take what is written there for a macro's.
fn at(tokens: &impl Spanned) -> Span {
    Span::mixed_site().located_at(tokens.span())
}

/// The type of the arguments, and its declaration if it has one of its own.
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

/// The function as it was written.
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

/// Types from the context are asked for by name, so that the compiler points at one that cannot be taken from there.
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

/// The call of `typed`, with a closure that takes the arguments apart and calls the function with them.
fn call(tool: &Tool, arguments: &TokenStream) -> TokenStream {
    let Tool {
        options,
        function,
        name,
        description,
    } = tool;
    let (tools, ident, output) = (&options.tools, &function.name, &function.output);
    let all = Ident::new("arguments", Span::mixed_site());
    let mut taken = Vec::new();
    let mut values = Vec::new();
    for Parameter { ty, source, .. } in &function.parameters {
        values.push(match source {
            Source::Model(name, _) => quote!(#all.#name),
            Source::Context => {
                let name = format_ident!("context_{}", taken.len(), span = Span::mixed_site());
                taken.push(quote!(#name: #ty));
                name.into_token_stream()
            }
        });
    }
    // The compiler points at a return type that does not fit, and at the function's name for all else.
    let result = quote_spanned! {at(output)=>
        let output: ::core::result::Result<_, #tools::ToolError> = #ident(#(#values),*).await;
        #tools::IntoToolOutput::into_output(output?)
    };
    quote_spanned! {at(ident)=>
        #tools::typed(#name, #description, move |#all: #arguments, #(#taken),*| async move { #result })
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
        let tool = Tool::read(options, item).unwrap();
        assert_eq!(expand(&tool).to_string(), expected.to_string());
    }

    #[test]
    fn it_is_what_one_would_write_by_hand() {
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
    fn without_arguments_there_is_no_type_for_them() {
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

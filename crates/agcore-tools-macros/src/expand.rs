//! Expands a [`Tool`] into the function itself and a function that creates the tool with `typed`.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Attribute, Ident, Path, ext::IdentExt, spanned::Spanned};

use crate::{
    options::Options,
    parameter::{Parameter, Source, is_for_derive},
    tool::Tool,
    types::parts,
};

/// Generates the code of a tool.
pub(crate) fn expand(tool: &Tool) -> TokenStream {
    let (options, function) = (&tool.options, &tool.function);
    let tools = &options.tools;
    let (visibility, ident) = (&function.visibility, &function.name);
    let constructor = format_ident!("{}_tool", ident.unraw(), span = ident.span());
    let documentation = format!("Creates the tool whose calls run [`{}`].", ident.unraw());
    let conditions = function
        .attributes
        .function
        .iter()
        .filter(|attribute| is_condition(attribute));
    let Arguments { ty, declaration } = arguments(tool);
    let (function, checks, call) = (self::function(tool), checks(tool), call(tool, &ty));
    let (permissions, annotations, output) = (permissions(options), annotations(options), output(options));
    let blocking = options.is_blocking.then(|| quote!(.with_blocking(true)));
    let timeout = options.timeout.as_ref().map(|timeout| quote!(.with_timeout(#timeout)));
    let unknown_members = options.has_unknown_members.then(|| quote!(.with_unknown_members()));
    quote! {
        #function

        #(#conditions)*
        #[doc = #documentation]
        #[allow(deprecated)]
        #visibility fn #constructor() -> #tools::Registration {
            #declaration
            #checks
            #tools::Registration::new(
                #call #blocking #unknown_members #permissions #annotations #output
            ) #timeout
        }
    }
}

/// Returns whether the attribute compiles the function conditionally.
fn is_condition(attribute: &Attribute) -> bool {
    attribute.path().is_ident("cfg")
}

/// Returns a span with the location of these tokens for messages, but with the hygiene of a macro, so that lints treat
/// the generated code as such.
pub(crate) fn at(tokens: &impl Spanned) -> Span {
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
    let derives = derives(tools);
    let ty = quote!(__ToolArguments);
    let declaration = quote! {
        #derives
        #(#attributes)*
        struct #ty {
            #(#fields,)*
        }
    };
    Arguments { ty, declaration }
}

/// Generates the derives of a type that a model provides, so that the crate that uses them needs neither serde nor
/// schemars.
pub(crate) fn derives(tools: &Path) -> TokenStream {
    let (serde, schemars) = (quote!(#tools::__private::serde), quote!(#tools::schemars));
    let (serde_path, schemars_path) = (serde.to_string(), schemars.to_string());
    quote! {
        #[derive(#serde::Deserialize, #schemars::JsonSchema)]
        #[serde(crate = #serde_path)]
        #[schemars(crate = #schemars_path)]
    }
}

fn field(parameter: &Parameter) -> Option<TokenStream> {
    let ty = &parameter.ty;
    match &parameter.source {
        Source::Model(name, attributes) => Some(quote!(#(#attributes)* #name: #ty)),
        Source::Context => None,
    }
}

/// Generates the function itself.
fn function(tool: &Tool) -> TokenStream {
    let function = &tool.function;
    let (attributes, visibility, asyncness, ident, output, body) = (
        &function.attributes.function,
        &function.visibility,
        &function.asyncness,
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
        #visibility #asyncness fn #ident(#(#parameters),*) -> #output #body
    }
}

/// Generates a check of the type of each parameter, so that the compiler points at one that cannot be used.
fn checks(tool: &Tool) -> TokenStream {
    let tools = &tool.options.tools;
    let parameters = tool.function.parameters.iter();
    parameters
        .map(|Parameter { ty, source, .. }| match source {
            Source::Context => quote_spanned!(at(ty)=> let _ = <#ty as #tools::FromContext>::check;),
            // Such attributes can replace the code that the traits of the type would provide.
            Source::Model(_, attributes) if attributes.iter().any(is_for_derive) => TokenStream::new(),
            Source::Model(..) => parts(ty)
                .into_iter()
                .map(|ty| quote_spanned!(at(ty)=> let _ = <#ty as #tools::__private::Argument>::CHECK;))
                .collect(),
        })
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
    let receiver = options.is_associated.then(|| quote!(Self::));
    let wait = function.asyncness.map(|_| quote!(.await));
    let result = quote_spanned! {at(output)=>
        #[allow(unused_imports)]
        use #tools::__private::Plain as _;
        let output = #tools::__private::Returned(#receiver #ident(#(#values),*) #wait).into_result();
        #tools::IntoToolOutput::into_output(output.map_err(#tools::__private::IntoToolError::into_tool_error)?)
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
    use syn::parse_quote;

    use super::*;

    #[track_caller]
    fn check(options: TokenStream, item: TokenStream, expected: TokenStream) {
        let tool = Tool::parse(parse_quote!(::agcore_tools), options, item).unwrap();
        assert_eq!(expand(&tool).to_string(), expected.to_string());
    }

    #[test]
    fn expands_to_the_function_and_a_call_of_typed() {
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
                #[inline]
                pub async fn add(mut a: i64, db: State<Db>) -> Result<i64, ToolError> {
                    body()
                }

                #[doc = "Creates the tool whose calls run [`add`]."]
                #[allow(deprecated)]
                pub fn add_tool() -> ::agcore_tools::Registration {
                    #[derive(::agcore_tools::__private::serde::Deserialize, ::agcore_tools::schemars::JsonSchema)]
                    #[serde(crate = ":: agcore_tools :: __private :: serde")]
                    #[schemars(crate = ":: agcore_tools :: schemars")]
                    struct __ToolArguments {
                        /// The first.
                        a: i64,
                    }

                    let _ = <i64 as ::agcore_tools::__private::Argument>::CHECK;
                    let _ = <State<Db> as ::agcore_tools::FromContext>::check;
                    ::agcore_tools::Registration::new(
                        ::agcore_tools::typed(
                            "add",
                            "Adds.",
                            move |arguments: __ToolArguments, context_0: State<Db>| async move {
                                #[allow(unused_imports)]
                                use ::agcore_tools::__private::Plain as _;
                                let output = ::agcore_tools::__private::Returned(add(arguments.a, context_0).await).into_result();
                                ::agcore_tools::IntoToolOutput::into_output(
                                    output.map_err(::agcore_tools::__private::IntoToolError::into_tool_error)?
                                )
                            }
                        )
                        .with_permissions([::agcore_tools::Permission::Read])
                        .with_annotations(::agcore_tools::ToolAnnotations::new().with_read_only(true))
                    )
                }
            },
        );
    }

    #[test]
    fn a_tool_without_arguments_has_no_type_for_them() {
        check(
            quote!(crate = agcore::tools, blocking, associated),
            quote! {
                /// Waits.
                fn wait() -> Result<(), ToolError> {}
            },
            quote! {
                /// Waits.
                fn wait() -> Result<(), ToolError> {}

                #[doc = "Creates the tool whose calls run [`wait`]."]
                #[allow(deprecated)]
                fn wait_tool() -> agcore::tools::Registration {
                    agcore::tools::Registration::new(
                        agcore::tools::typed(
                            "wait",
                            "Waits.",
                            move |arguments: agcore::tools::NoArguments,| async move {
                                #[allow(unused_imports)]
                                use agcore::tools::__private::Plain as _;
                                let output = agcore::tools::__private::Returned(Self::wait()).into_result();
                                agcore::tools::IntoToolOutput::into_output(
                                    output.map_err(agcore::tools::__private::IntoToolError::into_tool_error)?
                                )
                            }
                        )
                        .with_blocking(true)
                    )
                }
            },
        );
    }
}

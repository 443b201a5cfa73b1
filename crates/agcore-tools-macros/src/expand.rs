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
    let Tool {
        options,
        function,
        name,
        description,
    } = tool;
    let tools = &options.tools;
    let (outer, visibility, ident) = (
        &function.attributes.outer,
        &function.visibility,
        &function.name,
    );
    let arguments = arguments(tool);
    let inner = inner(tool);
    let checks = checks(tool);
    let closure = closure(tool, &arguments.ty);
    let declaration = &arguments.declaration;
    let (permissions, annotations, output) =
        (permissions(options), annotations(options), output(options));
    // What does not fit the bounds of `typed` is shown at the function's name.
    let typed = quote_spanned!(at(ident)=> #tools::typed);
    quote! {
        #(#outer)*
        #visibility fn #ident() -> impl #tools::BaseTool + ::core::fmt::Debug {
            #declaration
            #inner
            #checks
            #typed(#name, #description, #closure) #permissions #annotations #output
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
    let from_context = tool.function.parameters.iter().filter(|parameter| matches!(parameter.source, Source::Context));
    from_context
        .map(|Parameter { ty, .. }| quote_spanned!(at(ty)=> let _ = <#ty as #tools::FromContext>::check;))
        .collect()
}

/// Takes the arguments apart and calls the function with them.
fn closure(tool: &Tool, arguments: &TokenStream) -> TokenStream {
    let (tools, function) = (&tool.options.tools, &tool.function);
    let (ident, output) = (&function.name, &function.output);
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
    // So that the compiler points at a return type that does not fit, not at all of the closure.
    let result = quote_spanned! {at(output)=>
        let output: ::core::result::Result<_, #tools::ToolError> = #ident(#(#values),*).await;
        #tools::IntoToolOutput::into_output(output?)
    };
    quote!(move |#all: #arguments, #(#taken),*| async move { #result })
}

fn permissions(options: &Options) -> Option<TokenStream> {
    let tools = &options.tools;
    let mut permissions = options.permissions.iter().map(|permission| permission.expression(tools)).peekable();
    permissions.peek()?;
    Some(quote!(.with_permissions([#(#permissions),*])))
}

fn annotations(options: &Options) -> Option<TokenStream> {
    let tools = &options.tools;
    let mut annotations = options.annotations.iter().map(|annotation| {
        let method = format_ident!("with_{}", annotation.name);
        let value = &annotation.value;
        quote!(.#method(#value))
    }).peekable();
    annotations.peek()?;
    Some(quote!(.with_annotations(#tools::ToolAnnotations::new() #(#annotations)*)))
}

fn output(options: &Options) -> Option<TokenStream> {
    options.output.as_ref().map(|ty| quote!(.with_output::<#ty>()))
}

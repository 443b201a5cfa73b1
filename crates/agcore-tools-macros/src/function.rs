//! [`Function`]: the function below `#[tool]`.

use proc_macro2::TokenStream;
use syn::{
    Attribute, Block, Error, FnArg, Ident, Item, ItemFn, Result, ReturnType, Safety, Signature, Type, Visibility,
    punctuated::Punctuated, token,
};

use crate::{
    documentation,
    parameter::{Parameter, Source},
    problems::Problems,
};

/// The function below `#[tool]`.
pub(crate) struct Function {
    pub(crate) attributes: Attributes,
    pub(crate) visibility: Visibility,
    pub(crate) name: Ident,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) output: Type,
    pub(crate) asyncness: Option<token::Async>,
    pub(crate) fn_token: token::Fn,
    pub(crate) body: Block,
}

/// The attributes of the function, sorted by where they are emitted.
#[derive(Default)]
pub(crate) struct Attributes {
    /// `serde` and `schemars`: emitted on the type of the arguments.
    pub(crate) arguments: Vec<Attribute>,
    /// All others: emitted on the function.
    pub(crate) function: Vec<Attribute>,
}

/// The number of parameters beside the arguments that `typed` supports.
const MAX_FROM_CONTEXT: usize = 4;

impl Function {
    /// Parses the item below the attribute. Returns `None` and adds to `problems` if it is invalid.
    pub(crate) fn parse(item: TokenStream, problems: &mut Problems) -> Option<Self> {
        let function = problems.ok(item_fn(item))?;
        check_signature(&function.sig, problems);
        let Signature {
            asyncness,
            fn_token,
            ident,
            inputs,
            output,
            ..
        } = function.sig;
        let parameters = parameters(inputs, problems);
        let output = match output {
            ReturnType::Type(_, output) => Some(*output),
            ReturnType::Default => {
                problems.add(
                    &ident,
                    "a tool must return what the model sees: a value, or a result such as `Result<String, ToolError>`",
                );
                None
            }
        };
        Some(Self {
            attributes: Attributes::sort(function.attrs),
            visibility: function.vis,
            name: ident,
            parameters: parameters?,
            output: output?,
            asyncness,
            fn_token,
            body: *function.block,
        })
    }

    /// Returns the text of the doc comment.
    ///
    /// # Errors
    /// When the doc comment is not literal text.
    pub(crate) fn documentation(&self) -> Result<Option<String>> {
        documentation::text(&self.attributes.function)
    }
}

impl Attributes {
    fn sort(attributes: Vec<Attribute>) -> Self {
        let mut sorted = Self::default();
        for attribute in attributes {
            let has_name = |name: &&str| attribute.path().is_ident(name);
            let list = if ["serde", "schemars"].iter().any(has_name) {
                &mut sorted.arguments
            } else {
                &mut sorted.function
            };
            list.push(attribute);
        }
        sorted
    }
}

fn item_fn(item: TokenStream) -> Result<ItemFn> {
    match syn::parse2(item)? {
        Item::Fn(function) => Ok(function),
        other => Err(Error::new_spanned(other, "`#[tool]` must be on a function")),
    }
}

fn check_signature(signature: &Signature, problems: &mut Problems) {
    if let Some(constness) = &signature.constness {
        problems.add(constness, "a tool cannot be `const`");
    }
    if let Safety::Unsafe(unsafety) = &signature.safety {
        problems.add(unsafety, "a tool cannot be unsafe: a model calls it");
    }
    if let Some(abi) = &signature.abi {
        problems.add(abi, "a tool cannot declare an ABI");
    }
    if let Some(variadic) = &signature.variadic {
        problems.add(variadic, "a tool cannot be variadic");
    }
    let generics = &signature.generics;
    if generics.lt_token.is_some() {
        problems.add(
            generics,
            "a tool cannot be generic, because the model receives one schema: write a tool for each type or use `typed`",
        );
    }
    if let Some(clause) = &generics.where_clause {
        problems.add(
            clause,
            "a tool cannot have a `where` clause, because it cannot be generic",
        );
    }
}

/// Parses the parameters. Returns `None` and adds to `problems` if any of them is invalid.
fn parameters(inputs: Punctuated<FnArg, token::Comma>, problems: &mut Problems) -> Option<Vec<Parameter>> {
    let parsed: Vec<_> = inputs
        .into_iter()
        .map(|input| Parameter::parse(input, problems))
        .collect();
    let mut from_context = parsed
        .iter()
        .flatten()
        .filter(|parameter| matches!(parameter.source, Source::Context));
    if let Some(surplus) = from_context.nth(MAX_FROM_CONTEXT) {
        problems.add(
            &surplus.ty,
            format!(
                "a tool supports at most {MAX_FROM_CONTEXT} values from the context; `ToolContext` gives access to all of \
                 them"
            ),
        );
    }
    parsed.into_iter().collect()
}

//! [`Function`]: the async function under `#[tool]`.

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

/// The async function under `#[tool]`.
pub(crate) struct Function {
    pub(crate) attributes: Attributes,
    pub(crate) visibility: Visibility,
    pub(crate) name: Ident,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) output: Type,
    pub(crate) body: Block,
}

/// The function's attributes, by where they go.
#[derive(Default)]
pub(crate) struct Attributes {
    /// Docs, lints and what decides whether it is there at all: on what the function becomes.
    pub(crate) outer: Vec<Attribute>,
    /// `serde` and `schemars`: on the arguments.
    pub(crate) arguments: Vec<Attribute>,
    /// Others: on the function itself.
    pub(crate) inner: Vec<Attribute>,
}

const OUTER: [&str; 9] = [
    "allow",
    "cfg",
    "deny",
    "deprecated",
    "doc",
    "expect",
    "forbid",
    "must_use",
    "warn",
];

/// As many as `typed` allows beside the arguments.
const MAX_FROM_CONTEXT: usize = 4;

impl Function {
    /// Reads the item under the attribute; `None` when there was a problem with it.
    pub(crate) fn read(item: TokenStream, problems: &mut Problems) -> Option<Self> {
        let function = problems.take(item_fn(item))?;
        check_signature(&function.sig, problems);
        let Signature {
            ident, inputs, output, ..
        } = function.sig;
        let parameters = parameters(inputs, problems);
        let output = match output {
            ReturnType::Type(_, output) => Some(*output),
            ReturnType::Default => {
                problems.add(&ident, "a tool gives back `Result<T, ToolError>`");
                None
            }
        };
        Some(Self {
            attributes: Attributes::sort(function.attrs),
            visibility: function.vis,
            name: ident,
            parameters: parameters?,
            output: output?,
            body: *function.block,
        })
    }

    /// The text of its doc comment.
    ///
    /// # Errors
    /// When it is not plain text.
    pub(crate) fn documentation(&self) -> Result<Option<String>> {
        documentation::text(&self.attributes.outer)
    }
}

impl Attributes {
    fn sort(attributes: Vec<Attribute>) -> Self {
        let mut sorted = Self::default();
        for attribute in attributes {
            let is = |name: &&str| attribute.path().is_ident(name);
            let place = if OUTER.iter().any(is) {
                &mut sorted.outer
            } else if ["serde", "schemars"].iter().any(is) {
                &mut sorted.arguments
            } else {
                &mut sorted.inner
            };
            place.push(attribute);
        }
        sorted
    }
}

fn item_fn(item: TokenStream) -> Result<ItemFn> {
    match syn::parse2(item)? {
        Item::Fn(function) => Ok(function),
        other => Err(Error::new_spanned(other, "`#[tool]` stands on an async function")),
    }
}

fn check_signature(signature: &Signature, problems: &mut Problems) {
    if signature.asyncness.is_none() {
        problems.add(signature.fn_token, "a tool is an async function: write `async fn`");
    }
    if let Some(constness) = &signature.constness {
        problems.add(constness, "a tool is not `const`");
    }
    if let Safety::Unsafe(unsafety) = &signature.safety {
        problems.add(unsafety, "a tool is safe to call: a model calls it");
    }
    if let Some(abi) = &signature.abi {
        problems.add(abi, "a tool has no ABI of its own");
    }
    if let Some(variadic) = &signature.variadic {
        problems.add(variadic, "a tool has a fixed list of parameters");
    }
    let generics = &signature.generics;
    if generics.lt_token.is_some() {
        problems.add(
            generics,
            "a tool has no generics: the model is told of one schema; write a tool for each type, or use `typed`",
        );
    }
    if let Some(clause) = &generics.where_clause {
        problems.add(clause, "a tool has no generics, so there is nothing to bound");
    }
}

/// `None` when any of them cannot be read.
fn parameters(inputs: Punctuated<FnArg, token::Comma>, problems: &mut Problems) -> Option<Vec<Parameter>> {
    let read: Vec<_> = inputs
        .into_iter()
        .map(|input| Parameter::read(input, problems))
        .collect();
    let mut from_context = read
        .iter()
        .flatten()
        .filter(|parameter| matches!(parameter.source, Source::Context));
    if let Some(surplus) = from_context.nth(MAX_FROM_CONTEXT) {
        problems.add(
            &surplus.ty,
            format!("a tool takes at most {MAX_FROM_CONTEXT} values from the context; `ToolContext` has them all"),
        );
    }
    read.into_iter().collect()
}

//! [`Parameter`]: a parameter of the function, provided by the model or extracted from the context.

use syn::{Attribute, FnArg, Ident, Meta, Pat, PatIdent, PatType, Type};

use crate::{documentation::is_doc, problems::Problems, types};

/// A parameter of the function.
pub(crate) struct Parameter {
    /// The attributes that stay on the original function: lints.
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) pattern: Pat,
    pub(crate) ty: Type,
    pub(crate) source: Source,
}

/// The source of the value.
pub(crate) enum Source {
    /// The model: the name of the field in the arguments, and its attributes.
    Model(Ident, Vec<Attribute>),
    /// The context of the call.
    Context,
}

const LINTS: [&str; 5] = ["allow", "deny", "expect", "forbid", "warn"];

impl Parameter {
    /// Parses a parameter. Returns `None` and adds to `problems` if it is invalid.
    pub(crate) fn parse(input: FnArg, problems: &mut Problems) -> Option<Self> {
        match input {
            FnArg::Receiver(receiver) => {
                problems.add(
                    receiver,
                    "a tool cannot be a method: take the data it needs as `State<T>` instead of `self`",
                );
                None
            }
            FnArg::Typed(parameter) => Self::parse_typed(parameter, problems),
        }
    }

    fn parse_typed(parameter: PatType, problems: &mut Problems) -> Option<Self> {
        let PatType { attrs, pat, ty, .. } = parameter;
        let (marks, attrs): (Vec<_>, Vec<_>) = attrs
            .into_iter()
            .partition(|attribute| attribute.path().is_ident("context"));
        check_marks(&marks, problems);
        let (attributes, on_field): (Vec<_>, Vec<_>) = attrs.into_iter().partition(is_lint);

        let source = if marks.is_empty() && !types::is_from_context(&ty) {
            check_argument(&ty, &on_field, problems);
            Source::Model(argument_name(&pat, problems)?, on_field)
        } else {
            check_context(&on_field, problems);
            Source::Context
        };
        Some(Self {
            attributes,
            pattern: *pat,
            ty: *ty,
            source,
        })
    }
}

fn is_lint(attribute: &Attribute) -> bool {
    LINTS.iter().any(|lint| attribute.path().is_ident(lint))
}

/// Returns whether the attribute is one of the derives of the arguments.
pub(crate) fn is_for_derive(attribute: &Attribute) -> bool {
    attribute.path().is_ident("serde") || attribute.path().is_ident("schemars")
}

fn check_marks(marks: &[Attribute], problems: &mut Problems) {
    for mark in marks {
        if !matches!(mark.meta, Meta::Path(_)) {
            problems.add(mark, "`#[context]` takes no arguments");
        }
    }
    if let [_, second, ..] = marks {
        problems.add(second, "`#[context]` is given twice");
    }
}

fn check_argument(ty: &Type, attributes: &[Attribute], problems: &mut Problems) {
    if let Some((part, reason)) = types::unsupported(ty) {
        problems.add(part, reason);
    }
    for attribute in attributes {
        if !is_doc(attribute) && !is_for_derive(attribute) {
            problems.add(
                attribute,
                "a parameter supports only doc comments, `#[serde(…)]`, `#[schemars(…)]`, `#[context]` and lints",
            );
        }
    }
}

fn check_context(attributes: &[Attribute], problems: &mut Problems) {
    // A doc comment is allowed for readers of the code.
    for attribute in attributes.iter().filter(|attribute| !is_doc(attribute)) {
        problems.add(
            attribute,
            "this parameter is extracted from the context and never seen by the model: it supports only `#[context]`, \
             doc comments and lints",
        );
    }
}

/// Returns the name that the model uses for the argument.
fn argument_name(pattern: &Pat, problems: &mut Problems) -> Option<Ident> {
    match pattern {
        Pat::Ident(PatIdent {
            by_ref: None,
            ident,
            subpat: None,
            ..
        }) => Some(ident.clone()),
        other => {
            problems.add(
                other,
                "an argument must have a plain name, which the model uses; destructure it in the body",
            );
            None
        }
    }
}

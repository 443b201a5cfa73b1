//! [`Parameter`]: one of the function, from the model or from the context.

use syn::{Attribute, FnArg, Ident, Meta, Pat, PatIdent, PatType, Type};

use crate::{documentation::is_doc, problems::Problems, types};

/// One parameter of the function.
pub(crate) struct Parameter {
    /// What the function keeps of its attributes: lints.
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) pattern: Pat,
    pub(crate) ty: Type,
    pub(crate) source: Source,
}

/// Where its value comes from.
pub(crate) enum Source {
    /// The model: a field of the arguments, and what stands on it.
    Model(Ident, Vec<Attribute>),
    /// The run that the call belongs to.
    Context,
}

const LINTS: [&str; 5] = ["allow", "deny", "expect", "forbid", "warn"];

impl Parameter {
    /// Reads a parameter; `None` when there was a problem with it.
    pub(crate) fn read(input: FnArg, problems: &mut Problems) -> Option<Self> {
        match input {
            FnArg::Receiver(receiver) => {
                problems.add(
                    receiver,
                    "a tool is a function of its own: take what it needs as `State<T>` instead of `self`",
                );
                None
            }
            FnArg::Typed(parameter) => Self::read_typed(parameter, problems),
        }
    }

    fn read_typed(parameter: PatType, problems: &mut Problems) -> Option<Self> {
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

fn is_for_schema(attribute: &Attribute) -> bool {
    attribute.path().is_ident("serde") || attribute.path().is_ident("schemars")
}

fn check_marks(marks: &[Attribute], problems: &mut Problems) {
    for mark in marks {
        if !matches!(mark.meta, Meta::Path(_)) {
            problems.add(mark, "`#[context]` stands alone");
        }
    }
    if let [_, second, ..] = marks {
        problems.add(second, "`#[context]` is given twice");
    }
}

fn check_argument(ty: &Type, attributes: &[Attribute], problems: &mut Problems) {
    if let Some((part, why)) = types::unfit(ty) {
        problems.add(part, why);
    }
    for attribute in attributes {
        if !is_doc(attribute) && !is_for_schema(attribute) {
            problems.add(
                attribute,
                "on a parameter there can be doc comments, `#[serde(…)]`, `#[schemars(…)]`, `#[context]` and lints",
            );
        }
    }
}

fn check_context(attributes: &[Attribute], problems: &mut Problems) {
    // A doc comment is for who reads the code.
    for attribute in attributes.iter().filter(|attribute| !is_doc(attribute)) {
        problems.add(
            attribute,
            "this parameter comes from the context, the model never sees it: on it there can be `#[context]`, doc \
             comments and lints",
        );
    }
}

/// The name under which the model gives it.
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
                "an argument needs a plain name: the model gives it by that name; take it apart in the body",
            );
            None
        }
    }
}

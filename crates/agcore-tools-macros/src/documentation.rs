//! Doc comments as text for the model.

use syn::{Attribute, Error, Expr, ExprLit, Lit, Meta, Result};

/// The text of the doc comments among these attributes; `None` when they say nothing.
///
/// # Errors
/// When a part is not plain text.
pub(crate) fn text(attributes: &[Attribute]) -> Result<Option<String>> {
    let mut lines = Vec::new();
    for attribute in attributes {
        // `#[doc(hidden)]` and the like are no text.
        if let (true, Meta::NameValue(doc)) = (is_doc(attribute), &attribute.meta) {
            let line = line(&doc.value)?;
            lines.push(line.strip_prefix(' ').unwrap_or(&line).trim_end().to_owned());
        }
    }
    let text = lines.join("\n").trim().to_owned();
    Ok((!text.is_empty()).then_some(text))
}

/// Whether it is a doc comment or another `#[doc]`.
pub(crate) fn is_doc(attribute: &Attribute) -> bool {
    attribute.path().is_ident("doc")
}

fn line(value: &Expr) -> Result<String> {
    match value {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text), ..
        }) => Ok(text.value()),
        // A fragment of a `macro_rules` macro.
        Expr::Group(group) => line(&group.expr),
        other => Err(Error::new_spanned(
            other,
            "only literal text can become the description; write `#[tool(description = …)]` with this expression",
        )),
    }
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    #[track_caller]
    fn check(attributes: &[Attribute], expected: Option<&str>) {
        assert_eq!(text(attributes).unwrap().as_deref(), expected);
    }

    #[test]
    fn lines_are_joined_and_keep_their_indent() {
        let doc: [Attribute; 5] = [
            parse_quote!(#[doc = " Looks a word up."]),
            parse_quote!(#[allow(dead_code)]),
            parse_quote!(#[doc = ""]),
            parse_quote!(#[doc = " - first:  "]),
            parse_quote!(#[doc = "   its \"meaning\""]),
        ];
        check(&doc, Some("Looks a word up.\n\n- first:\n  its \"meaning\""));
    }

    #[test]
    fn silence_is_no_text() {
        check(&[], None);
        check(&[parse_quote!(#[doc = "  "]), parse_quote!(#[doc(hidden)])], None);
    }
}

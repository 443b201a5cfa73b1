//! Converts doc comments into text for the model.

use syn::{Attribute, Error, Expr, ExprLit, Lit, Meta, Result};

/// Returns the text of the doc comments among these attributes; `None` if it is empty.
///
/// # Errors
/// When a part of the text is not a literal.
pub(crate) fn text(attributes: &[Attribute]) -> Result<Option<String>> {
    let mut lines = Vec::new();
    for attribute in attributes {
        // Skips `#[doc(hidden)]` and similar attributes, which contain no text.
        if let (true, Meta::NameValue(doc)) = (is_doc(attribute), &attribute.meta) {
            let line = line(&doc.value)?;
            lines.push(line.strip_prefix(' ').unwrap_or(&line).trim_end().to_owned());
        }
    }
    let text = lines.join("\n").trim().to_owned();
    Ok((!text.is_empty()).then_some(text))
}

/// Returns whether the attribute is a doc comment or another `#[doc]`.
pub(crate) fn is_doc(attribute: &Attribute) -> bool {
    attribute.path().is_ident("doc")
}

fn line(value: &Expr) -> Result<String> {
    match value {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text), ..
        }) => Ok(text.value()),
        // A fragment that a `macro_rules` macro has inserted.
        Expr::Group(group) => line(&group.expr),
        other => Err(Error::new_spanned(
            other,
            "the doc comment must be literal text to become the description; write `#[tool(description = …)]` with this \
             expression",
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
    fn joins_lines_and_keeps_indentation() {
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
    fn an_empty_doc_comment_is_no_text() {
        check(&[], None);
        check(&[parse_quote!(#[doc = "  "]), parse_quote!(#[doc(hidden)])], None);
    }
}

//! Every source file opens by saying what it is.

use syn::{Attribute, Expr, ExprLit, Lit, Meta};

use crate::finding::Finding;
use crate::sources::{SourceFile, Sources};

/// Looks at the sources of crates, of the task runner and of the examples.
pub(super) fn findings(sources: &Sources) -> Vec<Finding> {
    let files = sources.iter().filter(|file| is_ours(file));
    files.filter_map(finding).collect()
}

fn is_ours(file: &SourceFile) -> bool {
    let is_beside = file.path.starts_with("xtask/src/") || file.path.starts_with("examples/");
    file.is_crate_source() || (is_beside && file.is_rust())
}

fn finding(file: &SourceFile) -> Option<Finding> {
    match syn::parse_file(&file.text) {
        Err(error) => Some(Finding::new(
            format!("{}:{}", file.path, error.span().start().line),
            format!("it does not parse: {error}"),
            "mend the file; other checks pass it over",
        )),
        Ok(parsed) if parsed.attrs.iter().any(says_something) => None,
        Ok(_) => Some(Finding::new(
            &file.path,
            "it has no module docs",
            "open the file with `//!` and a sentence that says what it holds",
        )),
    }
}

/// A doc attribute with text: a `//!` line, or a page that is included.
fn says_something(attribute: &Attribute) -> bool {
    match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(ExprLit {
                lit: Lit::Str(text), ..
            }) => !text.value().trim().is_empty(),
            Expr::Macro(_) => true,
            _ => false,
        },
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, text: &str, expected: Option<&str>) {
        let found = findings(&Sources::from([(path, text)]));
        match expected {
            None => assert_eq!(found, []),
            Some(expected) => assert!(found[0].to_string().contains(expected), "{found:?}"),
        }
    }

    #[test]
    fn a_file_without_docs_is_found() {
        check(
            "crates/agcore-chat/src/usage.rs",
            "/// Tokens.\npub struct Usage;",
            Some("no module docs"),
        );
        check(
            "crates/agcore-chat/src/usage.rs",
            "//!\npub struct Usage;",
            Some("no module docs"),
        );
        check("examples/chat.rs", "fn main() {}", Some("no module docs"));
        check("xtask/src/main.rs", "", Some("no module docs"));
    }

    #[test]
    fn docs_may_be_written_or_included() {
        check("crates/agcore-chat/src/usage.rs", "//! Usage.\npub struct Usage;", None);
        check(
            "crates/agcore-chat/src/lib.rs",
            "#![doc = include_str!(\"../README.md\")]",
            None,
        );
    }

    #[test]
    fn tests_and_fixtures_need_none() {
        check("crates/agcore-chat/tests/it/usage.rs", "fn f() {}", None);
    }

    #[test]
    fn a_file_that_does_not_parse_is_found() {
        check(
            "crates/agcore-chat/src/usage.rs",
            "//! Usage.\nfn (",
            Some("does not parse"),
        );
    }
}

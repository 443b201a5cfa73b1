//! Module files: every source file starts with docs, and the root of a module is next to its folder.

use syn::{Attribute, Expr, ExprLit, Lit, Meta};

use crate::report::finding::Finding;
use crate::source::sources::{SourceFile, Sources};

/// Checks the sources of crates, of xtask and of the examples.
pub(super) fn docs(sources: &Sources) -> Vec<Finding> {
    let files = sources.iter().filter(|file| is_checked(file));
    files.filter_map(finding).collect()
}

fn is_checked(file: &SourceFile) -> bool {
    let is_outside_crates = file.path.starts_with("xtask/src/") || file.path.starts_with("examples/");
    file.is_crate_source() || (is_outside_crates && file.is_rust())
}

fn finding(file: &SourceFile) -> Option<Finding> {
    match file.syntax() {
        Err(error) => Some(Finding::new(
            format!("{}:{}", file.path, error.span().start().line),
            format!("the file does not parse: {error}"),
            "fix the file; the other checks ignore it",
        )),
        Ok(parsed) if parsed.attrs.iter().any(has_text) => None,
        Ok(_) => Some(Finding::new(
            &file.path,
            "the file has no module docs",
            "start the file with `//!` and a sentence about its content",
        )),
    }
}

/// Returns whether an attribute documents the file: a `//!` line with text, or an included page.
fn has_text(attribute: &Attribute) -> bool {
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

/// Searches for `foo/mod.rs` instead of `foo.rs`, also in tests.
pub(super) fn roots(sources: &Sources) -> Vec<Finding> {
    let roots = sources.iter().filter(|file| file.path.ends_with("/mod.rs"));
    let finding = |path: &str| {
        let folder = path.trim_end_matches("/mod.rs");
        Finding::new(
            path,
            "module root inside its folder",
            format!("rename it to {folder}.rs"),
        )
    };
    roots.map(|file| finding(&file.path)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, text: &str, expected: Option<&str>) {
        let found = docs(&Sources::from([(path, text)]));
        match expected {
            None => assert_eq!(found, []),
            Some(expected) => assert!(found[0].to_string().contains(expected), "{found:?}"),
        }
    }

    #[test]
    fn finds_a_file_without_docs() {
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
    fn accepts_written_and_included_docs() {
        check("crates/agcore-chat/src/usage.rs", "//! Usage.\npub struct Usage;", None);
        check(
            "crates/agcore-chat/src/lib.rs",
            "#![doc = include_str!(\"../README.md\")]",
            None,
        );
    }

    #[test]
    fn ignores_tests() {
        check("crates/agcore-chat/tests/it/usage.rs", "fn f() {}", None);
    }

    #[test]
    fn finds_a_file_that_does_not_parse() {
        check(
            "crates/agcore-chat/src/usage.rs",
            "//! Usage.\nfn (",
            Some("does not parse"),
        );
    }

    #[test]
    fn finds_a_root_inside_its_folder() {
        let sources = Sources::from([("crates/a/src/wire/mod.rs", ""), ("crates/a/src/mod_name.rs", "")]);
        let found = roots(&sources);
        assert_eq!(found.len(), 1);
        assert!(found[0].to_string().contains("rename it to crates/a/src/wire.rs"));
    }
}

//! Programs in pages that people read as Markdown have no lines that only rustdoc hides: a copy of them has to compile.

use crate::report::finding::Finding;
use crate::source::markdown;
use crate::source::sources::{SourceFile, Sources};

/// Checks the Rust blocks of the guide and of all READMEs.
pub(super) fn findings(sources: &Sources) -> Vec<Finding> {
    let pages = sources.iter().filter(|file| is_page(&file.path));
    pages.flat_map(in_page).collect()
}

/// Returns whether a file is a page that is read as it is, on GitHub or in an editor.
fn is_page(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let is_readme = name.starts_with("README.");
    path.ends_with(".md") && (is_readme || path.starts_with("docs/guide/"))
}

fn in_page(page: &SourceFile) -> impl Iterator<Item = Finding> {
    let hidden = markdown::rust_lines(&page.text).filter(|(_, line)| is_hidden(line.trim()));
    hidden.map(|(number, line)| {
        Finding::new(
            format!("{}:{number}", page.path),
            format!("rustdoc hides `{}`, and readers of the page copy it", line.trim()),
            "show a whole program or a function without hidden lines",
        )
    })
}

/// Returns whether rustdoc hides a line, or removes its first `#`.
fn is_hidden(line: &str) -> bool {
    line == "#" || line.starts_with("# ") || line.starts_with("##")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, text: &str, expected: &[&str]) {
        let found = findings(&Sources::from([(path, text)]));
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for (finding, expected) in found.iter().zip(expected) {
            assert!(finding.to_string().starts_with(expected), "{finding}");
        }
    }

    const HIDDEN: &str = "# A\n\n```rust,no_run\n# fn main() {\nf();\n    #\n# }\n## x\n```\n";

    #[test]
    fn finds_hidden_lines_of_rust() {
        let page = "docs/guide/a.md";
        check(
            page,
            HIDDEN,
            &[
                "docs/guide/a.md:4: rustdoc hides `# fn main() {`",
                "docs/guide/a.md:6: rustdoc hides `#`",
                "docs/guide/a.md:7: rustdoc hides `# }`",
                "docs/guide/a.md:8: rustdoc hides `## x`",
            ],
        );
        check(page, "```\n# f();\n```\n", &["docs/guide/a.md:2: "]);
    }

    #[test]
    fn other_lines_and_other_languages_may_start_with_a_hash() {
        let text =
            "# A\n\n```rust\n#[tokio::main]\n#![allow(dead_code)]\n```\n\n```toml\n# a\n```\n\n```sh\n# b\n```\n";
        check("docs/guide/a.md", text, &[]);
    }

    #[test]
    fn the_guide_and_all_readmes_are_checked() {
        for page in [
            "README.md",
            "README.zh-CN.md",
            "crates/a/README.md",
            "docs/guide/b.zh-CN.md",
        ] {
            assert_eq!(findings(&Sources::from([(page, HIDDEN)])).len(), 4, "{page}");
        }
        // Pages that only rustdoc shows.
        check("crates/a/docs/permissions.md", HIDDEN, &[]);
        check("crates/a/src/language.md", HIDDEN, &[]);
    }
}

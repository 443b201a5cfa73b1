//! Comments and the map of the workspace have lines of limited width: rustfmt does not wrap them.

use crate::report::finding::Finding;
use crate::source::rust_comments::comments;
use crate::source::sources::{SourceFile, Sources};

/// The most characters of a line: those of code, and a word.
const MAX_WIDTH: usize = 132;

/// The map of the workspace, whose paragraphs are wrapped like comments.
const MAP: &str = "docs/architecture.md";

/// Measures the comments of crates, and the map. Tables, addresses and code may be wider, because they cannot be wrapped.
pub(in crate::tidy) fn findings(sources: &Sources) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in sources.iter() {
        if file.is_crate_source() {
            findings.extend(wide(file, &comment_lines(file)));
        } else if file.path == MAP {
            findings.extend(wide(file, &file.text.lines().enumerate().collect::<Vec<_>>()));
        }
    }
    findings
}

/// Returns the lines that are nothing but a comment, each with its index.
fn comment_lines(file: &SourceFile) -> Vec<(usize, &str)> {
    let all: Vec<&str> = file.text.lines().collect();
    let comments = comments(&file.text).into_iter();
    let indices = comments.flat_map(|comment| (0..comment.lines.len()).map(move |at| comment.line - 1 + at));
    let lines = indices.filter_map(|index| Some((index, *all.get(index)?)));
    lines.filter(|(_, line)| line.trim_start().starts_with("//")).collect()
}

fn wide(file: &SourceFile, lines: &[(usize, &str)]) -> Vec<Finding> {
    let mut is_code = false;
    let mut texts = Vec::new();
    for line in lines {
        let is_fence = content(line.1).starts_with("```");
        is_code ^= is_fence;
        if !is_code && !is_fence {
            texts.push(line);
        }
    }
    let wide = texts.into_iter().filter(|(_, line)| line.chars().count() > MAX_WIDTH);
    let wide = wide.filter(|(_, line)| !is_exempt(line));
    let finding = |(index, line): &(usize, &str)| {
        let width = line.chars().count();
        Finding::new(
            format!("{}:{}", file.path, index + 1),
            format!("a line of {width} characters, {MAX_WIDTH} are allowed"),
            "wrap it",
        )
    };
    wide.map(finding).collect()
}

/// Returns whether a line is a row of a table, or contains an address.
fn is_exempt(line: &str) -> bool {
    let content = content(line);
    content.starts_with('|') || content.contains("://")
}

/// Returns a line without the marker of a comment.
fn content(line: &str) -> &str {
    line.trim_start().trim_start_matches(['/', '!']).trim_start()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, line: &str, is_wide: bool) {
        let text = format!("//! A module.\n{line}\nfn f() {{}}\n");
        let found = findings(&Sources::from([(path, text.as_str())]));
        assert_eq!(found.len(), usize::from(is_wide), "{path}: {line} {found:?}");
        if let [found] = &found[..] {
            assert!(
                found.to_string().starts_with(&format!("{path}:2: a line of ")),
                "{found}"
            );
        }
    }

    /// Returns a text of this many characters.
    fn text(width: usize) -> String {
        "字 ".repeat(width / 2) + &"x".repeat(width % 2)
    }

    #[test]
    fn wide_comments_are_found() {
        let path = "crates/a/src/b.rs";
        for marker in ["/// ", "//! ", "// ", "    /// "] {
            let room = MAX_WIDTH - marker.len();
            check(path, &format!("{marker}{}", text(room)), false);
            check(path, &format!("{marker}{}", text(room + 1)), true);
        }
        for exempt in ["/// | a |", "/// [`a`]: https://example.org/", "let a = \"", "f(); // "] {
            check(path, &format!("{exempt}{}", text(MAX_WIDTH)), false);
        }
        check("crates/a/tests/it/b.rs", &format!("// {}", text(MAX_WIDTH)), false);
    }

    #[test]
    fn wide_lines_of_the_map_are_found() {
        let wide = text(MAX_WIDTH + 1);
        check(MAP, &wide, true);
        check(MAP, &format!("| {wide} |"), false);
        check(MAP, &format!("```\n{wide}\n```"), false);
        check("docs/cli.md", &wide, false);
    }
}

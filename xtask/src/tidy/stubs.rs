//! Code is finished: no stubs, no notes about missing work, no test that is ignored without a reason.

use crate::report::finding::Finding;
use crate::source::rust_source;
use crate::source::sources::{SourceFile, Sources};

const MACROS: &[&str] = &["todo", "unimplemented"];

/// Words that mark unfinished work, concatenated so that this file contains none.
const WORDS: &[&str] = &[
    concat!("FIX", "ME"),
    concat!("X", "XX"),
    concat!("not yet ", "implemented"),
    concat!("// TO", "DO"),
];

/// Checks all Rust files, and searches manifests and scripts for the words.
pub(super) fn findings(sources: &Sources) -> Vec<Finding> {
    let files = sources.iter().filter(|file| file.is_rust() || is_script(file));
    files
        .flat_map(|file| in_words(file).chain(in_tokens(file)).collect::<Vec<_>>())
        .collect()
}

fn is_script(file: &SourceFile) -> bool {
    let is_known = matches!(file.extension(), Some("sh" | "toml" | "yml" | "yaml"));
    is_known || file.path.starts_with(".ci/")
}

fn in_words(file: &SourceFile) -> impl Iterator<Item = Finding> {
    let lines = file.text.lines().zip(1..);
    lines.flat_map(move |(line, number)| {
        let words = WORDS
            .iter()
            .filter(move |word| contains_word(line, word))
            .map(|word| format!("`{word}`"));
        let in_examples = MACROS.iter().filter(move |name| calls_macro_in_docs(line, name));
        let in_examples = in_examples.map(|name| format!("`{name}!` in an example"));
        words
            .chain(in_examples)
            .map(move |problem| finding(file, number, &problem))
    })
}

fn in_tokens(file: &SourceFile) -> impl Iterator<Item = Finding> {
    let tokens = file.tokens().cloned().unwrap_or_default();
    let calls = rust_source::macro_calls(tokens.clone()).into_iter();
    let calls = calls.filter(|(name, _)| MACROS.contains(&name.as_str()));
    let calls = calls.map(|(name, line)| (format!("`{name}!`"), line));
    let ignores = rust_source::bare_ignores(tokens).into_iter();
    let ignores = ignores.map(|line| ("`#[ignore]` without a reason".to_owned(), line));
    calls
        .chain(ignores)
        .map(|(problem, line)| finding(file, line, &problem))
}

fn finding(file: &SourceFile, line: usize, problem: &str) -> Finding {
    Finding::new(
        format!("{}:{line}", file.path),
        problem,
        "finish it or remove it; an ignored test needs a reason",
    )
}

/// Returns whether the line contains the word on its own, as opposed to inside a longer one.
fn contains_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(start, _)| {
        let before = line[..start].chars().next_back();
        let after = line[start + word.len()..].chars().next();
        let joins = |neighbour: Option<char>| neighbour.is_some_and(|c| c.is_alphanumeric() || c == '_');
        !joins(before) && !joins(after)
    })
}

/// Returns whether the line is an example in a doc comment that calls the macro.
fn calls_macro_in_docs(line: &str, name: &str) -> bool {
    let line = line.trim_start();
    let is_doc = line.starts_with("///") || line.starts_with("//!");
    is_doc && line.contains(&format!("{name}!("))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, text: &str, expected: &[&str]) {
        let found = findings(&Sources::from([(path, text)]));
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for (finding, expected) in found.iter().zip(expected) {
            assert!(finding.to_string().contains(expected), "{finding}");
        }
    }

    #[test]
    fn finds_unfinished_code() {
        check("crates/a/src/lib.rs", "fn f() {\n todo!()\n}", &["lib.rs:2: `todo!`"]);
        check(
            "crates/a/tests/it/main.rs",
            "fn f() { unimplemented!(\"x\") }",
            &["`unimplemented!`"],
        );
        check(
            "crates/a/src/lib.rs",
            "#[test]\n#[ignore]\nfn f() {}",
            &["lib.rs:2: `#[ignore]` without"],
        );
        let example = format!("/// ```\n/// {}!()\n/// ```\nfn f() {{}}", "todo");
        check("crates/a/src/lib.rs", &example, &["lib.rs:2: `todo!` in an example"]);
    }

    #[test]
    fn finds_notes_about_missing_work() {
        let [repair, mark, later, note] = WORDS else {
            panic!("expected four words");
        };
        check(
            "crates/a/src/lib.rs",
            &format!("// {repair}: x\n// {mark}\n"),
            &[repair, mark],
        );
        check(
            "crates/a/src/lib.rs",
            &format!("fn f() {{ g(\"{later}\") }}\n{note} x"),
            &[later, note],
        );
        check("deny.toml", &format!("# {repair}"), &[repair]);
    }

    #[test]
    fn compares_whole_words_and_calls_of_macros() {
        check(
            "crates/a/src/lib.rs",
            "fn f() { g(\"sk-XXXX\") } // a todo! in prose",
            &[],
        );
        check(
            "crates/a/src/lib.rs",
            "#[ignore = \"needs a server\"]\nfn f() { todo() }",
            &[],
        );
        check("docs/a.md", WORDS[0], &[]);
    }
}

//! What exists is finished: no stubs, no notes to oneself, no test that is
//! switched off without a reason.

use proc_macro2::TokenStream;

use crate::finding::Finding;
use crate::rust_source;
use crate::sources::{SourceFile, Sources};

const MACROS: &[&str] = &["todo", "unimplemented"];

/// Words of unfinished work, put together so that this file holds none.
const WORDS: &[&str] = &[
    concat!("FIX", "ME"),
    concat!("X", "XX"),
    concat!("not yet ", "implemented"),
    concat!("// TO", "DO"),
];

/// Looks at all Rust files, and at manifests and scripts for the words.
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
            .filter(move |word| holds_word(line, word))
            .map(|word| format!("`{word}`"));
        let shown = MACROS.iter().filter(move |name| shows_macro(line, name));
        let shown = shown.map(|name| format!("`{name}!` in an example"));
        words.chain(shown).map(move |what| finding(file, number, &what))
    })
}

fn in_tokens(file: &SourceFile) -> impl Iterator<Item = Finding> {
    // What does not parse is told of by `module-docs`.
    let tokens: Option<TokenStream> = file.is_rust().then(|| file.text.parse().ok()).flatten();
    let tokens = tokens.unwrap_or_default();
    let calls = rust_source::macro_calls(tokens.clone()).into_iter();
    let calls = calls.filter(|(name, _)| MACROS.contains(&name.as_str()));
    let calls = calls.map(|(name, line)| (format!("`{name}!`"), line));
    let ignores = rust_source::bare_ignores(tokens).into_iter();
    let ignores = ignores.map(|line| ("`#[ignore]` without a reason".to_owned(), line));
    calls.chain(ignores).map(|(what, line)| finding(file, line, &what))
}

fn finding(file: &SourceFile, line: usize, what: &str) -> Finding {
    Finding::new(
        format!("{}:{line}", file.path),
        what,
        "finish it, or leave it out; a test that is off says why",
    )
}

/// The word stands alone, not inside a longer one.
fn holds_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(start, _)| {
        let before = line[..start].chars().next_back();
        let after = line[start + word.len()..].chars().next();
        let joins = |neighbour: Option<char>| neighbour.is_some_and(|c| c.is_alphanumeric() || c == '_');
        !joins(before) && !joins(after)
    })
}

/// An example in a doc comment is code, too.
fn shows_macro(line: &str, name: &str) -> bool {
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
    fn unfinished_code_is_found() {
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
    fn notes_to_oneself_are_found() {
        let [mend, mark, later, note] = WORDS else {
            panic!("four words");
        };
        check(
            "crates/a/src/lib.rs",
            &format!("// {mend}: x\n// {mark}\n"),
            &[mend, mark],
        );
        check(
            "crates/a/src/lib.rs",
            &format!("fn f() {{ g(\"{later}\") }}\n{note} x"),
            &[later, note],
        );
        check("deny.toml", &format!("# {mend}"), &[mend]);
    }

    #[test]
    fn words_are_compared_whole_and_macros_by_their_call() {
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

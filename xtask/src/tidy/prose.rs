//! Texts are plain English: a list of words and phrases is rejected in comments, docs, messages, names and pages. The first
//! lines of docs have a list of their own.
//!
//! The list is in `prose/phrases.toml`. It finds what a list can find; the rest takes a reader.

mod phrase;
mod text;
pub(super) mod width;

use std::sync::LazyLock;

use crate::report::finding::Finding;
use crate::source::rust_comments::{Comment, Kind};
use crate::source::sources::{SourceFile, Sources};
use phrase::{Phrase, PhraseIndex, Phrases};
use text::{Passage, Word};

static PHRASES: LazyLock<Result<Phrases, String>> =
    LazyLock::new(|| Phrases::parse(include_str!("prose/phrases.toml")));

const LIST: &str = "xtask/src/tidy/prose/phrases.toml";

/// Files and folders that are not checked: they quote rejected words, or are not ours to reword.
const EXEMPT: &[&str] = &[
    "xtask/src/tidy/prose",
    "xtask/tests/it/prose.rs",
    "docs/glossary.md",
    "docs/api/",
    "LICENSE",
    "fixtures/knowledge/files/",
    "scripts/knowledge-set/texts.py",
];

/// Checks comments, names and strings of Rust files, Markdown pages, and manifests and scripts as a whole.
pub(super) fn findings(sources: &Sources) -> Vec<Finding> {
    let phrases = match &*PHRASES {
        Ok(phrases) => phrases,
        Err(error) => return vec![Finding::new(LIST, error, "fix the list")],
    };
    let files = sources.iter().filter(|file| is_checked(&file.path));
    files.flat_map(|file| in_file(file, phrases)).collect()
}

fn is_checked(path: &str) -> bool {
    let is_data = path.starts_with("fuzz/seeds/") || (path.contains("fixtures/") && !path.ends_with(".md"));
    !is_data && !EXEMPT.iter().any(|exempt| path.starts_with(exempt))
}

fn in_file(file: &SourceFile, phrases: &Phrases) -> Vec<Finding> {
    let passages = text::passages(file);
    let mut findings: Vec<_> = passages
        .iter()
        .flat_map(|text| in_text(file, text, &phrases.anywhere))
        .collect();
    for comment in text::comments(file) {
        findings.extend(opener(file, &comment, phrases));
        let first = first_line(&comment).filter(|_| comment.kind != Kind::Plain);
        findings.extend(first.iter().flat_map(|text| in_text(file, text, &phrases.first_line)));
    }
    findings
}

fn in_text(file: &SourceFile, passage: &Passage, phrases: &PhraseIndex) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut at = 0;
    while at < passage.words.len() {
        let Some((length, phrase)) = phrases.longest_at(passage, at) else {
            at += 1;
            continue;
        };
        findings.push(finding(file, &passage.words[at..at + length], phrase));
        at += length;
    }
    findings
}

/// Returns the words of the first line of a comment that is not blank.
fn first_line(comment: &Comment) -> Option<Passage> {
    let mut lines = (comment.line..).zip(&comment.lines);
    let (number, line) = lines.find(|(_, line)| !line.trim().is_empty())?;
    Some(Passage::from_line(line, number))
}

fn finding(file: &SourceFile, words: &[Word], phrase: &Phrase) -> Finding {
    let matched: Vec<_> = words.iter().map(|word| word.text.as_str()).collect();
    Finding::new(
        format!("{}:{}", file.path, words[0].line),
        format!("`{}`", matched.join(" ")),
        format!("write: {}", phrase.advice),
    )
}

/// Returns a finding if a doc comment starts with a word that makes it a fragment.
fn opener(file: &SourceFile, comment: &Comment, phrases: &Phrases) -> Option<Finding> {
    let first = comment.lines.iter().find(|line| !line.trim().is_empty())?;
    let word = Passage::from_line(first, comment.line).words.into_iter().next()?;
    let starts = |openers: &[String]| openers.contains(&word.text) && first.trim().starts_with(&word.text);
    let is_rejected = match documented(file, comment) {
        Documented::Nothing => false,
        Documented::Part => starts(&phrases.openers),
        Documented::Item => starts(&phrases.openers) || starts(&phrases.item_openers),
        Documented::Function => {
            let lists = [&phrases.openers, &phrases.item_openers, &phrases.function_openers];
            lists.iter().any(|openers| starts(openers))
        }
    };
    is_rejected.then(|| {
        Finding::new(
            format!("{}:{}", file.path, comment.line),
            format!("a doc comment starts with `{}`", word.text),
            "start with what the item is or does: `Returns the …`, `Parses …`, `A decoder for …`",
        )
    })
}

/// The subject of a comment.
enum Documented {
    /// A plain comment.
    Nothing,
    /// A field or a variant.
    Part,
    /// A module, a type or another item, or a test.
    Item,
    /// A function outside of test code.
    Function,
}

fn documented(file: &SourceFile, comment: &Comment) -> Documented {
    const KEYWORDS: &[&str] = &[
        "async",
        "const",
        "enum",
        "extern",
        "impl",
        "macro_rules!",
        "mod",
        "static",
        "struct",
        "trait",
        "type",
        "union",
        "unsafe",
        "use",
    ];
    match comment.kind {
        Kind::Plain => return Documented::Nothing,
        Kind::InnerDoc => return Documented::Item,
        Kind::OuterDoc => {}
    }
    let below = file.text.lines().skip(comment.line - 1 + comment.lines.len());
    let item = below
        .map(str::trim)
        .find(|line| !line.starts_with('#') && !line.is_empty());
    let mut words = item.unwrap_or_default().split([' ', '(', '<']).take(5);
    if words.clone().any(|word| word == "fn") {
        let is_source = file.path.contains("/src/") && !file.is_test_code();
        return if is_source {
            Documented::Function
        } else {
            Documented::Item
        };
    }
    if words.any(|word| KEYWORDS.contains(&word)) {
        return Documented::Item;
    }
    Documented::Part
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

    const RUST: &str = "crates/a/src/lib.rs";

    #[test]
    fn the_list_is_valid() {
        assert_eq!(PHRASES.as_ref().err(), None);
    }

    #[test]
    fn finds_phrases_in_comments_across_lines() {
        check(RUST, "//! The base URL is\n//! no URL.\n", &["lib.rs:1: `is no`"]);
        check(RUST, "fn f() {} // It is told.\n", &["lib.rs:1: `told`"]);
        check(
            RUST,
            "/// There is no `told`. It is no longer needed.\nfn f() {}\n",
            &[],
        );
        check(RUST, "/// ```\n/// told();\n/// ```\nstruct S;\n", &[]);
    }

    #[test]
    fn finds_phrases_in_messages_but_not_in_data() {
        check(
            RUST,
            "fn f() { g(\"the URL `{url}` is none\") }",
            &["lib.rs:1: `is none`"],
        );
        check(
            RUST,
            "#[expect(lint, reason = \"nobody reads it\")]\nfn f() {}",
            &["`nobody`"],
        );
        check(RUST, "fn f() { g(\"told\", \"{\\\"says\\\":1}\") }", &[]);
        let test = "#[test]\nfn t() { f(\"he told me\"); assert_eq!(a(), \"he said\", \"it was told\"); }";
        check("crates/a/tests/it/main.rs", test, &["main.rs:2: `told`"]);
    }

    #[test]
    fn finds_words_in_names() {
        check(
            RUST,
            "fn is_told() {}\nstruct NobodyElse;\n",
            &["lib.rs:1: `told`", "lib.rs:2: `nobody`"],
        );
        check(RUST, "fn goldsmith() {} fn stand_in() {}", &[]);
    }

    #[test]
    fn finds_phrases_in_pages_and_manifests() {
        check(
            "docs/a.md",
            "# A\n\nIt goes on.\n\n```\ntold\n```\n",
            &["docs/a.md:3: `goes on`"],
        );
        check("deny.toml", "# One of ours.\n", &["deny.toml:1: `One of ours`"]);
        check("crates/a/fixtures/a.md", "Thus.\n", &["`Thus`"]);
        check("crates/a/fixtures/a.toml", "# Thus.\n", &[]);
    }

    #[test]
    fn finds_vague_words_in_the_first_line_of_docs() {
        check(
            RUST,
            "//! Reads what is left.\n\n/// Something that fails.\nstruct S;",
            &["lib.rs:1: `what is`", "lib.rs:3: `Something`"],
        );
        check(
            RUST,
            "struct S {\n    /// The session of which it is a part.\n    part_of: u8 }",
            &["lib.rs:2: `of which`"],
        );
        check(
            "crates/a/tests/it/main.rs",
            "/// Does something.\nfn f() {}",
            &["`something`"],
        );
        check(RUST, "/// Fails.\n///\n/// Something else is left.\nstruct S;", &[]);
        check(RUST, "// Something is left.\nfn f() { /* what is left */ }", &[]);
        check(RUST, "/// Writes `something`.\nfn f() {}", &[]);
    }

    #[test]
    fn finds_fragments_at_the_start_of_docs() {
        check(
            RUST,
            "/// What it costs.\npub struct Price;",
            &["a doc comment starts with `What`"],
        );
        check(RUST, "/// Whether it is on.\npub on: bool", &[]);
        check(
            RUST,
            "/// Whether it is on.\n#[inline]\npub fn on() {}",
            &["starts with `Whether`"],
        );
        check(RUST, "struct S {\n/// How long it ran.\ntime: u8 }", &[]);
        check(RUST, "/// How it ended.\npub enum End {}", &["starts with `How`"]);
        check("crates/a/tests/it/main.rs", "/// The result is kept.\nfn f() {}", &[]);
    }
}

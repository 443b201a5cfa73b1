//! A source file holds one thing: it is neither too long to read nor too short to deserve a file.

use std::collections::BTreeSet;

use proc_macro2::{TokenStream, TokenTree};
use syn::Item;
use syn::spanned::Spanned as _;

use crate::report::finding::Finding;
use crate::source::rust_source;
use crate::source::sources::{SourceFile, Sources};
use crate::tidy::exception::{Exception, Exceptions};
use crate::tidy::wires;

/// The most lines of a file, without its inline tests.
const MAX_LINES: usize = 400;

/// The most lines of an example, which is read from top to bottom.
const MAX_EXAMPLE_LINES: usize = 200;

/// The fewest lines of code of a file: without comments, blank lines, inline tests and imports.
const MIN_CODE_LINES: usize = 15;

const LONG: &[Exception] = &[];

const SHORT: &[Exception] = &[
    Exception {
        subject: "crates/agcore-agent/src/durable/context_record.rs",
        reason: "data of one kind of records, beside those of the other kinds",
    },
    Exception {
        subject: "crates/agcore-store/src/sql/vector.rs",
        reason: "a check that two databases share, and that is tested alone",
    },
    Exception {
        subject: "crates/agcore-cycle/src/typed/recorded.rs",
        reason: "a contract that the crate of agents implements",
    },
    Exception {
        subject: "crates/agcore-cycle/src/machine/question_id.rs",
        reason: "a pure function that is tested alone",
    },
    Exception {
        subject: "crates/agcore-cycle/src/machine/version.rs",
        reason: "what states and records share, which would otherwise form a cycle",
    },
    Exception {
        subject: "crates/agcore-llm/src/transport/http/client/settings.rs",
        reason: "a type that both clients and the transport use, which would otherwise form a cycle",
    },
    Exception {
        subject: "crates/agcore-store/src/postgres/connection/statement.rs",
        reason: "a trait that connections and transactions implement, which would otherwise form a cycle",
    },
    Exception {
        subject: "crates/agcore-cli/src/stdout.rs",
        reason: "two functions that all commands use, with the error of the program",
    },
    Exception {
        subject: "crates/agcore-settings/src/error.rs",
        reason: "the error of the crate",
    },
    Exception {
        subject: "crates/agcore-terminal/src/error.rs",
        reason: "the error of the crate",
    },
    Exception {
        subject: "crates/agcore-wire/src/dialect/",
        reason: "one file for each vendor",
    },
    Exception {
        subject: "xtask/src/generate/output.rs",
        reason: "types that both generators and their caller use, which would otherwise form a cycle",
    },
    Exception {
        subject: "xtask/src/source/public_api/entry.rs",
        reason: "a type that several siblings use, which would otherwise form a cycle",
    },
];

const THIS_FILE: &str = "xtask/src/tidy/length.rs";

/// Counts the lines of crates, of xtask and of the examples.
pub(super) fn findings(sources: &Sources) -> Vec<Finding> {
    check(sources, LONG, SHORT)
}

fn check(sources: &Sources, long: &[Exception], short: &[Exception]) -> Vec<Finding> {
    let (mut too_long, mut too_short) = (Vec::new(), Vec::new());
    for file in sources.iter().filter(|file| is_checked(file)) {
        too_long.extend(long_violation(file).map(|finding| (file.path.clone(), finding)));
        too_short.extend(short_violation(file).map(|finding| (file.path.clone(), finding)));
    }
    let is_present = |subject: &str| sources.iter().any(|file| file.path.starts_with(subject));
    let exceptions = |list| Exceptions { list, file: THIS_FILE };
    let mut findings = exceptions(long).apply(too_long, is_present);
    findings.extend(exceptions(short).apply(too_short, is_present));
    findings
}

fn is_checked(file: &SourceFile) -> bool {
    let is_other = file.path.starts_with("xtask/src/") || is_example(&file.path);
    (file.is_crate_source() || (is_other && file.is_rust())) && !file.is_test_code()
}

fn is_example(path: &str) -> bool {
    path.starts_with("examples/")
}

fn long_violation(file: &SourceFile) -> Option<Finding> {
    let lines = file.text.lines().count() - file.test_lines().len();
    let limit = if is_example(&file.path) {
        MAX_EXAMPLE_LINES
    } else {
        MAX_LINES
    };
    (lines > limit).then(|| {
        Finding::new(
            &file.path,
            format!("{lines} lines without inline tests, {limit} are allowed"),
            format!("split it by topic, or list it with a reason in {THIS_FILE}"),
        )
    })
}

fn short_violation(file: &SourceFile) -> Option<Finding> {
    let lines = code_lines(file)?;
    // A file with nothing but re-exports is a page of the documentation.
    let is_short = 0 < lines && lines < MIN_CODE_LINES;
    (is_short && !wires::is_required(&file.path)).then(|| {
        Finding::new(
            &file.path,
            format!("{lines} lines of code, fewer than {MIN_CODE_LINES}"),
            format!("merge it into the file that uses it, or list it with a reason in {THIS_FILE}"),
        )
    })
}

/// Returns the number of lines of code. Returns `None` for a file that cannot be merged into another one (the root of a
/// module with files of its own, or of a crate or program) and for one that does not parse.
fn code_lines(file: &SourceFile) -> Option<usize> {
    let syntax = file.syntax().ok()?;
    let is_root = |item: &Item| matches!(item, Item::Mod(module) if module.content.is_none());
    if syntax.items.iter().any(is_root) || is_target_root(&file.path) {
        return None;
    }
    let mut lines = BTreeSet::new();
    collect_lines(file.tokens()?.clone(), &mut lines);
    for item in &syntax.items {
        if matches!(item, Item::Use(_) | Item::ExternCrate(_)) {
            remove(&mut lines, item);
        }
    }
    let tests = file.test_lines();
    Some(lines.difference(&tests).count())
}

fn is_target_root(path: &str) -> bool {
    path.ends_with("/src/lib.rs") || path.ends_with("/src/main.rs") || path.contains("/src/bin/")
}

fn remove(lines: &mut BTreeSet<usize>, item: &Item) {
    for line in rust_source::lines(item.span()) {
        lines.remove(&line);
    }
}

/// Collects the lines that contain a token, except for doc comments and other attributes of the file.
fn collect_lines(tokens: TokenStream, lines: &mut BTreeSet<usize>) {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(mark) if mark.as_char() == '#' => {
                let is_inner = matches!(tokens.peek(), Some(TokenTree::Punct(mark)) if mark.as_char() == '!');
                if is_inner {
                    tokens.next();
                }
                let Some(TokenTree::Group(group)) = tokens.peek() else {
                    continue;
                };
                if is_inner || is_doc(group.stream()) {
                    tokens.next();
                }
            }
            TokenTree::Group(group) => {
                lines.insert(group.span_open().start().line);
                collect_lines(group.stream(), lines);
                lines.insert(group.span_close().end().line);
            }
            token => lines.extend(rust_source::lines(token.span())),
        }
    }
}

fn is_doc(attribute: TokenStream) -> bool {
    matches!(attribute.into_iter().next(), Some(TokenTree::Ident(name)) if name == "doc")
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: &str = "crates/a/src/usage.rs";

    #[track_caller]
    fn check_text(path: &str, text: &str, expected: Option<&str>) {
        let found = check(&Sources::from([(path, text)]), &[], &[]);
        match expected {
            None => assert_eq!(found, []),
            Some(expected) => assert!(found[0].to_string().contains(expected), "{found:?}"),
        }
    }

    fn statements(count: usize) -> String {
        let lines = "    f();\n".repeat(count - 2);
        format!("fn f() {{\n{lines}}}\n")
    }

    #[test]
    fn finds_a_long_file() {
        check_text(PATH, &statements(400), None);
        check_text(
            PATH,
            &statements(401),
            Some("401 lines without inline tests, 400 are allowed"),
        );
    }

    #[test]
    fn finds_a_long_example() {
        let path = "examples/chat.rs";
        check_text(path, &statements(200), None);
        check_text(path, &statements(201), Some("200 are allowed"));
    }

    #[test]
    fn does_not_count_inline_tests() {
        let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", statements(100));
        check_text(PATH, &format!("{}{tests}", statements(400)), None);
        check_text("crates/a/src/usage/tests.rs", &statements(900), None);
    }

    #[test]
    fn finds_a_short_file() {
        check_text(PATH, &statements(15), None);
        check_text(PATH, &statements(14), Some("14 lines of code, fewer than 15"));
        let around = format!(
            "//! Usage.\n\nuse a::{{\n    b,\n}};\n// Why.\n/// F.\n{}",
            statements(14)
        );
        check_text(PATH, &around, Some("14 lines of code, fewer than 15"));
    }

    #[test]
    fn roots_may_be_short() {
        check_text(
            PATH,
            "//! Usage.\nmod tokens;\npub use tokens::Tokens;\nfn f() {}\n",
            None,
        );
        check_text("crates/a/src/lib.rs", "//! A crate.\nfn f() {}\n", None);
    }

    #[test]
    fn exceptions_name_existing_files() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for exception in LONG.iter().chain(SHORT) {
            assert!(root.join(exception.subject).exists(), "{exception:?}");
        }
    }
}

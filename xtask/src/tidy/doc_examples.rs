//! Examples in the documentation run: there are enough of them, and every front page has one.

use std::collections::BTreeSet;

use toml::Table;

use crate::report::check::Check;
use crate::report::finding::Finding;
use crate::source::markdown::{self, CodeBlock, Execution};
use crate::source::sources::{SourceFile, Sources};

/// The table of the root manifest with the minimum, and its key there.
const SETTINGS: &str = "workspace.metadata.xtask";
const MINIMUM: &str = "doc-examples";

/// Counts the doc tests of all libraries, in their sources and in the pages that these include.
pub(super) fn check(name: &str, sources: &Sources) -> Check {
    let libraries = sources
        .crates()
        .filter(|(_, folder)| sources.get(&format!("{folder}/src/lib.rs")).is_some());
    let mut examples = 0;
    let mut pages = BTreeSet::new();
    let mut findings = Vec::new();
    for (library, folder) in libraries {
        let source = format!("{folder}/src/");
        for file in sources.iter().filter(|file| is_documented(file, &source)) {
            examples += runnable(&docs(file));
            pages.extend(included_pages(file));
        }
        findings.extend(front_page(sources, library, folder));
    }
    let included = pages.iter().filter_map(|page| sources.get(page));
    examples += included.map(|page| runnable(&page.text)).sum::<usize>();
    let note = match minimum(sources) {
        Some(minimum) => {
            findings.extend(too_few(examples, minimum));
            format!("{examples} run, at least {minimum} required")
        }
        None => {
            findings.push(Finding::new(
                "Cargo.toml",
                format!("no minimum number of doc examples in [{SETTINGS}]"),
                format!("write `{MINIMUM} = {examples}`"),
            ));
            format!("{examples} run")
        }
    };
    Check::new(name, findings).with_note(note)
}

fn minimum(sources: &Sources) -> Option<usize> {
    let manifest: Table = sources.get("Cargo.toml")?.text.parse().ok()?;
    let settings = SETTINGS
        .split('.')
        .try_fold(&manifest, |table, key| table.get(key)?.as_table())?;
    usize::try_from(settings.get(MINIMUM)?.as_integer()?).ok()
}

fn too_few(examples: usize, minimum: usize) -> Option<Finding> {
    (examples < minimum).then(|| {
        Finding::new(
            "crates",
            format!("{examples} runnable doc examples, at least {minimum} are required"),
            format!("restore the examples that were removed; `{MINIMUM}` in Cargo.toml only grows"),
        )
    })
}

/// Returns whether rustdoc tests the examples in a file: it ignores programs.
fn is_documented(file: &SourceFile, source: &str) -> bool {
    file.path.strip_prefix(source).is_some_and(|path| {
        let is_program = path == "main.rs" || path.starts_with("bin/");
        file.is_rust() && !is_program
    })
}

fn runnable(markdown: &str) -> usize {
    let blocks = markdown::code_blocks(markdown);
    blocks.filter(|block| block.execution() == Execution::Run).count()
}

/// Returns the text of all doc comments of a file; code ends where a comment ends.
fn docs(file: &SourceFile) -> String {
    let mut text = String::new();
    let mut kind = None;
    for line in file.text.lines().map(str::trim_start) {
        let doc = doc_line(line);
        let current = doc.map(|(kind, _)| kind);
        if current != kind {
            text.push_str(markdown::PAGE_BREAK);
            kind = current;
        }
        if let Some((_, doc)) = doc {
            text.push_str(doc);
            text.push('\n');
        }
    }
    text
}

/// Returns the marker and the text of a line of documentation.
fn doc_line(line: &str) -> Option<(&str, &str)> {
    let is_doc = line.starts_with("//!") || (line.starts_with("///") && !line.starts_with("////"));
    is_doc.then(|| {
        let (marker, text) = line.split_at(3);
        (marker, text.strip_prefix(' ').unwrap_or(text))
    })
}

/// Returns the paths of the pages in `doc = include_str!("…")`, relative to the root of the workspace.
fn included_pages(file: &SourceFile) -> impl Iterator<Item = String> {
    let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let parts = file.text.split("doc = include_str!(\"").skip(1);
    parts.filter_map(move |part| part.split('"').next().map(|path| joined(folder, path)))
}

fn joined(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').collect();
    for part in path.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." => {}
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Checks that all examples on the front page of a library run, and that there is one.
fn front_page(sources: &Sources, library: &str, folder: &str) -> Vec<Finding> {
    let Some(root) = sources.get(&format!("{folder}/src/lib.rs")) else {
        return Vec::new();
    };
    let lines = root.text.lines().map(str::trim_start);
    let mut page: String = lines
        .filter_map(|line| doc_line(line).filter(|(marker, _)| *marker == "//!"))
        .map(|(_, text)| format!("{text}\n"))
        .collect();
    if root.text.contains("#![doc = include_str!(") {
        let included = included_pages(root).filter_map(|page| sources.get(&page));
        page.extend(included.map(|page| page.text.as_str()));
    }
    let blocks: Vec<CodeBlock<'_>> = markdown::code_blocks(&page).collect();
    let mut findings: Vec<_> = blocks
        .iter()
        .filter(|block| matches!(block.execution(), Execution::NoRun | Execution::Ignore))
        .map(|block| {
            Finding::new(
                &root.path,
                format!("an example on the front page of {library} is `{}`", block.info),
                "make it run: use a scripted model in hidden lines that start with `# `",
            )
        })
        .collect();
    if !blocks.iter().any(|block| block.execution() == Execution::Run) {
        findings.push(Finding::new(
            &root.path,
            format!("the front page of {library} has no example that runs"),
            "start the crate docs with the shortest useful example, and let it assert its result",
        ));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::check::Outcome;

    const LIB: &str = "crates/a/src/lib.rs";
    const FRONT: &str = "//! A crate.\n//!\n//! ```\n//! assert!(true);\n//! ```\n";

    #[track_caller]
    fn check_examples(minimum: &str, lib: &str, readme: &str, expected_note: &str, expected: &[&str]) {
        let manifest = format!("[workspace.metadata.xtask]\n{minimum}\n");
        let sources = Sources::from([
            ("Cargo.toml", manifest.as_str()),
            ("crates/a/Cargo.toml", ""),
            ("crates/a/README.md", readme),
            (LIB, lib),
        ]);
        let check = check("doc-examples", &sources);
        assert_eq!(check.note(), Some(expected_note));
        let findings = match check.outcome() {
            Outcome::Failed(findings) => findings.as_slice(),
            _ => &[],
        };
        assert_eq!(findings.len(), expected.len(), "{findings:?}");
        for (finding, expected) in findings.iter().zip(expected) {
            assert!(finding.to_string().contains(expected), "{finding}");
        }
    }

    #[test]
    fn counts_examples_that_run() {
        let more =
            "/// ```\n/// f();\n/// ```\n/// ```text\n/// f\n/// ```\n/// ```no_run\n/// g();\n/// ```\nfn f() {}\n";
        let lib = format!("{FRONT}{more}");
        check_examples("doc-examples = 2", &lib, "", "2 run, at least 2 required", &[]);
        check_examples(
            "doc-examples = 3",
            &lib,
            "",
            "2 run, at least 3 required",
            &["2 runnable doc examples, at least 3 are required"],
        );
        check_examples("", &lib, "", "2 run", &["write `doc-examples = 2`"]);
    }

    #[test]
    fn counts_the_pages_that_are_doc_tests() {
        let readme = "```rust\nf();\n```\n";
        check_examples("doc-examples = 1", FRONT, readme, "1 run, at least 1 required", &[]);
        let lib = format!("{FRONT}#[doc = include_str!(\"../README.md\")]\nstruct Readme;\n");
        check_examples("doc-examples = 2", &lib, readme, "2 run, at least 2 required", &[]);
    }

    #[test]
    fn a_front_page_has_an_example_and_all_of_them_run() {
        let silent = FRONT.replace("```\n//! a", "```no_run\n//! a");
        check_examples(
            "doc-examples = 0",
            &silent,
            "",
            "0 run, at least 0 required",
            &[
                "an example on the front page of a is `no_run`",
                "the front page of a has no example that runs",
            ],
        );
        check_examples(
            "doc-examples = 0",
            "#![doc = include_str!(\"../README.md\")]\n",
            "```\nf();\n```\n",
            "1 run, at least 0 required",
            &[],
        );
    }
}

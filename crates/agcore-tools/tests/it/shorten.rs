//! Output of real programs, shortened: what a question asks for is still there, or one range away.

use std::path::PathBuf;

use agcore_tools::{ShortenedText, TextStructure, numbered_lines, shortened};
use proptest::prelude::*;

/// A question about a text, by a part of the line that answers it.
enum Answer {
    /// The shortened text contains it.
    Shown(&'static str),
    /// A note names the range of lines in which it is.
    InRange(&'static str),
}

use Answer::{InRange, Shown};

fn text(name: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/tool-results");
    std::fs::read_to_string(folder.join(name)).unwrap()
}

/// Returns the ranges of lines that are left out, counted from 0.
fn ranges(short: &str) -> Vec<std::ops::Range<usize>> {
    let notes = short.lines().filter_map(|line| {
        let (range, _) = line.strip_prefix("[line")?.split_once(" left out: ")?;
        let (first, last) = match range.trim_start_matches('s').trim().split_once('-') {
            Some((first, last)) => (first, last),
            None => (range.trim(), range.trim()),
        };
        Some(first.parse::<usize>().ok()? - 1..last.parse().ok()?)
    });
    notes.collect()
}

/// Checks that every line is shown or in a range that is left out.
fn check_lines(text: &str, short: &ShortenedText) {
    let (lines, ranges) = (numbered_lines(text), ranges(&short.text));
    assert_eq!(lines.len(), short.lines);
    for (at, line) in lines.iter().enumerate() {
        let start = agcore_chat::text::prefix(line, 400);
        let is_there = short.text.contains(start) || ranges.iter().any(|range| range.contains(&at));
        assert!(
            is_there || short.structure == TextStructure::Html,
            "line {}: {line}",
            at + 1
        );
    }
}

/// Shortens a text to at most this part of it, in percent, and looks for the answers.
#[track_caller]
fn check(name: &str, structure: TextStructure, percent: usize, answers: &[Answer]) {
    let text = text(name);
    let short = shortened(&text).unwrap();
    let part = short.text.len() * 100 / text.len();
    assert_eq!(short.structure, structure, "{name}");
    assert!(part <= percent, "{name}: {part} %\n{}", short.text);
    let (lines, ranges) = (numbered_lines(&text), ranges(&short.text));
    for answer in answers {
        match answer {
            Shown(part) => assert!(short.text.contains(part), "{name}: {part}\n{}", short.text),
            InRange(part) => {
                assert!(!short.text.contains(part), "{name}: {part} is shown");
                let at = lines
                    .iter()
                    .position(|line| line.contains(part))
                    .unwrap_or_else(|| panic!("{name}: {part}"));
                let range = ranges.iter().find(|range| range.contains(&at));
                assert!(range.is_some(), "{name}: no note for line {}\n{}", at + 1, short.text);
            }
        }
    }
    check_lines(&text, &short);
}

#[test]
fn builds_keep_errors() {
    let shown = [
        "error[E0308]: mismatched types",
        "src/main.rs:2:22",
        "expected `u32`, found `&str`",
    ];
    check("cargo-build.txt", TextStructure::Lines, 30, &shown.map(Shown));
    check(
        "cargo-build.txt",
        TextStructure::Lines,
        30,
        &[InRange("Compiling tokio-util v")],
    );
}

#[test]
fn tests_keep_failures() {
    let shown = [
        "E   ValueError: could not convert string to float: 'five'",
        "FAILED test_cart.py::test_discount",
        "assert 135.0 == 140.0",
        "2 failed, 142 passed",
    ];
    check("pytest.txt", TextStructure::Lines, 50, &shown.map(Shown));
    check(
        "pytest.txt",
        TextStructure::Lines,
        50,
        &[InRange("test_total[77] PASSED")],
    );
}

#[test]
fn logs_keep_what_is_rare() {
    let shown = [
        "KeyError: 'tenant-9'",
        "request 217 failed for customer Miller",
        "the pool has 1 of 20 connections left",
    ];
    check("app.log", TextStructure::Lines, 15, &shown.map(Shown));
    check("app.log", TextStructure::Lines, 15, &[InRange("request 250 from")]);
    check(
        "access.log",
        TextStructure::Lines,
        20,
        &[Shown("id=377"), Shown("/missing"), InRange("id=222")],
    );
}

#[test]
fn stacks_keep_their_cause_and_their_ends() {
    check(
        "java-trace.txt",
        TextStructure::Lines,
        60,
        &[
            Shown("the cart 4711 is empty"),
            Shown("Deep.walk(Deep.java:4)"),
            Shown("Deep.main"),
            InRange("AbstractPipeline.wrapAndCopyInto"),
        ],
    );
    check(
        "python-trace.txt",
        TextStructure::Lines,
        30,
        &[Shown("node 'rivet-88' has no parent"), Shown("Tree().check(60)")],
    );
    check(
        "node-trace.txt",
        TextStructure::Lines,
        70,
        &[Shown("price of sku-5512 is undefined"), Shown("deep.js")],
    );
}

#[test]
fn json_keeps_items_that_differ() {
    check(
        "containers.json",
        TextStructure::Json,
        40,
        &[
            Shown("\"Name\": \"/svc-29\""),
            Shown("\"Status\": \"exited\""),
            Shown("137"),
            Shown("/svc-17 (line "),
            InRange("172.17.0.25"),
        ],
    );
}

#[test]
fn tables_keep_extremes() {
    check(
        "table.csv",
        TextStructure::Rows,
        30,
        &[Shown("commit,date,author,files"), Shown(",4012"), InRange(",17")],
    );
}

#[test]
fn diffs_keep_changes() {
    check(
        "changes.diff",
        TextStructure::Diff,
        83,
        &[
            Shown("-    /// What the profile lacks, or does in a way that is not supported."),
            Shown("+++ b/package-lock.json"),
            Shown("more lines added and"),
            InRange("     name: String,"),
        ],
    );
}

#[test]
fn pages_keep_their_text() {
    check(
        "page.html",
        TextStructure::Html,
        60,
        &[
            Shown("ArgumentParser"),
            Shown("Command-line parsing library"),
            Shown("add_argument"),
        ],
    );
}

#[test]
fn lists_keep_examples_of_each_kind() {
    check(
        "npm-ls.txt",
        TextStructure::Lines,
        70,
        &[Shown("shop@1.0.0"), Shown("express@4.19.2"), Shown("jest@29.7.0")],
    );
    check(
        "git-log.txt",
        TextStructure::Lines,
        70,
        &[Shown("feat(console): show costs")],
    );
    check("ls.txt", TextStructure::Lines, 70, &[]);
}

#[test]
fn the_same_text_has_the_same_short_form() {
    for name in [
        "app.log",
        "containers.json",
        "table.csv",
        "page.html",
        "changes.diff",
        "pytest.txt",
    ] {
        let text = text(name);
        assert_eq!(shortened(&text), shortened(&text), "{name}");
    }
}

#[test]
fn prose_and_code_stay_as_they_are() {
    let own = include_str!("shorten.rs");
    assert_eq!(shortened(own), None);
    assert_eq!(shortened(include_str!("../../README.md")), None);
    for text in ["", "\n\n\n", "{", "[]", "{}", "@@ -1 +1 @@", "<html>"] {
        assert_eq!(shortened(text), None, "{text}");
    }
}

#[test]
fn deep_and_odd_documents_are_read() {
    let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
    assert_eq!(shortened(&deep), None);
    let wide = format!("[{}0]", "1,".repeat(20_000));
    let short = shortened(&wide).unwrap();
    assert!(short.text.contains("items 4 to 20000 of 20001"), "{}", short.text);
    let log = "\u{1b}[31m error \u{202e}\n".repeat(5_000);
    assert!(shortened(&log).unwrap().text.len() < 1_000);
    let crowd = (0..3_000)
        .map(|n| format!("{n}: word{}\n", "x".repeat(n % 97)))
        .collect::<String>();
    assert!(shortened(&crowd).is_none_or(|short| short.text.len() < crowd.len()));
}

proptest! {
    #[test]
    fn no_line_is_lost(lines in proptest::collection::vec("(INFO|error|at|<p>|\\+|-|\\{|\"a\",1,2|| x)[ a-c0-9é]{0,12}", 1..120)) {
        let text = lines.join("\n").repeat(4);
        if let Some(short) = shortened(&text) {
            check_lines(&text, &short);
        }
        prop_assert!(!numbered_lines(&text).is_empty() || text.is_empty());
    }
}

//! Damaged samples: whatever is wrong with them, they end with a result or a problem.

use agcore_files::{FileProblemKind, Preprocessed};

use crate::support::{patient, read_with, sample};

const TEXTS: &[(&str, &str)] = &[
    (
        "a.md",
        "---\nk: v\n---\n# A\n\n- x\n\n| a | b |\n|---|---|\n| 1 | é |\n\n```\ncode\n```\n",
    ),
    (
        "a.html",
        "<!doctype html><title>T</title><h1>Ä</h1><table><tr><th>a<td>&amp;b</table><pre> x </pre><script>1</script>",
    ),
    (
        "a.json",
        r#"[{"a": 1.5e3, "b": "\u00e9\n"}, {"a": null, "c": [true, {"x": {}}]}]"#,
    ),
    ("a.csv", "a,b\n\"1,\"\"x\"\"\",2\n\n3\n"),
    ("a.txt", "one\n\ntwo 词语\r\nthree"),
];

const SAMPLES: &[&str] = &[
    "harvest.xlsx",
    "garden.docx",
    "report.pdf",
    "locked.pdf",
    "differences.pdf",
    "form-field.pdf",
];

fn files() -> Vec<(&'static str, Vec<u8>)> {
    let texts = TEXTS.iter().map(|(name, text)| (*name, text.as_bytes().to_vec()));
    let samples = SAMPLES.iter().map(|name| (*name, sample(name)));
    texts.chain(samples).collect()
}

/// Checks what must hold for every file.
pub(crate) fn check(name: &str, content: &[u8], context: &str) {
    match read_with(patient(), name, content) {
        Ok(found) => check_found(&found, context),
        Err(problem) => assert_ne!(problem.kind(), FileProblemKind::TimedOut, "{context}: {problem}"),
    }
}

fn check_found(found: &Preprocessed, context: &str) {
    for document in &found.documents {
        let mut end = 0;
        for passage in &document.passages {
            let position = &passage.position;
            assert!(position.start >= end, "{context}: passages overlap");
            end = position.end;
            assert_eq!(end - position.start, passage.text.chars().count(), "{context}");
            assert!((1..=2_000).contains(&(end - position.start)), "{context}");
        }
    }
    for table in &found.tables {
        assert!(
            table.rows.iter().all(|row| row.len() == table.columns.len()),
            "{context}"
        );
    }
}

/// Returns how many cases of each file are tried.
pub(crate) fn cases(few: usize, many: usize) -> usize {
    if std::env::var_os("AGCORE_SOAK").is_some() {
        many
    } else {
        few
    }
}

#[test]
fn truncated_files_end_with_a_result_or_a_problem() {
    for (name, content) in files() {
        let step = (content.len() / cases(60, 4_000)).max(1);
        for length in (0..content.len()).step_by(step) {
            check(name, &content[..length], &format!("{name}, first {length} bytes"));
        }
    }
}

#[test]
fn files_with_other_bytes_end_with_a_result_or_a_problem() {
    for (name, content) in files() {
        for seed in 0..cases(60, 4_000) as u64 {
            let mut random = fastrand::Rng::with_seed(seed);
            let mut content = content.clone();
            for _ in 0..random.usize(1..=8) {
                let position = random.usize(..content.len());
                match random.u8(..4) {
                    0 => content[position] ^= 1 << random.u8(..8),
                    1 => content[position] = random.u8(..),
                    2 => drop(content.drain(position..(position + random.usize(..20)).min(content.len()))),
                    _ => content.insert(position, *random.choice(b"<>&\"'{}[]()/0\0\xff").unwrap()),
                }
                if content.is_empty() {
                    break;
                }
            }
            check(name, &content, &format!("{name}, seed {seed}"));
        }
    }
}

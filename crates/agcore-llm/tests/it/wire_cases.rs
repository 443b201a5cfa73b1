//! Every wire case of the project, in all three ways of reading.

use std::{
    fs,
    path::{Path, PathBuf},
};

use agcore_llm::wire_case::{NeutralResult, ReadMode, WireCase, run};

/// The folders of the wires in this build.
const DIALECTS: &[&str] = &[
    #[cfg(feature = "openai-chat")]
    "openai-chat",
    #[cfg(feature = "anthropic")]
    "anthropic",
    #[cfg(feature = "openai-responses")]
    "openai-responses",
    #[cfg(feature = "ollama")]
    "ollama",
];

fn folder(dialect: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures/wire")
        .join(dialect)
}

#[test]
fn give_the_neutral_result_however_they_are_cut() {
    let wrong: Vec<String> = DIALECTS.iter().flat_map(|dialect| wrong_cases(dialect)).collect();
    assert!(wrong.is_empty(), "{} lines differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// What differs in the cases of one dialect, a line each.
fn wrong_cases(dialect: &str) -> Vec<String> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder(dialect))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    let is_case = |path: &PathBuf| {
        let name = path.to_str().unwrap();
        name.ends_with(".json") && !name.ends_with(".expected.json")
    };
    paths.retain(is_case);
    assert!(!paths.is_empty(), "no cases in {}", folder(dialect).display());
    paths.iter().flat_map(|path| differences(path, dialect)).collect()
}

fn differences(path: &Path, dialect: &str) -> Vec<String> {
    let case = WireCase::read(&fs::read(path).unwrap()).unwrap();
    assert_eq!(case.dialect, dialect, "{}", case.id);
    let expected = fs::read(path.with_file_name(format!("{}.expected.json", case.id))).unwrap();
    let expected: NeutralResult = serde_json::from_slice(&expected).unwrap();
    let body = match case.body_file() {
        Some(file) => fs::read(path.with_file_name(file)).unwrap(),
        None => case.body.clone().into_bytes(),
    };
    let told = |mode: ReadMode| {
        let differences = run(&case, &body, mode).unwrap().differences(&expected);
        let id = case.id.clone();
        let line = move |line: String| format!("{id} ({}): {line}", mode.name());
        differences.into_iter().map(line)
    };
    ReadMode::ALL.into_iter().flat_map(told).collect()
}

/// The patterns that stand in the tables of quirks.
fn listed() -> Vec<String> {
    let page = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/dialects.md");
    let page = fs::read_to_string(page).unwrap();
    let (_, replies) = page.split_once("## Quirks of replies").unwrap();
    let (replies, _) = replies.split_once("### Not the decoder's").unwrap();
    let rows = replies
        .lines()
        .filter(|line| line.starts_with("| ") && !line.ends_with("| wire cases |"));
    let cells = rows.filter_map(|row| row.trim_end_matches([' ', '|']).rsplit_once(" | "));
    cells
        .flat_map(|(_, cell)| cell.split(", ").map(|name| name.trim_matches('`').to_owned()))
        .collect()
}

/// Whether a name fits a pattern in which `*` stands for any letters.
fn fits(name: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        None => name == pattern,
        Some((begin, rest)) => name
            .strip_prefix(begin)
            .is_some_and(|end| (0..=end.len()).any(|at| end.is_char_boundary(at) && fits(&end[at..], rest))),
    }
}

#[test]
fn stand_in_the_table_of_quirks() {
    let names: Vec<String> = fs::read_dir(folder("openai-chat"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let cases: Vec<&str> = names
        .iter()
        .filter(|name| !name.ends_with(".expected.json"))
        .filter_map(|name| name.strip_suffix(".json"))
        .collect();
    let patterns = listed();
    let empty: Vec<_> = patterns
        .iter()
        .filter(|pattern| !cases.iter().any(|case| fits(case, pattern)))
        .collect();
    assert!(
        empty.is_empty(),
        "docs/dialects.md names cases that are not there: {empty:?}"
    );
    let missing: Vec<_> = cases
        .iter()
        .filter(|case| !patterns.iter().any(|pattern| fits(case, pattern)))
        .collect();
    assert!(
        missing.is_empty(),
        "docs/dialects.md does not name these cases: {missing:?}"
    );
}

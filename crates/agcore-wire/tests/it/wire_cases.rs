//! All wire cases of the project, in all three ways of reading.

use std::{
    fs,
    path::{Path, PathBuf},
};

use agcore_wire::{
    APIS,
    wire_case::{NeutralResult, ReadMode, WireCase, run},
};

fn folder(api: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures/wire")
        .join(api)
}

#[test]
fn cases_have_the_expected_result_however_they_are_read() {
    let wrong: Vec<String> = APIS.iter().flat_map(|api| wrong_cases(api.name)).collect();
    assert!(wrong.is_empty(), "{} lines differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// Returns the differences in the cases of one API, one per line.
fn wrong_cases(api: &str) -> Vec<String> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder(api))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    let is_case = |path: &PathBuf| {
        let name = path.to_str().unwrap();
        name.ends_with(".json") && !name.ends_with(".expected.json")
    };
    paths.retain(is_case);
    assert!(!paths.is_empty(), "no cases in {}", folder(api).display());
    paths.iter().flat_map(|path| differences(path, api)).collect()
}

fn differences(path: &Path, api: &str) -> Vec<String> {
    let case = WireCase::parse(&fs::read(path).unwrap()).unwrap();
    assert_eq!(case.dialect, api, "{}", case.id);
    let expected = fs::read(path.with_file_name(format!("{}.expected.json", case.id))).unwrap();
    let expected: NeutralResult = serde_json::from_slice(&expected).unwrap();
    let body = match case.body_file() {
        Some(file) => fs::read(path.with_file_name(file)).unwrap(),
        None => case.body.clone().into_bytes(),
    };
    let lines = |mode: ReadMode| {
        let differences = run(&case, &body, mode).unwrap().differences(&expected);
        let id = case.id.clone();
        let line = move |line: String| format!("{id} ({}): {line}", mode.name());
        differences.into_iter().map(line)
    };
    ReadMode::ALL.into_iter().flat_map(lines).collect()
}

/// Returns the patterns in the tables of quirks in docs/dialects.md.
fn listed() -> Vec<String> {
    let page = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/dialects.md");
    let page = fs::read_to_string(page).unwrap();
    let (_, replies) = page.split_once("## Quirks of replies").unwrap();
    let (replies, _) = replies.split_once("### Handled elsewhere").unwrap();
    let rows = replies
        .lines()
        .filter(|line| line.starts_with("| ") && !line.ends_with("| wire cases |"));
    let cells = rows.filter_map(|row| row.trim_end_matches([' ', '|']).rsplit_once(" | "));
    cells
        .flat_map(|(_, cell)| cell.split(", ").map(|name| name.trim_matches('`').to_owned()))
        .collect()
}

/// Returns whether a name matches a pattern, in which `*` matches any characters.
fn matches(name: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        None => name == pattern,
        Some((begin, rest)) => name
            .strip_prefix(begin)
            .is_some_and(|end| (0..=end.len()).any(|at| end.is_char_boundary(at) && matches(&end[at..], rest))),
    }
}

#[test]
fn cases_are_listed_in_the_tables_of_quirks() {
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
        .filter(|pattern| !cases.iter().any(|case| matches(case, pattern)))
        .collect();
    assert!(
        empty.is_empty(),
        "docs/dialects.md lists cases that do not exist: {empty:?}"
    );
    let missing: Vec<_> = cases
        .iter()
        .filter(|case| !patterns.iter().any(|pattern| matches(case, pattern)))
        .collect();
    assert!(
        missing.is_empty(),
        "docs/dialects.md does not list these cases: {missing:?}"
    );
}

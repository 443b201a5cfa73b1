//! Every wire case of the project, in all three ways of reading.

use std::{fs, path::PathBuf};

use agcore_llm::wire_case::{NeutralResult, ReadMode, WireCase, run};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/wire/openai-chat")
}

#[test]
fn give_the_neutral_result_however_they_are_cut() {
    let mut wrong = Vec::new();
    let mut count = 0;
    let mut paths: Vec<PathBuf> = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap().to_str().unwrap();
        if !name.ends_with(".json") || name.ends_with(".expected.json") {
            continue;
        }
        count += 1;
        let case = WireCase::read(&fs::read(&path).unwrap()).unwrap();
        let expected = fs::read(path.with_file_name(format!("{}.expected.json", case.id))).unwrap();
        let expected: NeutralResult = serde_json::from_slice(&expected).unwrap();
        let body = match case.body_file() {
            Some(file) => fs::read(path.with_file_name(file)).unwrap(),
            None => case.body.clone().into_bytes(),
        };
        for mode in ReadMode::ALL {
            let result = run(&case, &body, mode).unwrap();
            let differences = result.differences(&expected);
            wrong.extend(
                differences
                    .into_iter()
                    .map(|line| format!("{} ({}): {line}", case.id, mode.name())),
            );
        }
    }
    assert!(count > 0, "no cases in {}", folder().display());
    assert!(
        wrong.is_empty(),
        "{} of {count} cases:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
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
    let names: Vec<String> = fs::read_dir(folder())
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

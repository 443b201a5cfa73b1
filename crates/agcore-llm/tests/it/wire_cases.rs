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

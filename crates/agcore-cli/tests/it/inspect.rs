//! Tests of `agcore inspect case`.

use std::{
    fs,
    path::{Path, PathBuf},
};

use agcore::llm::wire::wire_case::NeutralResult;

use crate::support::{Agcore, RunOutput, files};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/wire/openai-chat")
}

/// Returns the wire cases of the repository.
fn cases() -> Vec<PathBuf> {
    let directory = fixtures();
    let is_case = |name: &String| name.ends_with(".json") && !name.ends_with(".expected.json");
    files(&directory)
        .into_iter()
        .filter(is_case)
        .map(|name| directory.join(name))
        .collect()
}

fn result(json: &[u8]) -> NeutralResult {
    serde_json::from_slice(json).unwrap()
}

fn expected(case: &Path) -> NeutralResult {
    result(&fs::read(case.with_extension("expected.json")).unwrap())
}

fn inspect(agcore: &Agcore, arguments: &[&str], files: &[PathBuf]) -> RunOutput {
    let files = files.iter().map(|file| file.to_str().unwrap());
    agcore.run(
        ["inspect", "case"]
            .into_iter()
            .chain(arguments.iter().copied())
            .chain(files),
    )
}

/// Returns a case with a complete response.
fn case(id: &str, dialect: &str, body: &str) -> String {
    let body = serde_json::Value::from(body);
    let id = serde_json::Value::from(id);
    format!(
        r#"{{"id": {id}, "dialect": "{dialect}", "quirk": "none", "http": {{"status": 200, "headers": {{}}}}, "body": {body}, "splits": [], "close": "clean"}}"#
    )
}

const HELLO: &str = r#"{"choices": [{"message": {"content": "Hello"}, "finish_reason": "stop"}]}"#;

#[test]
fn all_cases_have_the_expected_result_in_every_mode() {
    let cases = cases();
    assert!(cases.len() > 100, "{}", cases.len());
    for mode in ["listed", "whole", "bytes"] {
        let agcore = Agcore::new();
        let ran = inspect(&agcore, &["--mode", mode, "--out", "some/directory"], &cases);
        assert_eq!(ran.assert_success(), "");
        assert_eq!(ran.stderr, "");
        let directory = agcore.directory.path().join("some/directory");
        assert_eq!(files(&directory).len(), cases.len());
        for case in &cases {
            let expected = expected(case);
            let found = result(&fs::read(directory.join(format!("{}.json", expected.id))).unwrap());
            assert_eq!(found.differences(&expected), [""; 0], "{} ({mode})", expected.id);
        }
    }
}

#[test]
fn prints_one_line_per_result_without_a_directory() {
    let cases = &cases()[..20];
    let ran = inspect(&Agcore::new(), &[], cases);
    let found: Vec<NeutralResult> = ran
        .assert_success()
        .lines()
        .map(|line| result(line.as_bytes()))
        .collect();
    assert_eq!(found.len(), cases.len());
    for (found, case) in found.iter().zip(cases) {
        assert_eq!(found.differences(&expected(case)), [""; 0]);
    }
}

#[test]
fn a_case_needs_only_an_id_a_dialect_and_a_body() {
    let body = serde_json::Value::from(HELLO);
    let plain = format!(r#"{{"id": "plain", "dialect": "openai-chat", "body": {body}}}"#);
    let agcore = Agcore::new().with_file("plain.json", &plain);
    for mode in ["listed", "whole", "bytes"] {
        let ran = inspect(&agcore, &["--mode", mode], &["plain.json".into()]);
        assert_eq!(result(ran.assert_success().as_bytes()).text, "Hello");
    }
}

#[test]
fn reports_unreadable_cases_and_writes_the_others() {
    let agcore = Agcore::new()
        .with_file("good.json", &case("good", "openai-chat", HELLO))
        .with_file("text.json", "not a case")
        .with_file("half.json", r#"{"id": "half"}"#)
        .with_file("elsewhere.json", &case("elsewhere", "smoke-signals", HELLO))
        .with_file(
            "bodiless.json",
            &case("bodiless", "openai-chat", "gone.body").replace("\"body\"", "\"bytes\": 5, \"body\""),
        )
        .with_file(
            "peeking.json",
            &case("peeking", "openai-chat", "../secret").replace("\"body\"", "\"bytes\": 5, \"body\""),
        )
        .with_file("short.body", "1234")
        .with_file(
            "short.json",
            &case("short", "openai-chat", "short.body").replace("\"body\"", "\"bytes\": 5, \"body\""),
        )
        .with_file("last.json", &case("last", "openai-chat", HELLO));
    let names = [
        "good",
        "text",
        "half",
        "elsewhere",
        "bodiless",
        "peeking",
        "short",
        "gone",
        "last",
    ]
    .map(|name| format!("{name}.json"));
    let arguments = |out: &[&'static str]| {
        [&["inspect", "case"], out]
            .concat()
            .into_iter()
            .map(str::to_owned)
            .chain(names.clone())
    };
    let ran = agcore.run(arguments(&["--out", "out"]));
    ran.assert_failed(
        1,
        &[
            "text.json: invalid wire case",
            "half.json: invalid wire case: missing field `dialect`",
            "elsewhere.json: this build does not support the API `smoke-signals`",
            "bodiless.json: cannot read the body `gone.body`: ",
            "peeking.json: the body `../secret` must be a file in the same directory as the case",
            "short.json: the body has 4 bytes, but the case expects 5",
            "gone.json: ",
            "error: 7 of 9 cases could not be decoded or written",
        ],
    );
    assert_eq!(files(&agcore.directory.path().join("out")), ["good.json", "last.json"]);
    // Standard output gets the same results.
    let ran = agcore.run(arguments(&[]));
    ran.assert_failed(1, &["error: 7 of 9 cases could not be decoded or written"]);
    let ids: Vec<String> = ran.stdout.lines().map(|line| result(line.as_bytes()).id).collect();
    assert_eq!(ids, ["good", "last"]);
}

#[test]
fn an_id_cannot_leave_the_directory() {
    let agcore = Agcore::new()
        .with_file("up.json", &case("../up", "openai-chat", HELLO))
        .with_file("root.json", &case("/tmp/agcore-root", "openai-chat", HELLO));
    agcore
        .run(["inspect", "case", "--out", "out", "up.json", "root.json"])
        .assert_success();
    assert_eq!(
        files(&agcore.directory.path().join("out")),
        ["%2Ftmp%2Fagcore-root.json", "..%2Fup.json"]
    );
    assert_eq!(agcore.files(), ["out", "root.json", "up.json"]);
}

#[test]
fn a_duplicate_id_does_not_overwrite_a_result() {
    let second = HELLO.replace("Hello", "Other");
    let agcore = Agcore::new()
        .with_file("a.json", &case("same", "openai-chat", HELLO))
        .with_file("b.json", &case("same", "openai-chat", &second));
    let ran = agcore.run(["inspect", "case", "--out", "out", "a.json", "b.json"]);
    ran.assert_failed(1, &["b.json: another case with the id `same` has already been written"]);
    assert_eq!(
        result(&fs::read(agcore.directory.path().join("out/same.json")).unwrap()).text,
        "Hello"
    );
    // Results of earlier runs are replaced.
    agcore
        .run(["inspect", "case", "--out", "out", "b.json"])
        .assert_success();
    assert_eq!(
        result(&fs::read(agcore.directory.path().join("out/same.json")).unwrap()).text,
        "Other"
    );
}

#[test]
fn reports_a_directory_that_cannot_be_created() {
    let agcore = Agcore::new()
        .with_file("out", "a file")
        .with_file("a.json", &case("a", "openai-chat", HELLO));
    agcore
        .run(["inspect", "case", "--out", "out", "a.json"])
        .assert_failed(2, &["cannot create the directory out"]);
}

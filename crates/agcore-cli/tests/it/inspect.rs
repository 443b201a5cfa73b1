//! `agcore inspect case`.

use std::{
    fs,
    path::{Path, PathBuf},
};

use agcore::llm::wire_case::NeutralResult;

use crate::support::{Agcore, Ran, files};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/wire/openai-chat")
}

/// The cases of the project.
fn cases() -> Vec<PathBuf> {
    let folder = fixtures();
    let is_case = |name: &String| name.ends_with(".json") && !name.ends_with(".expected.json");
    files(&folder)
        .into_iter()
        .filter(is_case)
        .map(|name| folder.join(name))
        .collect()
}

fn result(json: &[u8]) -> NeutralResult {
    serde_json::from_slice(json).unwrap()
}

fn expected(case: &Path) -> NeutralResult {
    result(&fs::read(case.with_extension("expected.json")).unwrap())
}

fn inspect(agcore: &Agcore, arguments: &[&str], files: &[PathBuf]) -> Ran {
    let files = files.iter().map(|file| file.to_str().unwrap());
    agcore.run(
        ["inspect", "case"]
            .into_iter()
            .chain(arguments.iter().copied())
            .chain(files),
    )
}

/// A whole answer as a case.
fn case(id: &str, dialect: &str, body: &str) -> String {
    let body = serde_json::Value::from(body);
    let id = serde_json::Value::from(id);
    format!(
        r#"{{"id": {id}, "dialect": "{dialect}", "quirk": "none", "http": {{"status": 200, "headers": {{}}}}, "body": {body}, "splits": [], "close": "clean"}}"#
    )
}

const HELLO: &str = r#"{"choices": [{"message": {"content": "Hello"}, "finish_reason": "stop"}]}"#;

#[test]
fn all_cases_give_what_is_expected_in_every_mode() {
    let cases = cases();
    assert!(cases.len() > 100, "{}", cases.len());
    for mode in ["listed", "whole", "bytes"] {
        let agcore = Agcore::new();
        let ran = inspect(&agcore, &["--mode", mode, "--out", "some/folder"], &cases);
        assert_eq!(ran.assert_done(), "");
        assert_eq!(ran.stderr, "");
        let folder = agcore.folder.path().join("some/folder");
        assert_eq!(files(&folder).len(), cases.len());
        for case in &cases {
            let expected = expected(case);
            let found = result(&fs::read(folder.join(format!("{}.json", expected.id))).unwrap());
            assert_eq!(found.differences(&expected), [""; 0], "{} ({mode})", expected.id);
        }
    }
}

#[test]
fn without_a_folder_every_result_is_a_line() {
    let cases = &cases()[..20];
    let ran = inspect(&Agcore::new(), &[], cases);
    let found: Vec<NeutralResult> = ran.assert_done().lines().map(|line| result(line.as_bytes())).collect();
    assert_eq!(found.len(), cases.len());
    for (found, case) in found.iter().zip(cases) {
        assert_eq!(found.differences(&expected(case)), [""; 0]);
    }
}

#[test]
fn a_case_that_cannot_be_read_is_named_and_all_others_are_written() {
    let agcore = Agcore::new()
        .with_file("good.json", &case("good", "openai-chat", HELLO))
        .with_file("text.json", "no case")
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
            "text.json: this is no wire case",
            "half.json: this is no wire case: missing field `dialect`",
            "elsewhere.json: no wire of this build speaks the dialect `smoke-signals`",
            "bodiless.json: the body `gone.body`: ",
            "peeking.json: the body `../secret` is no name of a file beside it",
            "short.json: the body has 4 bytes, the case says 5",
            "gone.json: ",
            "error: 7 of 9 cases were not written",
        ],
    );
    assert_eq!(files(&agcore.folder.path().join("out")), ["good.json", "last.json"]);
    // The same to standard output.
    let ran = agcore.run(arguments(&[]));
    ran.assert_failed(1, &["error: 7 of 9 cases were not written"]);
    let ids: Vec<String> = ran.stdout.lines().map(|line| result(line.as_bytes()).id).collect();
    assert_eq!(ids, ["good", "last"]);
}

#[test]
fn an_id_cannot_leave_the_folder() {
    let agcore = Agcore::new()
        .with_file("up.json", &case("../up", "openai-chat", HELLO))
        .with_file("root.json", &case("/tmp/agcore-root", "openai-chat", HELLO));
    agcore
        .run(["inspect", "case", "--out", "out", "up.json", "root.json"])
        .assert_done();
    assert_eq!(
        files(&agcore.folder.path().join("out")),
        ["%2Ftmp%2Fagcore-root.json", "..%2Fup.json"]
    );
    assert_eq!(agcore.files(), ["out", "root.json", "up.json"]);
}

#[test]
fn no_result_takes_the_place_of_another() {
    let second = HELLO.replace("Hello", "Other");
    let agcore = Agcore::new()
        .with_file("a.json", &case("same", "openai-chat", HELLO))
        .with_file("b.json", &case("same", "openai-chat", &second));
    let ran = agcore.run(["inspect", "case", "--out", "out", "a.json", "b.json"]);
    ran.assert_failed(1, &["b.json: another case has the id `same`"]);
    assert_eq!(
        result(&fs::read(agcore.folder.path().join("out/same.json")).unwrap()).text,
        "Hello"
    );
    // A result of an earlier run is replaced.
    agcore.run(["inspect", "case", "--out", "out", "b.json"]).assert_done();
    assert_eq!(
        result(&fs::read(agcore.folder.path().join("out/same.json")).unwrap()).text,
        "Other"
    );
}

#[test]
fn a_folder_that_cannot_be_made_is_told() {
    let agcore = Agcore::new()
        .with_file("out", "a file")
        .with_file("a.json", &case("a", "openai-chat", HELLO));
    agcore
        .run(["inspect", "case", "--out", "out", "a.json"])
        .assert_failed(2, &["the folder out cannot be made"]);
}

//! `--schema`: answers that match a JSON Schema.

use std::sync::atomic::{AtomicUsize, Ordering};

use agcore_testkit::mock_server::{MockOptions, RecordedRequest, Reply};
use serde_json::{Value, json};

use crate::support::{Agcore, Server};

const SCHEMA: &str = r#"{
    "type": "object",
    "properties": {"city": {"type": "string"}, "people": {"type": "integer", "minimum": 1}},
    "required": ["city", "people"],
    "additionalProperties": false
}"#;

/// Starts a model that returns these answers, and the last of them from then on.
fn model(answers: &'static [&'static str]) -> Server {
    let next = AtomicUsize::new(0);
    Server::start(MockOptions::new(), move |_: &RecordedRequest| {
        let number = next.fetch_add(1, Ordering::SeqCst).min(answers.len() - 1);
        Reply::text(answers[number])
    })
}

fn agcore(server: &Server) -> Agcore {
    Agcore::talking_to(server).with_file("city.json", SCHEMA)
}

const ASK: [&str; 4] = ["-p", "A city?", "--schema", "city.json"];

#[test]
fn only_the_value_is_printed() {
    let server = model(&[r#"{"city": "Oslo", "people": 700000}"#]);
    let agcore = agcore(&server);
    let quiet = agcore.run([&["-q"], &ASK[..]].concat());
    let value: Value = serde_json::from_str(quiet.assert_success()).unwrap();
    assert_eq!((value["city"].as_str(), quiet.stderr.as_str()), (Some("Oslo"), ""));
    let ran = agcore.run(ASK);
    let value: Value = serde_json::from_str(ran.assert_success()).unwrap();
    assert_eq!(value, json!({"city": "Oslo", "people": 700_000}));
    let request = server.requests()[0].json().to_string();
    assert!(
        request.contains("additionalProperties"),
        "the model knows the schema: {request}"
    );
}

#[test]
fn the_value_is_part_of_machine_readable_output() {
    for format in ["json", "stream-json"] {
        let server = model(&[r#"{"city": "Oslo", "people": 1}"#]);
        let ran = agcore(&server).run([&ASK[..], &["--output-format", format]].concat());
        let last = ran.assert_success().lines().last().unwrap();
        let result: Value = serde_json::from_str(last).unwrap();
        assert_eq!(result["value"], json!({"city": "Oslo", "people": 1}));
        assert_eq!(
            (&result["status"], &result["num_model_calls"]),
            (&json!("ok"), &json!(1))
        );

        let server = model(&["Oslo has no people."]);
        let ran = agcore(&server).run([&ASK[..], &["--output-format", format]].concat());
        ran.assert_failed(1, &["error: "]);
        let result: Value = serde_json::from_str(ran.stdout.lines().last().unwrap()).unwrap();
        assert_eq!((result.get("value"), &result["status"]), (None, &json!("error")));
    }
}

#[test]
fn a_session_with_such_an_answer_is_replayed() {
    let server = model(&[r#"{"city": "Oslo", "people": 0}"#, r#"{"city": "Oslo", "people": 1}"#]);
    let agcore = agcore(&server).at_home();
    agcore.run(ASK).assert_success();
    let listed = agcore.run(["sessions", "list", "--json"]);
    let list: Value = serde_json::from_str(listed.assert_success()).unwrap();
    let session = list["sessions"][0]["id"].as_str().unwrap();
    let replayed = agcore.run(["sessions", "replay", session]);
    assert_eq!(
        replayed.assert_success(),
        format!("{session}: no difference in 1 turn, 2 calls of the model and 0 results of tools.\n")
    );
    assert_eq!(server.requests().len(), 2, "nothing is asked for again");
}

#[test]
fn the_model_corrects_a_value_that_does_not_match() {
    let server = model(&[r#"{"city": "Oslo", "people": 0}"#, r#"{"city": "Oslo", "people": 1}"#]);
    let ran = agcore(&server).run(ASK);
    let value: Value = serde_json::from_str(ran.assert_success()).unwrap();
    assert_eq!(value["people"], 1);
    let correction = server.requests()[1].json()["messages"].to_string();
    assert!(correction.contains("0 is less than the minimum of 1"), "{correction}");

    let server = model(&["Oslo has no people."]);
    let ran = agcore(&server).run(ASK);
    ran.assert_failed(1, &["error: "]);
    assert_eq!(ran.stdout, "");
}

#[test]
fn a_schema_may_be_written_on_the_command_line() {
    let server = model(&[r#"{"city": "Oslo"}"#]);
    let schema = r#"{"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}"#;
    let ran = agcore(&server).run(["-p", "A city?", "--schema", schema]);
    let value: Value = serde_json::from_str(ran.assert_success()).unwrap();
    assert_eq!(value["city"], "Oslo");
}

#[test]
fn mistakes_are_explained() {
    let server = Server::playground();
    let agcore = agcore(&server).with_file("list.json", "[1]").with_file("cut.json", "{");
    for (file, reason) in [
        (
            "missing.json",
            "--schema expects the name of a file, or JSON that begins with {",
        ),
        (
            "{\"type\": 1",
            "the text after --schema is not valid JSON: EOF while parsing",
        ),
        ("list.json", "is not a JSON object"),
        ("{\"type\": \"strng\"}", "is not a valid JSON Schema"),
        ("cut.json", "EOF while parsing"),
    ] {
        agcore
            .run(["-p", "A city?", "--schema", file])
            .assert_failed(2, &[reason]);
    }
    agcore
        .run(["run", "A city?", "--schema", "city.json"])
        .assert_failed(2, &["--schema is for single messages"]);
    assert!(server.requests().is_empty());
}

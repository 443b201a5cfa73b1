//! Reads machine-readable output, and checks what holds for every run.

use std::sync::OnceLock;

use agcore_stream_json::Line;
use jsonschema::Validator;
use serde_json::Value;

use crate::support::RunOutput;

/// The published schema of a line.
fn validator() -> &'static Validator {
    static VALIDATOR: OnceLock<Validator> = OnceLock::new();
    VALIDATOR.get_or_init(|| {
        let schema = serde_json::from_str(include_str!("../../../../docs/output-schema.json")).unwrap();
        jsonschema::draft202012::new(&schema).unwrap()
    })
}

/// Asserts that this is a line of the output, and that the types of agcore-stream-json have all that is in it.
#[track_caller]
pub(crate) fn assert_valid(line: &Value) {
    let read = Line::parse(&line.to_string()).unwrap_or_else(|error| panic!("{error}: {line}"));
    let written: Value = serde_json::from_str(&read.to_json().unwrap()).unwrap();
    assert_eq!(&written, line);
    let errors: Vec<String> = validator().iter_errors(line).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?} in {line}");
}

/// Returns the lines of a stream. Each is valid, they are numbered without gaps, and the last one is the only result and
/// agrees with the exit code.
#[track_caller]
pub(crate) fn stream(ran: &RunOutput) -> Vec<Value> {
    let lines = lines(&ran.stdout);
    check_result(lines.last().expect("no output"), ran);
    lines
}

/// Returns the result that `--output-format json` printed.
#[track_caller]
pub(crate) fn result(ran: &RunOutput) -> Value {
    let mut lines = lines(&ran.stdout);
    assert_eq!(lines.len(), 1, "{}", ran.stdout);
    check_result(&lines[0], ran);
    lines.remove(0)
}

#[track_caller]
pub(crate) fn lines(stdout: &str) -> Vec<Value> {
    let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    let lines: Vec<Value> = stdout.lines().map(parse).collect();
    for (number, line) in lines.iter().enumerate() {
        assert_valid(line);
        assert_eq!(
            (&line["v"], &line["seq"]),
            (&Value::from(1), &Value::from(number)),
            "{line}"
        );
    }
    let results = lines.iter().filter(|line| line["type"] == "result").count();
    assert!(results <= 1, "{stdout}");
    lines
}

#[track_caller]
fn check_result(result: &Value, ran: &RunOutput) {
    assert_eq!(result["type"], "result", "the last line is not a result: {result}");
    assert_eq!(result["exit_code"], Value::from(ran.code()), "{result}");
    let is_ok = result["status"] == "ok";
    assert_eq!(is_ok, ran.code() == Some(0), "{result}");
    assert_eq!(is_ok, result["error"].is_null(), "{result}");
}

/// Returns the types of lines.
pub(crate) fn types(lines: &[Value]) -> Vec<&str> {
    lines.iter().map(|line| line["type"].as_str().unwrap()).collect()
}

/// Returns the lines of a type.
pub(crate) fn of_type<'l>(lines: &'l [Value], kind: &str) -> Vec<&'l Value> {
    lines.iter().filter(|line| line["type"] == kind).collect()
}

//! `agcore config`: every setting with its source.

use serde_json::{Value, json};

use crate::support::{Agcore, KEY};

/// A setting as `config --json` tells it: value, source, where.
fn setting(agcore: &Agcore, arguments: &[&str], name: &str) -> (Value, Value, Value) {
    let ran = agcore.run([&["config", "--json"], arguments].concat());
    let report: Value = serde_json::from_str(ran.assert_done()).unwrap();
    let settings = report["settings"].as_array().unwrap();
    let found = settings.iter().find(|setting| setting["name"] == name).unwrap();
    (found["value"].clone(), found["source"].clone(), found["where"].clone())
}

#[test]
fn each_value_names_its_source_and_the_strongest_wins() {
    let mut agcore = Agcore::new();
    let check = |agcore: &Agcore, arguments: &[&str], name: &str, expected: [&str; 3]| {
        let (value, source, place) = setting(agcore, arguments, name);
        let place = if place.is_null() { json!("") } else { place };
        assert_eq!([value, source, place], expected.map(Value::from), "{name}");
    };
    check(&agcore, &[], "model", ["gpt-5-mini", "default", ""]);
    check(&agcore, &[], "provider", ["openai", "default", ""]);
    check(&agcore, &[], "base_url", ["https://api.openai.com/v1", "default", ""]);
    agcore = agcore.with_file(
        "agcore.toml",
        "model = 'm1'\nhistory = false\nbase_url = 'http://u:p@h/v1?key=k'",
    );
    check(&agcore, &[], "model", ["m1", "file", "agcore.toml"]);
    check(&agcore, &[], "history", ["off", "file", "agcore.toml"]);
    check(&agcore, &[], "base_url", ["http://***@h/v1?***", "file", "agcore.toml"]);
    agcore = agcore.with_file(".env", "OPENAI_MODEL=m2\nAGCORE_HISTORY=on\n");
    check(&agcore, &[], "model", ["m2", "dotenv", "OPENAI_MODEL"]);
    check(&agcore, &[], "history", ["on", "dotenv", "AGCORE_HISTORY"]);
    agcore = agcore.with("AGCORE_MODEL", "m3");
    check(&agcore, &[], "model", ["m3", "environment", "AGCORE_MODEL"]);
    check(&agcore, &["--model", "m4"], "model", ["m4", "option", "--model"]);
    check(
        &agcore,
        &["--provider", "ollama"],
        "provider",
        ["ollama", "option", "--provider"],
    );
}

#[test]
fn what_is_not_set_is_said_so_and_a_key_is_not_shown() {
    let agcore = Agcore::new();
    assert_eq!(setting(&agcore, &["--provider", "vllm"], "model").0, Value::Null);
    assert_eq!(setting(&agcore, &[], "api_key").0, Value::Null);
    let agcore = agcore.with("OPENAI_API_KEY", KEY);
    let shown = agcore.run(["config"]);
    // `assert_done` looks for the key.
    let shown = shown.assert_done();
    assert!(
        shown.contains("api_key        set") && shown.contains("environment, OPENAI_API_KEY"),
        "{shown}"
    );
    assert!(
        agcore
            .run(["config", "--provider", "vllm"])
            .assert_done()
            .contains("model          not set")
    );
}

#[test]
fn what_nobody_knows_is_told_and_the_rest_is_shown() {
    let agcore = Agcore::new()
        .with_file("agcore.toml", "nodel = 'x'\nsystem = 'Be kind.'\n")
        .with("AGCORE_MODLE", "y");
    let ran = agcore.run(["config"]);
    assert!(ran.assert_done().contains("Be kind."));
    for warning in [
        "warning: agcore.toml:1:1: unknown field `nodel` is no setting",
        "did you mean `model`?",
        "warning: AGCORE_MODLE is no variable of agcore; did you mean `AGCORE_MODEL`?",
    ] {
        assert!(ran.stderr.contains(warning), "no {warning:?} in {}", ran.stderr);
    }
    // A chat does not run with a setting that it does not understand.
    agcore
        .run(["chat", "hi"])
        .assert_failed(2, &["agcore.toml:1:1: unknown field `nodel`"]);
}

#[test]
fn a_file_that_is_none_is_told_with_its_place() {
    let agcore = Agcore::new().with_file("agcore.toml", &format!("api_key = {KEY}"));
    agcore.run(["config"]).assert_failed(2, &["agcore.toml:1:"]);
    let agcore = Agcore::new().with("AGCORE_HISTORY", "sometimes");
    agcore
        .run(["config"])
        .assert_failed(2, &["environment, AGCORE_HISTORY: the history is `on` or `off`"]);
}

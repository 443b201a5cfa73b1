//! Tests of `agcore config`.

use serde_json::{Value, json};

use crate::support::{Agcore, KEY};

/// Returns a setting from `config --json`: value, source, where.
fn setting(agcore: &Agcore, arguments: &[&str], name: &str) -> (Value, Value, Value) {
    let ran = agcore.run([&["config", "--json"], arguments].concat());
    let report: Value = serde_json::from_str(ran.assert_success()).unwrap();
    let settings = report["settings"].as_array().unwrap();
    let found = settings.iter().find(|setting| setting["name"] == name).unwrap();
    (found["value"].clone(), found["source"].clone(), found["where"].clone())
}

#[test]
fn shows_the_source_of_each_value() {
    let mut agcore = Agcore::new().at_home().trusting();
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
fn shows_unset_values_and_hides_the_key() {
    let agcore = Agcore::new();
    assert_eq!(setting(&agcore, &["--provider", "vllm"], "model").0, Value::Null);
    assert_eq!(setting(&agcore, &[], "api_key").0, Value::Null);
    let agcore = agcore.with("OPENAI_API_KEY", KEY);
    let shown = agcore.run(["config"]);
    // `assert_success` fails if the output contains the key.
    let shown = shown.assert_success();
    assert!(
        shown.contains("api_key              set") && shown.contains("environment, OPENAI_API_KEY"),
        "{shown}"
    );
    assert!(
        agcore
            .run(["config", "--provider", "vllm"])
            .assert_success()
            .contains("model                not set")
    );
}

#[test]
fn warns_about_unknown_names_and_shows_the_rest() {
    let agcore = Agcore::new()
        .trusting()
        .with_file("agcore.toml", "nodel = 'x'\nsystem = 'Be kind.'\n")
        .with("AGCORE_MODLE", "y");
    let ran = agcore.run(["config"]);
    assert!(ran.assert_success().contains("Be kind."));
    for warning in [
        "warning: agcore.toml:1:1: unknown setting `nodel`",
        "did you mean `model`?",
        "warning: unknown variable AGCORE_MODLE; did you mean `AGCORE_MODEL`?",
    ] {
        assert!(ran.stderr.contains(warning), "no {warning:?} in {}", ran.stderr);
    }
    // A chat refuses to start with an unknown setting.
    agcore
        .run(["chat", "hi"])
        .assert_failed(2, &["agcore.toml:1:1: unknown setting `nodel`"]);
}

#[test]
fn reports_the_location_of_errors() {
    let agcore = Agcore::new().with_file("agcore.toml", &format!("api_key = {KEY}"));
    agcore.run(["config"]).assert_failed(2, &["agcore.toml:1:"]);
    let agcore = Agcore::new().with("AGCORE_HISTORY", "sometimes");
    agcore
        .run(["config"])
        .assert_failed(2, &["environment, AGCORE_HISTORY: expected `on` or `off`"]);
}

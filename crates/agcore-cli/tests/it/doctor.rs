//! `agcore doctor`: what it finds, and what it advises.

use agcore_testkit::mock_server::{DeafServer, MockOptions, Playground};
use serde_json::Value;

use crate::support::{Agcore, KEY, Ran, Server, runtime};

fn server() -> Server {
    Server::start(
        MockOptions::new().with_models(["gpt-5-mini", "gpt-5"]).with_key(KEY),
        Playground::new(),
    )
}

/// The checks of a name, each with its status and what was found.
fn checks(ran: &Ran, name: &str) -> Vec<(String, String)> {
    ran.assert_clean();
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    let checks = report["checks"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let named = checks.filter(|check| check["name"] == name);
    named
        .map(|check| {
            (
                text(&check["status"]),
                text(&check["message"]) + " " + &text(&check["advice"]),
            )
        })
        .collect()
}

#[track_caller]
fn finds(ran: &Ran, name: &str, status: &str, words: &str) {
    let found = checks(ran, name);
    let is_there = |(found, told): &(String, String)| found == status && told.contains(words);
    assert!(found.iter().any(is_there), "no {status} {words:?} in {found:?}");
}

#[test]
fn all_is_well() {
    let server = server();
    let agcore = Agcore::talking_to(&server)
        .with("HOME", "/nowhere")
        .with("AGCORE_HISTORY", "off");
    let ran = agcore.run(["doctor", "--json"]);
    assert_eq!(ran.code(), Some(0), "{}", ran.stdout);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(report["ok"], true);
    finds(&ran, "key", "ok", "set (environment, OPENAI_API_KEY)");
    finds(&ran, "server", "ok", "answers; models: 2");
    finds(&ran, "model", "ok", "the server lists gpt-5-mini");
    finds(&ran, "history", "ok", "off (environment, AGCORE_HISTORY)");
    let shown = agcore.run(["doctor"]);
    let lines: Vec<&str> = shown.assert_done().lines().collect();
    assert!(lines.iter().all(|line| line.starts_with("ok    ")), "{lines:?}");
    assert!(
        server
            .requests()
            .iter()
            .all(|request| request.path().ends_with("/models"))
    );
}

#[test]
fn no_key() {
    let ran = Agcore::new().run(["doctor", "--json"]);
    assert_eq!(ran.code(), Some(3));
    finds(&ran, "key", "fail", "Set OPENAI_API_KEY or AGCORE_API_KEY");
    finds(&ran, "server", "warn", "it was not asked");
    assert!(ran.stderr.starts_with("error: 1 of "), "{}", ran.stderr);
}

#[test]
fn a_wrong_key() {
    let server = server();
    let ran = Agcore::talking_to(&server)
        .with("AGCORE_API_KEY", "sk-wrong-1")
        .run(["doctor", "--json"]);
    assert_eq!(ran.code(), Some(3));
    finds(&ran, "server", "fail", "The server refuses the key");
    assert!(!ran.stdout.contains("sk-wrong"), "{}", ran.stdout);
}

#[test]
fn nobody_there() {
    let server = server();
    let agcore = Agcore::talking_to(&server);
    drop(server);
    let ran = agcore.run(["doctor"]);
    assert_eq!(ran.code(), Some(4));
    assert!(
        ran.stdout.contains("fail  server") && ran.stdout.contains("connection refused"),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.contains("→ Check the base URL"), "{}", ran.stdout);
    assert!(
        ran.stdout.contains("clock"),
        "the rest is looked at, too: {}",
        ran.stdout
    );
}

#[test]
fn a_server_that_never_answers() {
    let within = runtime();
    let deaf = within.block_on(DeafServer::start()).unwrap();
    let ran = Agcore::new()
        .with("OPENAI_API_KEY", KEY)
        .with("OPENAI_BASE_URL", &deaf.base_url())
        .run(["doctor", "--json"]);
    assert_eq!(ran.code(), Some(4), "{}", ran.stdout);
    finds(&ran, "server", "fail", "within");
}

#[test]
fn a_model_that_the_server_does_not_have() {
    let server = server();
    let ran = Agcore::talking_to(&server).run(["doctor", "--json", "--model", "gpt5"]);
    assert_eq!(ran.code(), Some(0));
    finds(&ran, "model", "warn", "the server does not list gpt5");
    finds(&ran, "model", "warn", "Did you mean gpt-5?");
}

#[test]
fn settings_that_do_not_fit() {
    let server = server();
    let agcore = Agcore::talking_to(&server).with("AGCORE_MODLE", "x");
    finds(
        &agcore.run(["doctor", "--json"]),
        "settings",
        "warn",
        "did you mean `AGCORE_MODEL`?",
    );
    let agcore = agcore.with_file("agcore.toml", "nodel = 1\n[permissions]\nallow = ['nothing']");
    let ran = agcore.run(["doctor", "--json"]);
    assert_eq!(ran.code(), Some(2));
    finds(&ran, "settings", "fail", "unknown field `nodel`");
    finds(
        &ran,
        "tools",
        "fail",
        "there is neither a tool nor a permission `nothing`",
    );
    let agcore = agcore.with_file("agcore.toml", "model = ");
    let ran = agcore.run(["doctor", "--json"]);
    assert_eq!(ran.code(), Some(2));
    finds(&ran, "settings", "fail", "agcore.toml:1:");
    finds(&ran, "clock", "ok", "it is 2");
}

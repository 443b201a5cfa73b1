//! Tests of `agcore doctor`.

use agcore_demo::Playground;
use agcore_testkit::mock_server::{DeafServer, MockOptions};
use serde_json::Value;

use crate::support::{Agcore, KEY, RunOutput, Server, runtime};

fn server() -> Server {
    Server::start(
        MockOptions::new().with_models(["gpt-5-mini", "gpt-5"]).with_key(KEY),
        Playground::new(),
    )
}

/// Returns the checks with this name: status, and message with advice.
fn checks(ran: &RunOutput, name: &str) -> Vec<(String, String)> {
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
fn assert_check(ran: &RunOutput, name: &str, status: &str, text: &str) {
    let found = checks(ran, name);
    let is_expected = |(found, message): &(String, String)| found == status && message.contains(text);
    assert!(
        found.iter().any(is_expected),
        "no check with status {status} and {text:?} in {found:?}"
    );
}

#[test]
fn the_sandbox_is_reported_with_its_source() {
    let server = server();
    let agcore = Agcore::talking_to(&server);
    assert_check(
        &agcore.run(["doctor", "--json", "--sandbox", "off"]),
        "sandbox",
        "ok",
        "off (option --sandbox): commands are not confined",
    );
    let found = checks(&agcore.run(["doctor", "--json"]), "sandbox");
    assert!(found[0].1.starts_with("workspace (default): "), "{found:?}");
}

#[test]
fn all_checks_succeed() {
    let server = server();
    let agcore = Agcore::talking_to(&server)
        .with("HOME", "/nowhere")
        .with("AGCORE_HISTORY", "off");
    let ran = agcore.run(["doctor", "--json"]);
    assert_eq!(ran.code(), Some(0), "{}", ran.stdout);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(report["ok"], true);
    assert_check(&ran, "key", "ok", "set (environment, OPENAI_API_KEY)");
    assert_check(&ran, "server", "ok", "is reachable; models: 2");
    assert_check(&ran, "model", "ok", "the server lists gpt-5-mini");
    assert_check(&ran, "history", "ok", "off (environment, AGCORE_HISTORY)");
    // A system may have no sandbox.
    let shown = agcore.run(["doctor", "--sandbox", "off"]);
    let lines: Vec<&str> = shown.assert_success().lines().collect();
    assert!(lines.iter().all(|line| line.starts_with("ok    ")), "{lines:?}");
    assert!(
        server
            .requests()
            .iter()
            .all(|request| request.path().ends_with("/models"))
    );
}

#[test]
fn missing_key() {
    let ran = Agcore::new().run(["doctor", "--json"]);
    assert_eq!(ran.code(), Some(3));
    assert_check(&ran, "key", "fail", "Set OPENAI_API_KEY or AGCORE_API_KEY");
    assert_check(&ran, "server", "warn", "skipped: no API key");
    assert!(ran.stderr.starts_with("error: 1 of "), "{}", ran.stderr);
}

/// A server of a type that usually needs no key may want one.
#[test]
fn a_server_that_wants_a_key_makes_its_absence_a_failure() {
    let server = server();
    let url = server.base_url();
    for provider in ["compatible", "vllm", "openai"] {
        let agcore = Agcore::new()
            .with("AGCORE_BASE_URL", &url)
            .with("AGCORE_PROVIDER", provider);
        let ran = agcore.run(["doctor", "--json", "-m", "gpt-5"]);
        assert_eq!(ran.code(), Some(3), "{provider}: {}", ran.stdout);
        assert_check(&ran, "key", "fail", "not set, but the server requires one");
        assert_check(&ran, "key", "fail", "AGCORE_API_KEY");
        assert_check(&ran, "server", "fail", "401");
    }
    let open = Server::start(MockOptions::new().with_models(["gpt-5"]), Playground::new());
    let agcore = Agcore::new().with("AGCORE_BASE_URL", &open.base_url());
    let ran = agcore
        .with("AGCORE_PROVIDER", "compatible")
        .run(["doctor", "--json", "-m", "gpt-5"]);
    assert_check(&ran, "key", "ok", "not set; the server lists its models without one");
}

#[test]
fn wrong_key() {
    let server = server();
    let ran = Agcore::talking_to(&server)
        .with("AGCORE_API_KEY", "sk-wrong-1")
        .run(["doctor", "--json"]);
    assert_eq!(ran.code(), Some(3));
    assert_check(&ran, "server", "fail", "The server rejected the API key");
    assert!(!ran.stdout.contains("sk-wrong"), "{}", ran.stdout);
}

#[test]
fn no_server_at_the_address() {
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
    assert!(
        ran.stdout
            .contains("→ Check that the server is running, and the base URL"),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stdout.contains("clock"),
        "the other checks are missing: {}",
        ran.stdout
    );
}

#[test]
fn unresponsive_server() {
    let within = runtime();
    let deaf = within.block_on(DeafServer::start()).unwrap();
    let ran = Agcore::new()
        .with("OPENAI_API_KEY", KEY)
        .with("OPENAI_BASE_URL", &deaf.base_url())
        .run(["doctor", "--json"]);
    assert_eq!(ran.code(), Some(4), "{}", ran.stdout);
    assert_check(&ran, "server", "fail", "within");
}

#[test]
fn unknown_model() {
    let server = server();
    let ran = Agcore::talking_to(&server).run(["doctor", "--json", "--model", "gpt5"]);
    assert_eq!(ran.code(), Some(0));
    assert_check(&ran, "model", "warn", "the server does not list gpt5");
    assert_check(&ran, "model", "warn", "Did you mean gpt-5?");
}

#[test]
fn invalid_settings() {
    let server = server();
    let agcore = Agcore::talking_to(&server).trusting().with("AGCORE_MODLE", "x");
    assert_check(
        &agcore.run(["doctor", "--json"]),
        "settings",
        "warn",
        "did you mean `AGCORE_MODEL`?",
    );
    let agcore = agcore.with_file("agcore.toml", "nodel = 1\n[permissions]\nallow = ['nothing']");
    let ran = agcore.run(["doctor", "--json"]);
    assert_eq!(ran.code(), Some(2));
    assert_check(&ran, "settings", "fail", "unknown setting `nodel`");
    assert_check(&ran, "tools", "fail", "unknown tool or permission `nothing`");
    let agcore = agcore.with_file("agcore.toml", "model = ");
    let ran = agcore.run(["doctor", "--json"]);
    assert_eq!(ran.code(), Some(2));
    assert_check(&ran, "settings", "fail", "agcore.toml:1:");
    assert_check(&ran, "clock", "ok", "the time is 2");
}

#[test]
fn reports_what_is_disabled_without_trust() {
    let server = server();
    let agcore = Agcore::talking_to(&server)
        .at_home()
        .with_file("agcore.toml", "model = 'gpt-5'\nbase_url = 'http://127.0.0.1:1'")
        .with_file(".env", "OPENAI_MODEL=x");
    let ran = agcore.run(["doctor", "--json"]);
    assert_eq!(ran.code(), Some(0), "{}", ran.stdout);
    assert_check(&ran, "settings", "ok", "read agcore.toml");
    let disabled =
        "disabled because the folder is not trusted: base_url (agcore.toml), model (agcore.toml), OPENAI_MODEL (.env)";
    assert_check(&ran, "trust", "warn", disabled);
    assert_check(&ran, "model", "ok", "gpt-5-mini");
    let ran = agcore.trusting().run(["doctor", "--json"]);
    assert_check(&ran, "trust", "ok", "this folder is trusted for this run");
}

#[test]
fn writes_nothing() {
    let server = server();
    let agcore = Agcore::talking_to(&server).at_home();
    let ran = agcore.run(["doctor", "--json"]);
    let history = agcore.state("history");
    assert_check(&ran, "history", "ok", history.to_str().unwrap());
    assert!(agcore.files().is_empty());
    assert!(crate::support::files(agcore.home.path()).is_empty());

    std::fs::write(agcore.home.path().join("state"), "").unwrap();
    assert_check(
        &agcore.run(["doctor", "--json"]),
        "history",
        "warn",
        "is not a directory",
    );
}

#[test]
fn what_the_settings_name_is_checked_and_nothing_is_changed() {
    let server = server();
    let agcore = Agcore::talking_to(&server)
        .at_home()
        .with("PATH", "/usr/bin:/bin")
        .with_user_settings(
            "[mcp.servers.good]\ncommand = 'sh'\n[mcp.servers.gone]\ncommand = 'agcore-no-such-program'\n\
         [[hooks.Stop]]\ncommand = './no-such-script.sh --all'\n[[hooks.PreToolUse]]\ncommand = 'true'\n\
         [serve]\nfiles = 'uploads'\n[serve.jwt]\nkeys = 'jwks.json'\naudience = 'a'\n",
        );
    std::fs::write(agcore.settings_directory().join("catalog.toml"), "not a catalog").unwrap();
    let ran = agcore.run(["doctor", "--json"]);
    assert_eq!(ran.code(), Some(1), "{}", ran.stdout);
    assert_check(&ran, "mcp", "ok", "good: `sh`");
    assert_check(&ran, "mcp", "warn", "there is no program `agcore-no-such-program`");
    assert_check(&ran, "hooks", "ok", "PreToolUse `true`");
    assert_check(&ran, "hooks", "warn", "there is no file ./no-such-script.sh");
    assert_check(&ran, "prices", "fail", "catalog.toml");
    assert_check(&ran, "serve", "fail", "`keys` of [serve.jwt]");
    assert_check(&ran, "serve", "warn", "which is not a directory");
    assert_check(&ran, "sessions", "ok", "does not exist yet");
    assert!(
        !agcore.home.path().join("state").exists(),
        "the state directory was created"
    );
    assert!(agcore.files().is_empty());
}

#[test]
fn a_damaged_database_is_reported() {
    let server = server();
    let agcore = Agcore::talking_to(&server).at_home();
    agcore.run(["-p", "hi"]).assert_success();
    assert_check(&agcore.run(["doctor", "--json"]), "sessions", "ok", "is intact");
    for log in ["agcore.db-wal", "agcore.db-shm"] {
        let _ = std::fs::remove_file(agcore.state(log));
    }
    std::fs::write(
        agcore.state("agcore.db"),
        "this is not a database, but a text of some length",
    )
    .unwrap();
    let ran = agcore.run(["doctor", "--json"]);
    assert_check(&ran, "sessions", "fail", "agcore.db");
}

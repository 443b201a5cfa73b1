//! The user's own settings file.

use std::fs;

use crate::support::{Agcore, KEY, Server};

#[test]
fn applies_in_every_folder() {
    let server = Server::playground();
    let settings = format!("provider = 'vllm'\nbase_url = '{}'\nmodel = 'm'", server.base_url());
    let agcore = Agcore::new().at_home().trusting().with_user_settings(&settings);
    agcore.run(["chat", "hi"]).assert_success();
    assert_eq!(server.requests()[0].json()["model"], "m");
    // Each setting may come from a different file.
    let agcore = agcore.with_file("agcore.toml", "model = 'of-folder'");
    agcore.run(["chat", "hi"]).assert_success();
    assert_eq!(server.requests()[1].json()["model"], "of-folder");
    let agcore = agcore.with_file("own.toml", "system = 'Be kind.'");
    agcore.run(["chat", "hi", "--config", "own.toml"]).assert_success();
    let request = server.requests()[2].json().clone();
    assert_eq!(request["messages"][0]["content"], "Be kind.");
    assert_eq!(request["model"], "m", "--config replaces the folder's file only");
}

#[test]
fn one_variable_names_its_directory() {
    let agcore = Agcore::new().at_home().with_user_settings("model = 'of-xdg'");
    let own = agcore.home.path().join("own");
    fs::create_dir(&own).unwrap();
    fs::write(own.join("agcore.toml"), "model = 'of-own'").unwrap();
    let shown = agcore.run(["config"]);
    assert!(shown.assert_success().contains("of-xdg"), "{}", shown.stdout);
    let agcore = agcore.with("AGCORE_CONFIG_DIR", own.to_str().unwrap());
    let shown = agcore.run(["config"]);
    let line = format!("of-own  {}", own.join("agcore.toml").display());
    let found = shown.assert_success().split_whitespace().collect::<Vec<_>>().join("  ");
    assert!(found.contains(&line) && !found.contains("of-xdg"), "{found}");
    assert_eq!(shown.stderr, "");
}

#[test]
fn a_folder_cannot_move_it() {
    let agcore = Agcore::new()
        .at_home()
        .trusting()
        .with_file(".env", "AGCORE_CONFIG_DIR=evil\n");
    fs::create_dir(agcore.directory.path().join("evil")).unwrap();
    fs::write(agcore.directory.path().join("evil/agcore.toml"), "model = 'evil'").unwrap();
    let ran = agcore.run(["config"]);
    assert!(!ran.assert_success().contains("evil/agcore.toml"), "{}", ran.stdout);
    assert!(
        ran.stderr.contains("AGCORE_CONFIG_DIR is ignored in .env"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_relative_directory_is_ignored() {
    let agcore = Agcore::new().with("AGCORE_CONFIG_DIR", "evil");
    fs::create_dir(agcore.directory.path().join("evil")).unwrap();
    fs::write(agcore.directory.path().join("evil/agcore.toml"), "model = 'evil'").unwrap();
    let ran = agcore.run(["config"]);
    assert!(ran.assert_success().contains("gpt-5-mini"), "{}", ran.stdout);
    let warning = "warning: AGCORE_CONFIG_DIR is ignored: evil is not an absolute path";
    assert!(ran.stderr.contains(warning), "{}", ran.stderr);
}

#[test]
fn errors_name_the_file() {
    let agcore = Agcore::new().at_home().with_user_settings("model = 3");
    agcore
        .run(["chat", "hi"])
        .assert_failed(2, &["config/agcore/agcore.toml:1:9: `model`: expected"]);
    let agcore = agcore.with_user_settings("nodel = 'm'");
    agcore
        .run(["chat", "hi"])
        .assert_failed(2, &["unknown setting `nodel`", "did you mean `model`?"]);
}

#[test]
fn is_trusted_in_its_own_folder() {
    let agcore = Agcore::new().with("OPENAI_API_KEY", KEY);
    let agcore = agcore.with_file("agcore.toml", "provider = 'vllm'\nmodel = 'm'");
    let directory = agcore.directory.path().to_str().unwrap().to_owned();
    let agcore = agcore.with("AGCORE_CONFIG_DIR", &directory);
    let ran = agcore.run(["config"]);
    assert!(ran.assert_success().contains("vllm"), "{}", ran.stdout);
    assert_eq!(ran.stderr, "");
}

#[test]
fn values_of_another_provider_are_not_used() {
    let server = Server::playground();
    let settings = format!(
        "provider = 'vllm'\nbase_url = '{}'\nmodel = 'm'\napi_key = 'sk-of-vllm'",
        server.base_url()
    );
    let agcore = Agcore::new().at_home().with_user_settings(&settings);
    agcore
        .run(["chat", "hi", "--provider", "deepseek"])
        .assert_failed(2, &["no model is set for deepseek"]);
    agcore
        .run(["chat", "hi", "--model", "deepseek:deepseek-chat"])
        .assert_failed(3, &["deepseek: the API key is missing"]);
    assert!(server.requests().is_empty());
}

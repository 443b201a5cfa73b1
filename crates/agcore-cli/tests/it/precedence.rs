//! Precedence of settings: options, environment, `.env`, the folder's `agcore.toml`, the user's `agcore.toml`, defaults.

use std::fs;

use agcore_testkit::mock_server::MockOptions;

use crate::support::{Agcore, Server};

/// The sources of a setting, highest precedence first.
const SOURCES: [&str; 5] = ["option", "environment", "dotenv", "file", "user"];

/// The names of a setting in its sources.
struct Names {
    option: &'static str,
    variable: &'static str,
    member: &'static str,
}

/// Sets a value in each of these sources, runs the program, and returns the request that it sent.
fn request(server: &Server, names: &Names, sources: &[&str], value: impl Fn(&str) -> String) -> serde_json::Value {
    let mut agcore = Agcore::new()
        .at_home()
        .trusting()
        .with("OPENAI_API_KEY", "sk-environment");
    if names.option != "--base-url" {
        agcore = agcore.with("OPENAI_BASE_URL", &server.base_url());
    }
    let mut arguments = vec!["chat".to_owned(), "hi".to_owned()];
    for source in sources {
        let value = value(source);
        match *source {
            "option" => arguments.extend([names.option.to_owned(), value]),
            "environment" => agcore = agcore.with(names.variable, &value),
            "dotenv" => agcore = agcore.with_file(".env", &format!("{}='{value}'\n", names.variable)),
            "file" => agcore = agcore.with_file("agcore.toml", &format!("{} = '{value}'\n", names.member)),
            _ => agcore = agcore.with_user_settings(&format!("{} = '{value}'\n", names.member)),
        }
    }
    agcore.run(&arguments).assert_success();
    let requests = server.requests();
    let last = requests.last().unwrap();
    let mut request = last.json().clone();
    request["path"] = last.path().into();
    request
}

/// Checks that without the first sources, the next one determines the value.
fn check(names: &Names, value: impl Fn(&str) -> String, found: impl Fn(&serde_json::Value) -> String) {
    let prefixes = SOURCES.iter().fold(MockOptions::new(), |options, source| {
        options.with_prefix(format!("/{source}/v1"))
    });
    let server = Server::start(prefixes, agcore_demo::Playground::new());
    let value = |source: &str| value(source).replace("ROOT", &server.root_url());
    for first in 0..SOURCES.len() {
        let request = request(&server, names, &SOURCES[first..], value);
        assert!(
            found(&request).contains(SOURCES[first]),
            "{} without {:?}: {request}",
            names.member,
            &SOURCES[..first]
        );
    }
}

#[test]
fn the_model() {
    let names = Names {
        option: "--model",
        variable: "AGCORE_MODEL",
        member: "model",
    };
    check(
        &names,
        |source| format!("of-{source}"),
        |request| request["model"].to_string(),
    );
    let names = Names {
        variable: "OPENAI_MODEL",
        ..names
    };
    check(
        &names,
        |source| format!("of-{source}"),
        |request| request["model"].to_string(),
    );
}

#[test]
fn the_base_url() {
    let names = Names {
        option: "--base-url",
        variable: "AGCORE_BASE_URL",
        member: "base_url",
    };
    check(
        &names,
        |source| format!("ROOT/{source}/v1"),
        |request| request["path"].to_string(),
    );
    let names = Names {
        variable: "OPENAI_BASE_URL",
        ..names
    };
    check(
        &names,
        |source| format!("ROOT/{source}/v1"),
        |request| request["path"].to_string(),
    );
}

#[test]
fn the_instructions() {
    let names = Names {
        option: "--system",
        variable: "AGCORE_SYSTEM",
        member: "system",
    };
    check(
        &names,
        |source| format!("You are of {source}."),
        |request| request["messages"][0]["content"].to_string(),
    );
}

#[test]
fn the_provider() {
    // The error message shows which provider is used.
    let check = |agcore: &Agcore, arguments: &[&str], provider: &str| {
        agcore
            .run([&["chat", "hi"], arguments].concat())
            .assert_failed(2, &[&format!("no model is set for {provider}")]);
    };
    let mut agcore = Agcore::new()
        .at_home()
        .trusting()
        .with_user_settings("provider = 'llama.cpp'");
    check(&agcore, &[], "llama.cpp");
    agcore = agcore.with_file("agcore.toml", "provider = 'vllm'");
    check(&agcore, &[], "vllm");
    agcore = agcore.with_file(".env", "AGCORE_PROVIDER=ollama");
    check(&agcore, &[], "ollama");
    agcore = agcore.with("AGCORE_PROVIDER", "deepseek");
    check(&agcore, &[], "deepseek");
    check(&agcore, &["--provider", "qwen"], "qwen");
}

#[test]
fn the_key() {
    let server = Server::playground();
    let mut agcore = Agcore::new()
        .at_home()
        .trusting()
        .with("OPENAI_BASE_URL", &server.base_url());
    let check = |agcore: &Agcore, expected: &str| {
        agcore.run(["chat", "hi"]).assert_success();
        let requests = server.requests();
        assert_eq!(
            requests.last().unwrap().header("authorization"),
            Some(format!("Bearer {expected}").as_str())
        );
    };
    agcore = agcore.with_user_settings("api_key = 'sk-of-user'");
    check(&agcore, "sk-of-user");
    agcore = agcore.with_file("agcore.toml", "api_key = 'sk-of-file'");
    check(&agcore, "sk-of-file");
    agcore = agcore.with_file(".env", "OPENAI_API_KEY=sk-openai-dotenv");
    check(&agcore, "sk-openai-dotenv");
    agcore = agcore.with_file(".env", "OPENAI_API_KEY=sk-openai-dotenv\nAGCORE_API_KEY=sk-own-dotenv");
    check(&agcore, "sk-own-dotenv");
    agcore = agcore.with("OPENAI_API_KEY", "sk-openai-environment");
    check(&agcore, "sk-openai-environment");
    agcore = agcore.with("AGCORE_API_KEY", "sk-own-environment");
    check(&agcore, "sk-own-environment");
}

#[test]
fn empty_variables_are_not_set() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server)
        .trusting()
        .with("AGCORE_MODEL", "")
        .with_file(".env", "AGCORE_MODEL=of-dotenv");
    agcore.run(["chat", "hi"]).assert_success();
    assert_eq!(server.requests()[0].json()["model"], "of-dotenv");
}

#[test]
fn openai_variables_apply_to_openai_only() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server).with("OPENAI_MODEL", "gpt");
    // OPENAI_MODEL and OPENAI_BASE_URL are not used for another provider.
    agcore
        .run(["chat", "hi", "--provider", "ollama"])
        .assert_failed(2, &["no model is set for ollama"]);
    // The key is not sent to another vendor's server.
    let arguments = [
        "chat",
        "hi",
        "--provider",
        "vllm",
        "--model",
        "m",
        "--base-url",
        &server.base_url(),
    ];
    agcore.run(arguments).assert_success();
    assert_eq!(server.requests().len(), 1);
    assert_eq!(server.requests()[0].header("authorization"), None);
}

#[test]
fn config_option_replaces_the_default_settings_file() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server)
        .trusting()
        .with_file("agcore.toml", "model = 'usual'")
        .with_file("own.toml", "model = 'own'");
    agcore.run(["chat", "hi", "--config", "own.toml"]).assert_success();
    assert_eq!(server.requests()[0].json()["model"], "own");
    fs::remove_file(agcore.directory.path().join("own.toml")).unwrap();
    agcore.run(["chat", "hi"]).assert_success();
    assert_eq!(server.requests()[1].json()["model"], "usual");
}

//! Invalid settings: the message, the exit code, and that nothing is sent or written.

use crate::support::{Agcore, KEY, Server};

#[test]
fn no_key() {
    let agcore = Agcore::new();
    agcore.run(["chat", "hi"]).assert_failed(
        3,
        &[
            "error: openai: the API key is missing",
            "Set OPENAI_API_KEY or AGCORE_API_KEY in the environment or in the .env of a trusted folder.",
            "Or use a local model: agcore -m ollama:llama3.2",
        ],
    );
    assert!(agcore.files().is_empty());
    // The message names the vendor's own variable.
    let ran = Agcore::new().run(["chat", "--provider", "qwen", "--model", "qwen-plus", "hi"]);
    ran.assert_failed(3, &["Set DASHSCOPE_API_KEY or AGCORE_API_KEY"]);
}

#[test]
fn unknown_provider() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server);
    agcore
        .run(["chat", "--provider", "opnai", "hi"])
        .assert_failed(2, &["unknown provider type `opnai`, did you mean `openai`?"]);
    let agcore = agcore.with("AGCORE_PROVIDER", "olama");
    agcore.run(["chat", "hi"]).assert_failed(2, &["did you mean `ollama`?"]);
    assert!(server.requests().is_empty());
}

#[test]
fn no_model() {
    Agcore::new().run(["chat", "--provider", "ollama", "hi"]).assert_failed(
        2,
        &[
            "no model is set for ollama",
            "--model NAME (for example, --model llama3.2)",
            "AGCORE_MODEL",
            "`agcore models --provider ollama` lists the models",
        ],
    );
}

#[test]
fn invalid_base_url() {
    let check = |url: &str| {
        let ran = Agcore::new()
            .with("OPENAI_API_KEY", KEY)
            .run(["chat", "--base-url", url, "hi"]);
        ran.assert_failed(2, &["error: openai: "]);
    };
    check("localhost:8000/v1");
    check("ftp://localhost/v1");
    check("http://");
}

#[test]
fn invalid_settings_file() {
    let check = |file: &str, error: &str| {
        let agcore = Agcore::new().trusting().with_file("agcore.toml", file);
        agcore.run(["chat", "hi"]).assert_failed(2, &[error]);
    };
    check(
        "model = \"m\"\nbase_url = 3\n",
        "error: agcore.toml:2:12: invalid type: integer `3`, expected a string",
    );
    check(
        "# mine\n\n  modle = \"m\"\n",
        "error: agcore.toml:3:3: unknown setting `modle`",
    );
    check("model = \"m\nprovider = \"openai\"\n", "error: agcore.toml:1:11: ");
    check("provider = \"opnai\"\n", "did you mean `openai`?");
}

#[test]
fn trust_is_not_suggested_for_an_unknown_setting() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server).with_file("agcore.toml", "modle = 'm'\n");
    let ran = agcore.run(["-p", "hi"]);
    ran.assert_success();
    assert_eq!(
        ran.stderr.lines().next().unwrap_or_default(),
        "warning: agcore.toml has the unknown setting modle; did you mean `model`?"
    );
    let agcore = agcore.with_file("agcore.toml", "modle = 'm'\nprovider = 'ollama'\n");
    let ran = agcore.run(["-p", "hi"]);
    assert!(
        ran.stderr.contains("agcore.toml (provider) is ignored, because"),
        "{}",
        ran.stderr
    );
}

#[test]
fn missing_settings_file() {
    let ran = Agcore::new().run(["chat", "--config", "mine.toml", "hi"]);
    ran.assert_failed(2, &["error: the settings file mine.toml does not exist"]);
}

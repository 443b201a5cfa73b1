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
fn a_base_url_without_its_scheme() {
    let check = |url: &str, expected: &str| {
        let ran = Agcore::new()
            .with("OPENAI_API_KEY", KEY)
            .run(["chat", "--base-url", url, "hi"]);
        ran.assert_failed(
            2,
            &["http:// or https:// is missing", &format!("did you mean {expected}?")],
        );
    };
    check("localhost:11434/v1", "http://localhost:11434/v1");
    check("api.openai.com/v1", "https://api.openai.com/v1");
}

#[test]
fn invalid_base_url() {
    let check = |url: &str| {
        let ran = Agcore::new()
            .with("OPENAI_API_KEY", KEY)
            .run(["chat", "--base-url", url, "hi"]);
        ran.assert_failed(2, &["error: openai: "]);
        assert!(!ran.stderr.contains("relative URL"), "{}", ran.stderr);
    };
    check("::x");
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
        "error: agcore.toml:2:12: `base_url`: expected text in quotation marks, found the number 3",
    );
    check(
        "# mine\n\n  modle = \"m\"\n",
        "error: agcore.toml:3:3: unknown setting `modle`",
    );
    check("model = \"m\nprovider = \"openai\"\n", "error: agcore.toml:1:11: ");
    check(
        "# mine\nprovider = \"opnai\"\n",
        "error: agcore.toml:2:12: unknown provider type `opnai`, did you mean `openai`?",
    );
    check(
        "  model = 'opnai:gpt-5'\n",
        "error: agcore.toml:1:11: unknown provider type `opnai`",
    );
    check(
        "theme = 'dork'\n",
        "error: agcore.toml:1:9: `theme`: expected `auto`, `dark`, `light`, `contrast` or `plain`, found the text \"dork\"",
    );
    check(
        "[timeouts]\nidel = '5m'\n",
        "error: agcore.toml:2:1: unknown setting `idel` in [timeouts]; its settings are connect, first_byte, idle, total; \
         did you mean `idle`?",
    );
    check("\nproxy = '::'\n", "error: agcore.toml:2:9: invalid proxy");
    check(
        "[permissions]\nallow = [\n  'save_note',\n  'sav_note',\n]\n",
        "error: agcore.toml:4:3: unknown tool or permission `sav_note`; did you mean `save_note`?",
    );
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
fn a_mistake_in_the_settings_of_the_user_is_located() {
    let agcore = Agcore::new().at_home().with_user_settings("\nprovider = 'antropic'\n");
    agcore.run(["chat", "hi"]).assert_failed(
        2,
        &["/agcore/agcore.toml:2:12: unknown provider type `antropic`, did you mean `anthropic`?"],
    );
    let agcore = Agcore::new().with("AGCORE_PROVIDER", "olama");
    agcore.run(["chat", "hi"]).assert_failed(
        2,
        &["error: environment, AGCORE_PROVIDER: unknown provider type `olama`"],
    );
}

#[test]
fn a_key_in_quotation_marks_is_used_without_them() {
    let server = Server::playground();
    let agcore = Agcore::new()
        .with("OPENAI_API_KEY", &format!("\"{KEY}\""))
        .with("OPENAI_BASE_URL", &server.base_url());
    let ran = agcore.run(["-p", "hi"]);
    ran.assert_success();
    assert!(
        ran.stderr.starts_with(
            "warning: environment, OPENAI_API_KEY: the key is used without the quotation marks around it; remove them \
             where it is set\n"
        ),
        "{}",
        ran.stderr
    );
    let request = &server.requests()[0];
    assert_eq!(request.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    let ran = agcore.run(["doctor"]);
    assert!(ran.stdout.contains("quotation marks"), "{}", ran.stdout);
    ran.assert_clean();
}

#[test]
fn missing_settings_file() {
    let ran = Agcore::new().run(["chat", "--config", "mine.toml", "hi"]);
    ran.assert_failed(2, &["error: the settings file mine.toml does not exist"]);
}

//! The provider is selected: by settings, by the name of the model, or by the only key that is set.

use serde_json::Value;

use crate::support::{Agcore, KEY};

/// Returns the provider and the model of `agcore config`, and the source of the provider.
#[track_caller]
fn selected(agcore: &Agcore, arguments: &[&str]) -> [String; 3] {
    let ran = agcore.run([&["config", "--json"], arguments].concat());
    let report: Value = serde_json::from_str(ran.assert_success()).unwrap();
    let member = |at: usize, name: &str| report["settings"][at][name].as_str().unwrap_or_default().to_owned();
    [member(0, "value"), member(1, "value"), member(0, "source")]
}

#[test]
fn the_model_may_name_the_provider() {
    let check = |agcore: &Agcore, arguments: &[&str], expected: [&str; 3]| {
        assert_eq!(selected(agcore, arguments), expected, "{arguments:?}");
    };
    let agcore = Agcore::new().at_home();
    for model in ["anthropic:claude-x", "anthropic/claude-x", "claude:claude-x"] {
        check(&agcore, &["--model", model], ["anthropic", "claude-x", "option"]);
    }
    check(&agcore, &["--model", "ollama:qwen:7b"], ["ollama", "qwen:7b", "option"]);
    check(
        &agcore,
        &["--model", "meta-llama/llama-3"],
        ["openai", "meta-llama/llama-3", "default"],
    );
    let agcore = agcore.with_user_settings("model = 'deepseek:deepseek-chat'");
    check(&agcore, &[], ["deepseek", "deepseek-chat", "user_file"]);
    check(&agcore, &["--provider", "anthropic"], ["anthropic", "", "option"]);
    let agcore = agcore.with("AGCORE_MODEL", "mistral:m");
    check(&agcore, &[], ["mistral", "m", "environment"]);
    // A provider of higher or the same precedence wins.
    check(&agcore, &["--provider", "mistral"], ["mistral", "m", "option"]);
    check(&agcore, &["--model", "x"], ["openai", "x", "default"]);
    check(
        &agcore,
        &["--provider", "groq", "--model", "qwen:7b"],
        ["groq", "qwen:7b", "option"],
    );
    let agcore = agcore.with("AGCORE_PROVIDER", "anthropic");
    check(&agcore, &["--model", "openai:gpt"], ["openai", "gpt", "option"]);
    check(&agcore, &[], ["anthropic", "mistral:m", "environment"]);
}

#[test]
fn names_of_models_of_other_vendors_are_kept() {
    let check = |agcore: &Agcore, arguments: &[&str], expected: [&str; 2]| {
        let [provider, model, _] = selected(agcore, arguments);
        assert_eq!([provider.as_str(), model.as_str()], expected, "{arguments:?}");
    };
    // Such names are common where one server offers models of several vendors.
    let agcore = Agcore::new().with("AGCORE_PROVIDER", "openrouter");
    check(&agcore, &["--model", "openai/gpt-5"], ["openrouter", "openai/gpt-5"]);
    check(
        &agcore,
        &["--model", "openrouter/auto"],
        ["openrouter", "openrouter/auto"],
    );
    check(&agcore, &["--model", "anthropic:claude"], ["anthropic", "claude"]);
    let agcore = Agcore::new().with("OPENAI_BASE_URL", "http://127.0.0.1:1/v1");
    for model in ["Qwen/Qwen3-8B", "openai/gpt-oss-20b"] {
        check(&agcore, &["--model", model], ["openai", model]);
    }
    let local = ["--base-url", "http://127.0.0.1:1/v1", "--model", "qwen:7b"];
    check(&Agcore::new(), &local, ["openai", "qwen:7b"]);
}

#[test]
fn a_provider_before_a_colon_counts_at_any_address() {
    let check = |agcore: &Agcore, arguments: &[&str], expected: [&str; 2]| {
        let [provider, model, _] = selected(agcore, arguments);
        assert_eq!([provider.as_str(), model.as_str()], expected, "{arguments:?}");
    };
    let local = ["--base-url", "http://127.0.0.1:1/v1", "--model"];
    for (name, expected) in [
        ("ollama:llama3.2", ["ollama", "llama3.2"]),
        ("compatible:small", ["compatible", "small"]),
        ("openai:gpt-5-mini", ["openai", "gpt-5-mini"]),
    ] {
        check(
            &Agcore::new().with("OPENAI_API_KEY", KEY),
            &[&local[..], &[name]].concat(),
            expected,
        );
    }
    let agcore = Agcore::new().with("OPENAI_BASE_URL", "http://127.0.0.1:1/v1");
    check(&agcore, &["--model", "openai:gpt-5-mini"], ["openai", "gpt-5-mini"]);
    let both = ["--provider", "openai", "--model", "openai:gpt-5-mini"];
    check(&agcore, &both, ["openai", "gpt-5-mini"]);
}

#[test]
fn a_mistyped_or_bare_name_of_a_provider_is_not_sent_to_the_default_one() {
    let agcore = Agcore::new().with("OPENAI_API_KEY", KEY);
    for (model, expected) in [
        ("opnai:gpt-5", "unknown provider type `opnai`, did you mean `openai`?"),
        ("anthropc:claude-sonnet-4-5", "did you mean `anthropic`?"),
        ("ollama", "add one, as in `ollama:llama3.2`"),
    ] {
        let ran = agcore.run(["-m", model, "-p", "hi"]);
        ran.assert_failed(2, &["error: option --model: ", expected]);
        assert!(!ran.stderr.contains("API key"), "{}", ran.stderr);
    }
    agcore
        .with("AGCORE_MODEL", "opnai:gpt-5")
        .run(["-p", "hi"])
        .assert_failed(2, &["error: environment, AGCORE_MODEL: "]);
}

#[test]
fn names_of_models_that_resemble_providers_are_kept() {
    let check = |agcore: &Agcore, arguments: &[&str], expected: [&str; 2]| {
        let [provider, model, _] = selected(agcore, arguments);
        assert_eq!([provider.as_str(), model.as_str()], expected, "{arguments:?}");
    };
    let openai = Agcore::new();
    let fine_tuned = "ft:gpt-4o-mini-2024-07-18:acme::9Xy";
    check(&openai, &["--model", fine_tuned], ["openai", fine_tuned]);
    // A server that chooses the names of its models, in each place that can name one.
    let local = ["--base-url", "http://127.0.0.1:1/v1", "--model", "qwen2.5:7b"];
    check(&openai, &local, ["openai", "qwen2.5:7b"]);
    let ollama = ["--provider", "ollama", "--model", "qwen2.5:7b"];
    check(&openai, &ollama, ["ollama", "qwen2.5:7b"]);
    let agcore = Agcore::new().at_home().with_user_settings("provider = 'ollama'");
    for model in ["llama3.2:1b", "qwen2.5:7b", "mistral"] {
        check(&agcore, &["--model", model], ["ollama", model]);
    }
    let agcore = Agcore::new().with("OPENROUTER_API_KEY", KEY);
    check(
        &agcore,
        &["--model", "mistralai/devstral"],
        ["openrouter", "mistralai/devstral"],
    );
}

#[test]
fn the_only_key_selects_the_provider() {
    let agcore = Agcore::new().with("ANTHROPIC_API_KEY", KEY);
    assert_eq!(selected(&agcore, &[]), ["anthropic", "", "key_variable"]);
    let shown = agcore.run(["config"]);
    assert!(
        shown.assert_success().contains("ANTHROPIC_API_KEY is set"),
        "{}",
        shown.stdout
    );
    agcore.run(["chat", "hi"]).assert_failed(
        2,
        &[
            "no model is set for anthropic: pass --model NAME (for example, --model claude-sonnet-4-5)",
            "`agcore models --provider anthropic` lists the models.",
        ],
    );
    // Each of these suggests the default provider.
    for (name, value) in [
        ("OPENAI_API_KEY", KEY),
        ("AGCORE_API_KEY", KEY),
        ("OPENAI_BASE_URL", "http://127.0.0.1:1/v1"),
        ("AGCORE_BASE_URL", "http://127.0.0.1:1/v1"),
    ] {
        let agcore = Agcore::new().with("ANTHROPIC_API_KEY", KEY).with(name, value);
        assert_eq!(selected(&agcore, &[])[0], "openai", "{name}");
    }
    let local = ["--base-url", "http://127.0.0.1:1/v1"];
    assert_eq!(selected(&agcore, &local)[0], "openai");
}

#[test]
fn several_keys_need_a_decision() {
    let agcore = Agcore::new()
        .at_home()
        .with("ANTHROPIC_API_KEY", KEY)
        .with("MISTRAL_API_KEY", KEY);
    agcore.run(["chat", "hi"]).assert_failed(
        2,
        &[
            "several API keys are set (ANTHROPIC_API_KEY, MISTRAL_API_KEY), but no provider is selected",
            "Pass --provider (anthropic, mistral)",
        ],
    );
    assert_eq!(selected(&agcore, &["--provider", "mistral"])[0], "mistral");
    let agcore = agcore.with_user_settings("provider = 'anthropic'");
    assert_eq!(selected(&agcore, &[])[0], "anthropic");
}

#[test]
fn reports_why_a_provider_was_selected() {
    let server = crate::support::Server::playground();
    // The base URL belongs to the provider in the same file.
    let agcore = Agcore::new().at_home().with("DEEPSEEK_API_KEY", KEY).with_file(
        "own.toml",
        &format!("provider = 'deepseek'\nbase_url = '{}'\nmodel = 'm'", server.base_url()),
    );
    let ran = agcore.run(["chat", "hi", "--config", "own.toml"]);
    ran.assert_success();
    assert!(!ran.stderr.contains("note: "), "{}", ran.stderr);
    let ran = agcore.run(["chat", "hi", "--model", "m", "--system", "x", "--grants", "."]);
    assert!(
        ran.stderr
            .contains("note: using deepseek because DEEPSEEK_API_KEY is set; pass --provider to select another one"),
        "{}",
        ran.stderr
    );
}

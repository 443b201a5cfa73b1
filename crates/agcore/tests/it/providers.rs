//! The provider tables of the README and of the guide agree with the provider types, and a missing key is explained.

use agcore::llm::ProviderType;

const GUIDE: &str = include_str!("../../../../docs/guide/providers-and-keys.md");
const README: &str = include_str!("../../../../README.md");
const MARKERS: [&str; 2] = ["<!-- providers -->\n", "<!-- /providers -->\n"];
const HEAD: &str = "| provider | type | feature | key | base URL | example |\n|---|---|---|---|---|---|\n";

/// The name of the vendor of each type, and a model.
const EXAMPLES: &[(&str, &str, &str)] = &[
    ("openai", "OpenAI", "gpt-5-mini"),
    ("openai-responses", "OpenAI, Responses API", "gpt-5-mini"),
    ("anthropic", "Anthropic", "claude-sonnet-4-5"),
    ("azure", "Azure OpenAI", "your-deployment"),
    ("gemini", "Google Gemini", "gemini-2.5-flash"),
    ("gemini-native", "Google Gemini, native API", "gemini-2.5-flash"),
    ("bedrock", "Amazon Bedrock", "us.amazon.nova-lite-v1:0"),
    ("mistral", "Mistral", "mistral-small-latest"),
    ("groq", "Groq", "llama-3.3-70b-versatile"),
    ("xai", "xAI", "grok-4"),
    ("deepseek", "DeepSeek", "deepseek-chat"),
    ("qwen", "Qwen", "qwen-plus"),
    ("moonshot", "Moonshot", "kimi-k2-turbo-preview"),
    ("zhipu", "Zhipu", "glm-4.6"),
    ("openrouter", "OpenRouter", "openai/gpt-5-mini"),
    ("ollama", "Ollama", "llama3.2"),
    ("ollama-native", "Ollama, native API", "llama3.2"),
    ("vllm", "vLLM", "Qwen/Qwen3-8B"),
    ("llama.cpp", "llama.cpp", "any-name"),
    ("compatible", "any compatible server", "my-model"),
];

fn row(name: &str, vendor: &str, model: &str) -> String {
    let known: ProviderType = name.parse().unwrap();
    let feature = match known.name() {
        _ if known.dialect().is_some() => "`openai-chat` (default)".to_owned(),
        "ollama-native" => "`ollama`".to_owned(),
        "gemini-native" => "`gemini`".to_owned(),
        api => format!("`{api}`"),
    };
    let no_key = if name == "compatible" { "optional" } else { "none" };
    let key = known.key_variable().map_or(no_key.to_owned(), |key| format!("`{key}`"));
    let other_url = if known.is_regional() {
        "that of the region"
    } else {
        "yours"
    };
    let url = known.base_url().map_or(other_url.to_owned(), |url| format!("`{url}`"));
    format!("| {vendor} | `{name}` | {feature} | {key} | {url} | `{name}:{model}` |\n")
}

#[test]
fn the_guide_lists_all_provider_types() {
    let mut known: Vec<_> = ProviderType::all().map(|known| known.name().to_owned()).collect();
    let mut listed: Vec<_> = EXAMPLES.iter().map(|(name, ..)| (*name).to_owned()).collect();
    known.sort();
    listed.sort();
    assert_eq!(listed, known, "a row of EXAMPLES for each provider type");

    let [opening, closing] = MARKERS;
    let table = GUIDE.split(opening).nth(1).unwrap().split(closing).next().unwrap();
    let expected: String = EXAMPLES
        .iter()
        .map(|(name, vendor, model)| row(name, vendor, model))
        .collect();
    let expected = format!("\n{HEAD}{expected}\n");
    assert_eq!(
        table, expected,
        "put this between the markers of the guide:\n{expected}"
    );
}

#[test]
fn the_readme_repeats_rows_of_the_guide() {
    let rows: Vec<_> = README
        .split(HEAD)
        .nth(1)
        .unwrap()
        .lines()
        .take_while(|line| !line.is_empty())
        .collect();
    assert!(rows.len() > 5);
    for row in rows {
        assert!(GUIDE.contains(row), "not in docs/guide/providers-and-keys.md: {row}");
    }
}

/// A `main` that returns the error prints its `Debug` form.
#[test]
fn a_missing_key_is_explained_in_one_sentence() {
    for (model, variable) in [
        ("openai:gpt-5-mini", "OPENAI_API_KEY"),
        ("anthropic:claude-sonnet-4-5", "ANTHROPIC_API_KEY"),
    ] {
        let error = agcore::AgentError::from(agcore::model(model, "").unwrap_err());
        assert!(error.llm_error().is_some(), "{error:#?}");
        let printed = format!("{error:?}");
        assert!(
            printed.contains("the API key is missing") && printed.contains(variable),
            "{printed}"
        );
        assert_eq!(printed.lines().count(), 1, "{printed}");
    }
    let error = agcore::model("openai:gpt-5-mini", "").unwrap_err();
    assert!(
        README.contains(&format!("\nError: {error:?}\n")),
        "the README shows another error than: {error:?}"
    );
}

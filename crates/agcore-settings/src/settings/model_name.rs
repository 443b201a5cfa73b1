//! Model names that contain the provider: `anthropic:claude-sonnet-4-5`.

use agcore::{chat::text::nearest, llm::ProviderType};

use crate::vendor::example_model;

/// A model name that begins with the name of a provider.
#[derive(Debug, PartialEq)]
pub(super) struct Prefixed<'m> {
    /// The provider.
    pub(super) provider: ProviderType,
    /// The rest of the name.
    pub(super) model: &'m str,
    /// Whether a slash separates them. Servers that offer models of several vendors use such names themselves.
    pub(super) has_slash: bool,
    /// Whether models are named like the provider. Servers give them names such as `qwen:7b`.
    pub(super) is_family: bool,
}

/// Names of providers that are also names of models.
const FAMILIES: [&str; 8] = ["claude", "deepseek", "gemini", "grok", "kimi", "mistral", "qwen", "yi"];

/// The beginning of the names of fine-tuned models of OpenAI and Mistral, in front of a colon.
const FINE_TUNED: &str = "ft";

/// Splits a model name if it begins with the name of a provider.
pub(super) fn split(name: &str) -> Option<Prefixed<'_>> {
    let at = name.find([':', '/'])?;
    let (provider, model) = (&name[..at], name[at + 1..].trim());
    if model.is_empty() {
        return None;
    }
    Some(Prefixed {
        provider: provider.parse().ok()?,
        model,
        has_slash: name[at..].starts_with('/'),
        is_family: FAMILIES.contains(&provider.to_lowercase().as_str()),
    })
}

/// Describes the mistake in a model name that is only the name of a provider, or begins with one that is mistyped or, in front of a
/// colon, unknown. No server has such models, apart from those that choose the names of their models themselves.
pub(super) fn mistake(name: &str) -> Option<String> {
    let (provider, model) = name.split_once([':', '/']).unwrap_or((name, ""));
    match (provider.parse::<ProviderType>(), model.trim()) {
        (Ok(provider), "") => {
            let model = example_model(&provider).unwrap_or("MODEL");
            Some(format!(
                "`{name}` names a provider, but no model; add one, as in `{provider}:{model}`\n`agcore models --provider \
                 {provider}` lists the models."
            ))
        }
        (Ok(_), _) | (Err(_), "") => None,
        (Err(error), _) => {
            let known: Vec<ProviderType> = ProviderType::all().collect();
            let names = known
                .iter()
                .flat_map(|known| known.aliases().iter().copied().chain([known.name()]));
            // Vendors have no other names with a colon, but some have names with a slash.
            let has_colon = name[provider.len()..].starts_with(':') && provider != FINE_TUNED;
            if !has_colon {
                nearest(provider, names)?;
            }
            Some(format!(
                "{error}\nIf `{name}` is the name of a model, select its provider, as in `ollama:{name}` or with --provider."
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_models_are_no_mistakes() {
        for name in [
            "gpt-5",
            "openai:gpt-5",
            "ft:gpt-4o-mini-2024-07-18:acme::9Xy",
            "meta-llama/llama-3",
            "some-model:",
            "gemini-2.5-flash",
            "",
        ] {
            assert_eq!(mistake(name), None, "{name}");
        }
    }

    #[test]
    fn mistyped_and_bare_names_of_providers_are_mistakes() {
        for (name, expected) in [
            ("opnai:gpt-5", "unknown provider type `opnai`, did you mean `openai`?"),
            ("anthropc/claude", "did you mean `anthropic`?"),
            ("antropic:claude", "did you mean `anthropic`?"),
            ("nosuch:gpt", "unknown provider type `nosuch`"),
            ("llama3.2:1b", "select its provider, as in `ollama:llama3.2:1b`"),
            (
                "opnai:gpt-5",
                "If `opnai:gpt-5` is the name of a model, select its provider",
            ),
            (
                "ollama",
                "`ollama` names a provider, but no model; add one, as in `ollama:llama3.2`",
            ),
            ("claude", "as in `anthropic:claude-sonnet-4-5`"),
            ("openai:", "as in `openai:gpt-5-mini`"),
            ("vllm", "as in `vllm:MODEL`"),
        ] {
            let mistake = mistake(name).unwrap_or_default();
            assert!(mistake.contains(expected), "{name}: {mistake}");
        }
    }

    #[test]
    fn only_names_of_providers_are_split() {
        let check = |name: &str, expected: Option<(&str, &str)>| {
            let found = split(name);
            let found = found.as_ref().map(|found| (found.provider.name(), found.model));
            assert_eq!(found, expected, "{name}");
        };
        check("anthropic:claude-sonnet-4-5", Some(("anthropic", "claude-sonnet-4-5")));
        check("Anthropic/claude", Some(("anthropic", "claude")));
        check("ollama:qwen:7b", Some(("ollama", "qwen:7b")));
        check("openrouter/openai/gpt-5", Some(("openrouter", "openai/gpt-5")));
        check("meta-llama/llama-3", None);
        check("llama3.2:latest", None);
        check("gpt-5", None);
        check("openai:", None);
        check(":x", None);
    }
}

//! Model names that contain the provider: `anthropic:claude-sonnet-4-5`.

use agcore::llm::ProviderType;

/// A model name that begins with the name of a provider.
#[derive(Debug, PartialEq)]
pub(super) struct Prefixed<'m> {
    /// The provider.
    pub(super) provider: ProviderType,
    /// The rest of the name.
    pub(super) model: &'m str,
    /// Whether a slash separates them. Servers that offer models of several vendors use such names themselves.
    pub(super) has_slash: bool,
}

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
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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

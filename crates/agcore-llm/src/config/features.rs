//! The features that enable provider types, for errors about types that this build does not contain.

use agcore_chat::text::is_same_name;

/// The features, and the names and aliases of the types that they enable.
const TYPES: &[(&str, &[&str])] = &[
    ("anthropic", &["anthropic", "claude"]),
    ("openai-responses", &["openai-responses", "responses"]),
    ("ollama", &["ollama-native", "ollama-api"]),
    (
        "openai-chat",
        &[
            "openai",
            "azure",
            "deepseek",
            "qwen",
            "gemini",
            "mistral",
            "groq",
            "xai",
            "moonshot",
            "zhipu",
            "openrouter",
            "ollama",
            "vllm",
            "llama.cpp",
            "compatible",
            "azure-openai",
            "azure-open-ai",
            "deep-seek",
            "google",
            "google-ai-studio",
            "gemini-compatible",
            "groq-cloud",
            "llamacpp",
            "llama-server",
            "mistral-ai",
            "la-plateforme",
            "kimi",
            "moonshot-ai",
            "ollama-compatible",
            "open-ai",
            "chatgpt",
            "open-router",
            "dashscope",
            "alibaba",
            "model-studio",
            "v-llm",
            "x-ai",
            "grok",
            "z.ai",
            "zai",
            "bigmodel",
            "glm",
            "zhipu-ai",
            "openai-compatible",
            "openai-like",
        ],
    ),
];

/// Returns the feature that enables the type with this name or alias.
pub(super) fn feature_of(name: &str) -> Option<&'static str> {
    let has_name = |names: &[&str]| names.iter().any(|known| is_same_name(known, name.trim()));
    let (feature, _) = TYPES.iter().find(|(_, names)| has_name(names))?;
    Some(feature)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ProviderType;

    #[test]
    fn knows_the_feature_of_every_type() {
        for known in ProviderType::all() {
            for name in known.aliases().iter().copied().chain([known.name()]) {
                assert!(feature_of(name).is_some(), "{name}");
            }
        }
        assert_eq!(feature_of(" Claude "), Some("anthropic"));
        assert_eq!(feature_of("OpenAI"), Some("openai-chat"));
        assert_eq!(feature_of("unknown"), None);
    }
}

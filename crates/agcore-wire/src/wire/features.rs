//! The features of this crate that names of vendors and APIs need.

/// Each feature with the names that need it. Case, spaces, `.`, `-` and `_` in names are ignored.
const NAMES: &[(&str, bool, &[&str])] = &[
    ("anthropic", cfg!(feature = "anthropic"), &["anthropic", "claude"]),
    (
        "openai-responses",
        cfg!(feature = "openai-responses"),
        &["openai-responses", "responses"],
    ),
    ("ollama", cfg!(feature = "ollama"), &["ollama-native", "ollama-api"]),
    ("gemini", cfg!(feature = "gemini"), &["gemini-native", "gemini-api"]),
    (
        "bedrock",
        cfg!(feature = "bedrock"),
        &["bedrock", "aws", "amazon", "amazon-bedrock", "aws-bedrock", "converse"],
    ),
    (
        "openai-chat",
        cfg!(feature = "openai-chat"),
        &[
            "openai-chat",
            "compatible",
            "openai-compatible",
            "openai",
            "open-ai",
            "chatgpt",
            "azure",
            "azure-openai",
            "azure-open-ai",
            "deepseek",
            "deep-seek",
            "qwen",
            "dashscope",
            "alibaba",
            "model-studio",
            "gemini",
            "google",
            "google-ai-studio",
            "gemini-compatible",
            "mistral",
            "mistral-ai",
            "la-plateforme",
            "groq",
            "groq-cloud",
            "xai",
            "x-ai",
            "grok",
            "moonshot",
            "kimi",
            "moonshot-ai",
            "zhipu",
            "z.ai",
            "zai",
            "bigmodel",
            "glm",
            "zhipu-ai",
            "openrouter",
            "open-router",
            "ollama",
            "ollama-compatible",
            "vllm",
            "v-llm",
            "llama.cpp",
            "llamacpp",
            "llama-server",
        ],
    ),
];

/// Returns the feature that this build lacks to support a vendor or an API, given its name or an alias. Returns `None` if it
/// is supported, or if there is no such name at all.
///
/// ```
/// # #[cfg(not(feature = "anthropic"))]
/// assert_eq!(agcore_wire::missing_feature("Claude"), Some("anthropic"));
/// # #[cfg(feature = "openai-chat")]
/// assert_eq!(agcore_wire::missing_feature("openai"), None);
/// assert_eq!(agcore_wire::missing_feature("no such vendor"), None);
/// ```
pub fn missing_feature(name: &str) -> Option<&'static str> {
    let is_known = |names: &[&str]| names.iter().any(|known| agcore_chat::text::is_same_name(known, name));
    let (feature, is_enabled, _) = NAMES.iter().find(|(_, _, names)| is_known(names))?;
    (!is_enabled).then_some(*feature)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_api_is_listed() {
        for api in crate::APIS {
            assert!(
                NAMES
                    .iter()
                    .any(|(feature, enabled, _)| *feature == api.name && *enabled),
                "{}",
                api.name
            );
            assert_eq!(missing_feature(api.name), None);
        }
    }

    #[cfg(feature = "openai-chat")]
    #[test]
    fn every_dialect_and_alias_is_listed() {
        let (_, _, names) = NAMES.iter().find(|(feature, ..)| *feature == "openai-chat").unwrap();
        for dialect in crate::dialect::ALL.iter().map(|dialect| dialect()) {
            for name in dialect.aliases.iter().copied().chain([&*dialect.name]) {
                assert!(names.contains(&name), "{name}");
            }
        }
    }
}

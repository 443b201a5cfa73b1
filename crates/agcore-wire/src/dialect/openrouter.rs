//! OpenRouter.
//!
//! Sources: its API reference, the types of its SDKs (`ChatRequest`), and its pages on parameters, audio, web search,
//! reasoning tokens and prompt caching.

use super::rules::{ContentRule, Dialect, EffortRule, Parameters, ReasoningField, ReasoningRule, compatible};

/// OpenRouter: reasoning has details that must be sent back; text parts may have cache marks. It ignores unknown
/// parameters, so this dialect refuses them.
pub fn openrouter() -> Dialect {
    let base = compatible("openrouter");
    Dialect {
        aliases: &["open-router"],
        base_url: Some("https://openrouter.ai/api/v1"),
        key_variable: Some("OPENROUTER_API_KEY"),
        parameters: Parameters::AllExcept(&["n", "store", "safety_identifier", "prompt_cache_retention"]),
        effort: EffortRule::Object,
        content: ContentRule {
            arrays: true,
            cache_marks: true,
            ..base.content
        },
        reasoning: ReasoningRule {
            field: ReasoningField::Member("reasoning"),
            required_with_calls: false,
            thinking_models: &[],
        },
        ..base
    }
}

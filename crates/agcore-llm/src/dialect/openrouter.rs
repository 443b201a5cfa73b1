//! OpenRouter. After its API reference, the types of its SDKs (`ChatRequest`), and its pages on parameters, sound, web
//! search, reasoning tokens and prompt caching.

use super::rules::{ContentRule, Dialect, EffortRule, Parameters, ReasoningField, ReasoningRule, ToolRule, compatible};

/// OpenRouter: reasoning comes and goes with its details; cache marks stand on text parts. It passes over parameters that
/// it does not know, so that they are refused here.
pub fn openrouter() -> Dialect {
    let base = compatible("openrouter");
    Dialect {
        aliases: &["open-router"],
        base_url: Some("https://openrouter.ai/api/v1"),
        key_variable: Some("OPENROUTER_API_KEY"),
        parameters: Parameters::AllBut(&["n", "store", "safety_identifier", "prompt_cache_retention"]),
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
        tools: ToolRule { ..base.tools },
        ..base
    }
}

//! OpenRouter. After its API reference and its pages on reasoning tokens and prompt caching.

use super::rules::{ContentRule, Dialect, EffortRule, ReasoningField, ReasoningRule, ToolRule, compatible};

/// OpenRouter: passes everything on; reasoning comes and goes with its details; cache marks stand on text parts.
pub fn openrouter() -> Dialect {
    let base = compatible("openrouter");
    Dialect {
        aliases: &["open-router"],
        base_url: Some("https://openrouter.ai/api/v1"),
        key_variable: Some("OPENROUTER_API_KEY"),
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

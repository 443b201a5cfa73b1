//! Zhipu (z.ai, BigModel).
//!
//! Source: its API reference (chat completion).

use super::rules::{
    AudioRule, ContentRule, Dialect, EffortRule, FormatRule, Parameters, ReasoningField, ReasoningRule, StreamRule,
    StrictRule, ToolRule, compatible,
};

/// Zhipu: the model always decides about calls; no JSON schemas; usage is always sent.
pub fn zhipu() -> Dialect {
    let base = compatible("zhipu");
    Dialect {
        aliases: &["z.ai", "zai", "bigmodel", "glm", "zhipu-ai"],
        base_url: Some("https://api.z.ai/api/paas/v4"),
        key_variable: Some("ZAI_API_KEY"),
        parameters: Parameters::Only(&["temperature", "top_p", "stop", "response_format", "user"]),
        renamed: &[("user", "user_id")],
        effort: EffortRule::ThinkingSwitch,
        content: ContentRule {
            audio: AudioRule::Refused,
            files: false,
            names: false,
            ..base.content
        },
        reasoning: ReasoningRule {
            field: ReasoningField::Member("reasoning_content"),
            required_with_calls: false,
            thinking_models: &[],
        },
        tools: ToolRule {
            choice_none: false,
            choice_required: None,
            choice_named: false,
            strict: StrictRule::Refused,
            ..base.tools
        },
        formats: FormatRule {
            json_object: true,
            json_schema: false,
        },
        streaming: StreamRule {
            usage_option: false,
            always: false,
        },
        ..base
    }
}

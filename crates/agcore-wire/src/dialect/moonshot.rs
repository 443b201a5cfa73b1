//! Moonshot (Kimi).
//!
//! Sources: its API reference (chat) and its guide to thinking models.

use super::rules::{
    AudioRule, ContentRule, Dialect, EffortRule, FormatRule, Parameters, ReasoningField, ReasoningRule, ToolRule, base,
};

/// Moonshot: a call cannot be required; a thinking model requires the reasoning of messages with tool calls to be sent
/// back.
///
/// ```
/// use agcore_wire::dialect;
///
/// let moonshot = dialect::moonshot();
/// assert!(moonshot.has_name("Kimi"));
/// assert_eq!(moonshot.tools.choice_required, None);
/// assert!(moonshot.reasoning.required_with_calls);
/// ```
pub fn moonshot() -> Dialect {
    let base = base("moonshot");
    Dialect {
        aliases: &["kimi", "moonshot-ai"],
        base_url: Some("https://api.moonshot.ai/v1"),
        key_variable: Some("MOONSHOT_API_KEY"),
        parameters: Parameters::Only(&[
            "temperature",
            "top_p",
            "n",
            "stop",
            "presence_penalty",
            "frequency_penalty",
            "response_format",
            "prompt_cache_key",
            "safety_identifier",
        ]),
        effort: EffortRule::ThinkingSwitch,
        content: ContentRule {
            audio: AudioRule::Refused,
            files: false,
            assistant_members: &["partial"],
            ..base.content
        },
        reasoning: ReasoningRule {
            field: ReasoningField::Member("reasoning_content"),
            required_with_calls: true,
            thinking_models: &["thinking", "kimi-k2.5", "kimi-k2.6"],
        },
        tools: ToolRule {
            choice_required: None,
            choice_named: false,
            ..base.tools
        },
        formats: FormatRule {
            json_schema_with_tools: true,
            ..base.formats
        },
        ..base
    }
}

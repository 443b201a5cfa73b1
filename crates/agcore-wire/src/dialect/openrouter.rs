//! OpenRouter.
//!
//! Sources: its API reference, the types of its SDKs (`ChatRequest`), and its pages on parameters, audio, web search,
//! reasoning tokens and prompt caching.

use super::rules::{
    ContentRule, Dialect, EffortRule, FormatRule, Parameters, ReasoningField, ReasoningRule, ToolMediaRule, base,
};

/// OpenRouter: reasoning has details that must be sent back; text parts may have cache marks. It ignores unknown
/// parameters, so this dialect refuses them.
///
/// ```
/// use agcore_chat::{CacheMark, ChatRequest, ContentPart, Marks, Message};
/// use agcore_wire::{Chat, EncodeOptions, Wire, dialect, openai_chat::OpenAiChat};
///
/// let wire = OpenAiChat::new(dialect::openrouter());
/// let text = ContentPart::text("A long text.").with_marks(Marks::new().with_cache(CacheMark::new()));
/// let request = ChatRequest::new([Message::user(text)]);
/// let encoded = Wire::<Chat>::encode(&wire, &request, &EncodeOptions::new("anthropic/claude-sonnet-4.5"))?;
/// assert!(String::from_utf8_lossy(&encoded.body).contains(r#""cache_control":{"type":"ephemeral"}"#));
/// # Ok::<(), agcore_wire::LlmError>(())
/// ```
pub fn openrouter() -> Dialect {
    let base = base("openrouter");
    Dialect {
        aliases: &["open-router"],
        base_url: Some("https://openrouter.ai/api/v1"),
        key_variable: Some("OPENROUTER_API_KEY"),
        parameters: Parameters::AllExcept(&["n", "store", "safety_identifier", "prompt_cache_retention"]),
        effort: EffortRule::Object,
        content: ContentRule {
            arrays: true,
            cache_marks: true,
            tool_media: ToolMediaRule::InPlace,
            assistant_members: &["reasoning_details"],
            ..base.content
        },
        reasoning: ReasoningRule {
            field: ReasoningField::Member("reasoning"),
            required_with_calls: false,
            thinking_models: &[],
        },
        formats: FormatRule {
            json_schema_with_tools: true,
            ..base.formats
        },
        ..base
    }
}

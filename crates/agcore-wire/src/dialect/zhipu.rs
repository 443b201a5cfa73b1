//! Zhipu (z.ai, BigModel).
//!
//! Source: its API reference (chat completion).

use super::rules::{
    AudioRule, ContentRule, Dialect, EffortRule, FormatRule, Parameters, ReasoningField, ReasoningRule, StreamRule,
    StrictRule, ToolRule, base,
};

/// Zhipu: the model always decides about calls; no JSON schemas; usage is always sent.
///
/// ```
/// use agcore_chat::{ChatRequest, Message, ResponseFormat};
/// use agcore_wire::{Chat, EncodeOptions, Wire, dialect, openai_chat::OpenAiChat};
///
/// let wire = OpenAiChat::new(dialect::zhipu());
/// let format = ResponseFormat::json_schema("answer", serde_json::json!({"type": "object"}));
/// let request = ChatRequest::new([Message::user("Hi")]).with_response_format(format);
/// let error = Wire::<Chat>::encode(&wire, &request, &EncodeOptions::new("glm-4.6")).unwrap_err();
/// assert!(error.message().starts_with("zhipu does not support the response format `json_schema`"));
/// ```
pub fn zhipu() -> Dialect {
    let base = base("zhipu");
    Dialect {
        aliases: &["z.ai", "zai", "bigmodel", "glm", "zhipu-ai"],
        base_url: Some("https://api.z.ai/api/paas/v4"),
        key_variable: Some("ZAI_API_KEY"),
        parameters: Parameters::Only(&["temperature", "top_p", "stop", "response_format", "user"]),
        renamed: &[("user", "user_id")],
        effort: EffortRule::ThinkingSwitchOrMember,
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
            strict: StrictRule::Refused,
            ..base.tools
        },
        formats: FormatRule {
            json_object: true,
            json_schema: false,
            ..base.formats
        },
        streaming: StreamRule {
            usage_option: false,
            always: false,
        },
        ..base
    }
}

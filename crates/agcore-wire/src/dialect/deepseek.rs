//! DeepSeek.
//!
//! Sources: its API reference (create-chat-completion) and its guide to the thinking mode.

use super::rules::{
    AudioRule, ContentRule, Dialect, EffortRule, FormatRule, Parameters, ReasoningField, ReasoningRule, StrictRule,
    ToolRule, base,
};

/// DeepSeek: text only, no JSON schemas; a thinking model requires the reasoning of messages with tool calls to be sent
/// back.
///
/// ```
/// use agcore_chat::{ChatRequest, ContentPart, Message};
/// use agcore_wire::{Chat, EncodeOptions, Wire, dialect, openai_chat::OpenAiChat};
///
/// let wire = OpenAiChat::new(dialect::deepseek());
/// let image = ContentPart::image_url("https://example.org/a.png");
/// let request = ChatRequest::new([Message::user(image)]);
/// let error = Wire::<Chat>::encode(&wire, &request, &EncodeOptions::new("deepseek-chat")).unwrap_err();
/// assert!(error.message().starts_with("deepseek does not support parts of the type `image_url`"));
/// ```
pub fn deepseek() -> Dialect {
    let base = base("deepseek");
    Dialect {
        aliases: &["deep-seek"],
        base_url: Some("https://api.deepseek.com"),
        key_variable: Some("DEEPSEEK_API_KEY"),
        parameters: Parameters::Only(&[
            "temperature",
            "top_p",
            "stop",
            "presence_penalty",
            "frequency_penalty",
            "logprobs",
            "top_logprobs",
            "response_format",
        ]),
        effort: EffortRule::ThinkingSwitchOrMember,
        content: ContentRule {
            images: false,
            audio: AudioRule::Refused,
            files: false,
            assistant_members: &["prefix"],
            ..base.content
        },
        reasoning: ReasoningRule {
            field: ReasoningField::Member("reasoning_content"),
            required_with_calls: true,
            thinking_models: &["reasoner"],
        },
        tools: ToolRule {
            strict: StrictRule::Open,
            ..base.tools
        },
        formats: FormatRule {
            json_object: true,
            json_schema: false,
            ..base.formats
        },
        ..base
    }
}

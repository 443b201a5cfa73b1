//! Mistral.
//!
//! Source: its API reference (chat completion). Unknown members are rejected with 422.

use super::rules::{
    AudioRule, CallIdRule, ContentRule, Dialect, FormatRule, Parameters, ReasoningField, ReasoningRule, StreamRule,
    StrictRule, ToolMediaRule, ToolRule, base,
};

/// Mistral: ids of calls have nine letters or digits, reasoning is in content parts, usage is always sent.
///
/// ```
/// use agcore_chat::{ChatRequest, Message};
/// use agcore_wire::{Chat, EncodeOptions, Wire, dialect, openai_chat::OpenAiChat};
///
/// let wire = OpenAiChat::new(dialect::mistral());
/// let mut request = ChatRequest::new([Message::user("Hi")]);
/// request.seed = Some(7);
/// let encoded = Wire::<Chat>::encode(&wire, &request, &EncodeOptions::new("mistral-small-latest"))?;
/// assert!(encoded.body.ends_with(br#""random_seed":7}"#));
/// # Ok::<(), agcore_wire::LlmError>(())
/// ```
pub fn mistral() -> Dialect {
    let base = base("mistral");
    Dialect {
        aliases: &["mistral-ai", "la-plateforme"],
        base_url: Some("https://api.mistral.ai/v1"),
        key_variable: Some("MISTRAL_API_KEY"),
        parameters: Parameters::Only(&[
            "temperature",
            "top_p",
            "n",
            "stop",
            "presence_penalty",
            "frequency_penalty",
            "seed",
            "response_format",
            "prediction",
            "metadata",
            "reasoning_effort",
            "prompt_cache_key",
            "parallel_tool_calls",
        ]),
        renamed: &[("seed", "random_seed")],
        content: ContentRule {
            arrays: true,
            audio: AudioRule::Data,
            files: false,
            tool_media: ToolMediaRule::InPlace,
            names: false,
            assistant_members: &["prefix"],
            ..base.content
        },
        reasoning: ReasoningRule {
            field: ReasoningField::ThinkingParts,
            required_with_calls: false,
            thinking_models: &[],
        },
        tools: ToolRule {
            choice_required: Some("any"),
            strict: StrictRule::Open,
            needs_parameters: true,
            result_name: true,
            call_ids: CallIdRule::NineAlphanumeric,
            parsed_arguments: false,
            ..base.tools
        },
        streaming: StreamRule {
            usage_option: false,
            always: false,
        },
        formats: FormatRule {
            json_schema_with_tools: true,
            ..base.formats
        },
        ..base
    }
}

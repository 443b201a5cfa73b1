//! llama.cpp.
//!
//! Source: the README of its server.

use super::rules::{
    ContentRule, Dialect, EffortRule, Parameters, ReasoningField, ReasoningRule, StrictRule, ToolMediaRule, ToolRule,
    base,
};

/// llama.cpp: `tool_choice` cannot name a function; the reasoning effort is an argument of the chat template.
///
/// ```
/// use agcore_chat::{ChatRequest, Message};
/// use agcore_wire::{Chat, EncodeOptions, Wire, dialect, openai_chat::OpenAiChat};
///
/// let wire = OpenAiChat::new(dialect::llama_cpp());
/// let mut request = ChatRequest::new([Message::user("Hi")]);
/// request.reasoning_effort = Some("low".into());
/// let encoded = Wire::<Chat>::encode(&wire, &request, &EncodeOptions::new("gpt-oss"))?;
/// assert!(encoded.body.ends_with(br#""chat_template_kwargs":{"reasoning_effort":"low"}}"#));
/// # Ok::<(), agcore_wire::LlmError>(())
/// ```
pub fn llama_cpp() -> Dialect {
    let base = base("llama.cpp");
    Dialect {
        aliases: &["llamacpp", "llama-server"],
        base_url: Some("http://localhost:8080/v1"),
        key_variable: None,
        parameters: Parameters::AllExcept(&[
            "verbosity",
            "modalities",
            "audio",
            "prediction",
            "web_search_options",
            "service_tier",
            "store",
            "metadata",
            "user",
            "safety_identifier",
            "prompt_cache_key",
            "prompt_cache_retention",
        ]),
        effort: EffortRule::TemplateArgument,
        content: ContentRule {
            files: false,
            tool_media: ToolMediaRule::InPlace,
            ..base.content
        },
        reasoning: ReasoningRule {
            field: ReasoningField::Member("reasoning_content"),
            required_with_calls: false,
            thinking_models: &[],
        },
        tools: ToolRule {
            choice_named: false,
            strict: StrictRule::Refused,
            ..base.tools
        },
        ..base
    }
}

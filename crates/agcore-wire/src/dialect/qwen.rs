//! Qwen on Alibaba Cloud Model Studio (DashScope).
//!
//! Sources: its pages on OpenAI compatibility and on deep thinking.

use super::rules::{
    ContentRule, Dialect, EffortRule, FormatRule, Parameters, ReasoningRule, StreamRule, StrictRule, ToolRule, base,
};

/// Qwen: thinking models support only streams, so every reply is streamed; a call can be required only of a
/// model that is not thinking.
///
/// ```
/// use agcore_chat::{ChatRequest, Message};
/// use agcore_wire::{Chat, EncodeOptions, Wire, dialect, openai_chat::OpenAiChat};
///
/// let wire = OpenAiChat::new(dialect::qwen());
/// let request = ChatRequest::new([Message::user("Hi")]);
/// // A whole reply is streamed as well.
/// let encoded = Wire::<Chat>::encode(&wire, &request, &EncodeOptions::new("qwen-plus"))?;
/// assert!(String::from_utf8_lossy(&encoded.body).contains(r#""stream":true"#));
/// # Ok::<(), agcore_wire::LlmError>(())
/// ```
pub fn qwen() -> Dialect {
    let base = base("qwen");
    Dialect {
        aliases: &["dashscope", "alibaba", "model-studio"],
        base_url: Some("https://dashscope-intl.aliyuncs.com/compatible-mode/v1"),
        key_variable: Some("DASHSCOPE_API_KEY"),
        parameters: Parameters::Only(&[
            "temperature",
            "top_p",
            "n",
            "stop",
            "presence_penalty",
            "logprobs",
            "top_logprobs",
            "seed",
            "response_format",
            "modalities",
            "audio",
            "parallel_tool_calls",
        ]),
        effort: EffortRule::EnableThinking,
        content: ContentRule {
            files: false,
            cache_marks: true,
            assistant_members: &["partial"],
            ..base.content
        },
        reasoning: ReasoningRule {
            thinking_models: &["thinking", "qwq"],
            ..base.reasoning
        },
        tools: ToolRule {
            required_while_thinking: false,
            strict: StrictRule::Refused,
            ..base.tools
        },
        streaming: StreamRule {
            usage_option: true,
            always: true,
        },
        formats: FormatRule {
            json_schema_with_tools: true,
            ..base.formats
        },
        ..base
    }
}

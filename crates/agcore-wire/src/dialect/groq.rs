//! Groq.
//!
//! Sources: its API reference and its page on OpenAI compatibility, which lists what is rejected with 400.

use super::rules::{
    AudioRule, ContentRule, Dialect, Parameters, ReasoningField, ReasoningRule, StrictRule, TokenLimit, ToolRule, base,
};

/// Groq: no log probabilities, no names of participants. Its token limit counts towards the tokens per minute.
///
/// ```
/// use agcore_wire::dialect::{self, TokenLimit};
///
/// let groq = dialect::groq();
/// assert!(!groq.accepts("logprobs"));
/// assert_eq!(groq.token_limit, TokenLimit::MaxCompletionTokens);
/// ```
pub fn groq() -> Dialect {
    let base = base("groq");
    Dialect {
        aliases: &["groq-cloud"],
        base_url: Some("https://api.groq.com/openai/v1"),
        key_variable: Some("GROQ_API_KEY"),
        parameters: Parameters::Only(&[
            "temperature",
            "top_p",
            "n",
            "stop",
            "presence_penalty",
            "frequency_penalty",
            "seed",
            "response_format",
            "reasoning_effort",
            "service_tier",
            "user",
            "store",
            "metadata",
            "parallel_tool_calls",
        ]),
        token_limit: TokenLimit::MaxCompletionTokens,
        content: ContentRule {
            audio: AudioRule::Refused,
            files: false,
            names: false,
            ..base.content
        },
        reasoning: ReasoningRule {
            field: ReasoningField::Member("reasoning"),
            required_with_calls: false,
            thinking_models: &[],
        },
        tools: ToolRule {
            strict: StrictRule::Closed,
            ..base.tools
        },
        ..base
    }
}

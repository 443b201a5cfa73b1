//! The compatible endpoint of Ollama.
//!
//! Source: its page on OpenAI compatibility.

use super::rules::{
    AudioRule, ContentRule, Dialect, Parameters, ReasoningField, ReasoningRule, StrictRule, ToolRule, base,
};

/// Ollama (compatible endpoint): no `tool_choice`. Only the native API can set the context window.
///
/// ```
/// use agcore_wire::dialect;
///
/// let ollama = dialect::ollama();
/// assert_eq!(ollama.base_url, Some("http://localhost:11434/v1"));
/// assert_eq!(ollama.key_variable, None);
/// ```
pub fn ollama() -> Dialect {
    let base = base("ollama");
    Dialect {
        aliases: &["ollama-compatible"],
        base_url: Some("http://localhost:11434/v1"),
        key_variable: None,
        parameters: Parameters::Only(&[
            "temperature",
            "top_p",
            "stop",
            "presence_penalty",
            "frequency_penalty",
            "seed",
            "logprobs",
            "top_logprobs",
            "response_format",
            "reasoning_effort",
        ]),
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
            choice_none: false,
            choice_required: None,
            choice_named: false,
            strict: StrictRule::Refused,
            ..base.tools
        },
        ..base
    }
}

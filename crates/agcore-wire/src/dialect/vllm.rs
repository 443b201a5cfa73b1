//! vLLM.
//!
//! Source: its page on the OpenAI-compatible server.

use super::rules::{ContentRule, Dialect, Parameters, ReasoningField, ReasoningRule, base};

/// vLLM: accepts what a model can do, and refuses what only a vendor's service offers.
///
/// ```
/// use agcore_wire::dialect;
///
/// let vllm = dialect::vllm();
/// assert!(vllm.accepts("logit_bias"));
/// assert!(!vllm.accepts("service_tier"));
/// ```
pub fn vllm() -> Dialect {
    let base = base("vllm");
    Dialect {
        aliases: &["v-llm"],
        base_url: Some("http://localhost:8000/v1"),
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
            "safety_identifier",
            "prompt_cache_key",
            "prompt_cache_retention",
        ]),
        content: ContentRule {
            arrays: true,
            ..base.content
        },
        reasoning: ReasoningRule {
            field: ReasoningField::Member("reasoning"),
            required_with_calls: false,
            thinking_models: &[],
        },
        ..base
    }
}

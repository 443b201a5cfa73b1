//! vLLM. After its page on the OpenAI compatible server.

use super::rules::{ContentRule, Dialect, Parameters, ReasoningField, ReasoningRule, ToolRule, compatible};

/// vLLM: everything a model can do; what only a vendor's service can do is refused.
pub fn vllm() -> Dialect {
    let base = compatible("vllm");
    Dialect {
        aliases: &["v-llm"],
        base_url: Some("http://localhost:8000/v1"),
        key_variable: None,
        parameters: Parameters::AllBut(&[
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
        tools: ToolRule { ..base.tools },
        ..base
    }
}

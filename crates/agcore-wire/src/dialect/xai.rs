//! xAI.
//!
//! Source: its REST API reference (chat completions).

use super::rules::{AudioRule, ContentRule, Dialect, FormatRule, Parameters, TokenLimit, ToolRule, base};

/// xAI: like OpenAI, without logit bias, audio and stored replies.
///
/// ```
/// use agcore_wire::dialect;
///
/// let xai = dialect::xai();
/// assert!(xai.has_name("grok"));
/// assert!(!xai.accepts("logit_bias"));
/// ```
pub fn xai() -> Dialect {
    let base = base("xai");
    Dialect {
        aliases: &["x-ai", "grok"],
        base_url: Some("https://api.x.ai/v1"),
        key_variable: Some("XAI_API_KEY"),
        parameters: Parameters::AllExcept(&[
            "logit_bias",
            "verbosity",
            "modalities",
            "audio",
            "prediction",
            "service_tier",
            "store",
            "metadata",
            "safety_identifier",
            "prompt_cache_key",
            "prompt_cache_retention",
        ]),
        token_limit: TokenLimit::MaxCompletionTokens,
        content: ContentRule {
            audio: AudioRule::Refused,
            files: false,
            ..base.content
        },
        tools: ToolRule {
            parsed_arguments: false,
            ..base.tools
        },
        formats: FormatRule {
            json_schema_with_tools: true,
            ..base.formats
        },
        ..base
    }
}

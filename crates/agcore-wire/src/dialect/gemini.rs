//! The compatible endpoint of Gemini.
//!
//! Sources: Google's page on OpenAI compatibility and its reference of schemas.

use super::rules::{ContentRule, Dialect, Parameters, SchemaRule, StrictRule, ToolRule, compatible};

/// Gemini (compatible endpoint): rejects unknown members of the body and of schemas; calls have a thought signature that
/// must be sent back.
pub fn gemini() -> Dialect {
    let base = compatible("gemini");
    Dialect {
        aliases: &["google", "google-ai-studio", "gemini-compatible"],
        base_url: Some("https://generativelanguage.googleapis.com/v1beta/openai"),
        key_variable: Some("GEMINI_API_KEY"),
        parameters: Parameters::Only(&[
            "temperature",
            "top_p",
            "n",
            "stop",
            "response_format",
            "reasoning_effort",
            "modalities",
            "audio",
        ]),
        content: ContentRule {
            files: false,
            names: false,
            ..base.content
        },
        tools: ToolRule {
            strict: StrictRule::Refused,
            schema: SchemaRule::Gemini,
            result_name: true,
            ..base.tools
        },
        ..base
    }
}

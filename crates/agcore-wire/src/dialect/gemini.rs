//! The compatible endpoint of Gemini.
//!
//! Sources: Google's page on OpenAI compatibility and its reference of schemas.

use super::rules::{ContentRule, Dialect, Parameters, SchemaRule, StrictRule, ToolRule, base};

/// Gemini (compatible endpoint): rejects unknown members of the body and of schemas; calls have a thought signature that
/// must be sent back.
///
/// ```
/// use agcore_chat::{ChatRequest, Message, Tool, ToolDefinition};
/// use agcore_wire::{Chat, EncodeOptions, Wire, dialect, openai_chat::OpenAiChat};
/// use serde_json::json;
///
/// let wire = OpenAiChat::new(dialect::gemini());
/// let schema = json!({"$schema": "…", "type": "object", "properties": {"day": {"type": ["string", "null"]}}});
/// let tool = Tool::from(ToolDefinition::new("menu", "", schema));
/// let request = ChatRequest::new([Message::user("Hi")]).with_tools([tool]);
/// let encoded = Wire::<Chat>::encode(&wire, &request, &EncodeOptions::new("gemini-2.5-flash"))?;
/// let body: serde_json::Value = serde_json::from_slice(&encoded.body).unwrap();
/// assert_eq!(
///     body["tools"][0]["function"]["parameters"],
///     json!({"type": "object", "properties": {"day": {"type": "string", "nullable": true}}}),
/// );
/// # Ok::<(), agcore_wire::LlmError>(())
/// ```
pub fn gemini() -> Dialect {
    let base = base("gemini");
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
            assistant_members: &["extra_content"],
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

//! OpenAI.
//!
//! Source: the reference of the Chat Completions API.

use super::rules::{ContentRule, Dialect, FormatRule, InstructionRole, StrictRule, TokenLimit, ToolRule, base};

/// OpenAI: accepts everything. Newer models reject `max_tokens`, and strict schemas must be closed.
///
/// ```
/// use agcore_chat::{ChatRequest, Message};
/// use agcore_wire::{Chat, EncodeOptions, Wire, dialect, openai_chat::OpenAiChat};
///
/// let wire = OpenAiChat::new(dialect::openai());
/// let request = ChatRequest::new([Message::developer("Be brief.")]).with_max_tokens(50);
/// let encoded = Wire::<Chat>::encode(&wire, &request, &EncodeOptions::new("gpt-5"))?;
/// assert_eq!(
///     encoded.body,
///     r#"{"model":"gpt-5","messages":[{"role":"developer","content":"Be brief."}],"max_completion_tokens":50}"#,
/// );
/// # Ok::<(), agcore_wire::LlmError>(())
/// ```
pub fn openai() -> Dialect {
    let base = base("openai");
    Dialect {
        aliases: &["open-ai", "chatgpt"],
        base_url: Some("https://api.openai.com/v1"),
        key_variable: Some("OPENAI_API_KEY"),
        token_limit: TokenLimit::MaxCompletionTokens,
        instructions: InstructionRole::AsGiven,
        content: ContentRule {
            arrays: true,
            refusals: true,
            legacy_functions: true,
            ..base.content
        },
        tools: ToolRule {
            custom: true,
            choice_allowed: true,
            strict: StrictRule::Closed,
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

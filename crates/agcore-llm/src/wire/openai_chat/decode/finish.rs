//! The spellings of finish reasons.

use agcore_chat::FinishReason;

/// The reason for a server's word, in the spellings of OpenAI, Anthropic behind gateways, Together, Mistral, z.ai and
/// Gemini; any other word is kept as it is.
pub(super) fn reason(word: &str) -> FinishReason {
    let is = |known: &[&str]| known.iter().any(|known| word.eq_ignore_ascii_case(known));
    if is(&["stop", "end_turn", "stop_sequence", "eos", "eos_token"]) {
        FinishReason::Stop
    } else if is(&["length", "max_tokens", "model_length", "max_output_tokens"]) {
        FinishReason::Length
    } else if is(&["tool_calls", "tool_use"]) {
        FinishReason::ToolCalls
    } else if is(&["content_filter", "sensitive", "safety"]) {
        FinishReason::ContentFilter
    } else {
        FinishReason::from(word)
    }
}

/// The reason of an answer that ended in order without saying why.
pub(super) fn unknown() -> FinishReason {
    FinishReason::Other("".into())
}

//! The spellings of finish reasons.

use agcore_chat::FinishReason;

/// The spellings for content filters; the last ones are Gemini's.
const FILTERS: &[&str] = &[
    "content_filter",
    "content-filter",
    "sensitive",
    "safety",
    "recitation",
    "prohibited_content",
    "blocklist",
    "spii",
];

/// Returns the reason for a server's word, in the spellings of OpenAI, Anthropic behind gateways, Together, Mistral, z.ai
/// and Gemini. Any other word is kept.
pub(super) fn reason(word: &str) -> FinishReason {
    // Azure and others append the name of the filter.
    let plain = word.split(':').next().unwrap_or_default().trim();
    let is = |known: &[&str]| known.iter().any(|known| plain.eq_ignore_ascii_case(known));
    if is(&["stop", "end_turn", "stop_sequence", "eos", "eos_token"]) {
        FinishReason::Stop
    } else if is(&[
        "length",
        "max_tokens",
        "model_length",
        "max_output_tokens",
        "model_context_window_exceeded",
    ]) {
        FinishReason::Length
    } else if is(&["tool_calls", "tool_call", "tool_use"]) {
        FinishReason::ToolCalls
    } else if is(FILTERS) {
        FinishReason::ContentFilter
    } else {
        FinishReason::from(word)
    }
}

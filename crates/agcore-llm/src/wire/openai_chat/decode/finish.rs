//! The spellings of finish reasons.

use agcore_chat::FinishReason;

/// Filters, Gemini's own words last.
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

/// The reason for a server's word, in the spellings of OpenAI, Anthropic behind gateways, Together, Mistral, z.ai and
/// Gemini; any other word is kept as it is.
pub(super) fn reason(word: &str) -> FinishReason {
    // Azure and others name the filter behind the word.
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

/// The reason of an answer that ended in order without saying why.
pub(super) fn unknown() -> FinishReason {
    FinishReason::Other("".into())
}

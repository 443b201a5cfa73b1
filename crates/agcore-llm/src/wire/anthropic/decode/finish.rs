//! The words for why a model stopped.

use agcore_chat::FinishReason;

/// The reason for a server's word: Anthropic's own, and those of gateways to other vendors. Any other word
/// (`pause_turn`) is kept as it is.
pub(super) fn reason(word: &str) -> FinishReason {
    match word {
        "end_turn" | "stop_sequence" | "stop" => FinishReason::Stop,
        // The window counts as a limit: the answer is cut either way.
        "max_tokens" | "model_context_window_exceeded" | "length" => FinishReason::Length,
        "tool_use" | "tool_calls" => FinishReason::ToolCalls,
        "refusal" => FinishReason::Refusal,
        "content_filter" | "sensitive" => FinishReason::ContentFilter,
        other => FinishReason::Other(other.into()),
    }
}

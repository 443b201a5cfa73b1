//! Stop reasons.

use agcore_chat::FinishReason;

/// The stop reason of a reply with calls.
pub(super) const TOOL_USE: &str = "tool_use";

/// Converts a stop reason. An unknown one is kept unchanged. Some models send `tool_use` without a call.
pub(super) fn reason(native: &str, has_calls: bool) -> FinishReason {
    match native {
        "end_turn" | "stop_sequence" => FinishReason::Stop,
        TOOL_USE if !has_calls => FinishReason::Stop,
        TOOL_USE => FinishReason::ToolCalls,
        // A full context window truncates the answer in the same way as the token limit.
        "max_tokens" | "model_context_window_exceeded" => FinishReason::Length,
        "guardrail_intervened" | "content_filtered" => FinishReason::ContentFilter,
        "refusal" => FinishReason::Refusal,
        other => FinishReason::Other(other.into()),
    }
}

/// Returns whether the model wrote a call that the vendor could not read.
pub(super) fn is_malformed_call(native: &str) -> bool {
    native == "malformed_tool_use"
}

/// Returns whether the model wrote what the vendor could not read.
pub(super) fn is_malformed(native: &str) -> bool {
    native == "malformed_model_output" || is_malformed_call(native)
}

//! Stop reasons.

use agcore_chat::{FinishReason, Text};
use serde_json::Value;

/// The stop reason of a refusal.
pub(super) const REFUSAL: &str = "refusal";

/// Converts a stop reason of Anthropic, or of another vendor behind a gateway. An unknown one (`pause_turn`) is kept
/// unchanged.
pub(super) fn reason(native: &str) -> FinishReason {
    match native {
        "end_turn" | "stop_sequence" | "stop" => FinishReason::Stop,
        // A full context window truncates the answer in the same way as the token limit.
        "max_tokens" | "model_context_window_exceeded" | "length" => FinishReason::Length,
        "tool_use" | "tool_calls" => FinishReason::ToolCalls,
        REFUSAL => FinishReason::Refusal,
        "content_filter" | "sensitive" => FinishReason::ContentFilter,
        other => FinishReason::Other(other.into()),
    }
}

/// Returns the human-readable explanation in the `stop_details` of a refusal.
pub(super) fn explanation(details: &Value) -> Option<Text> {
    let text = details.get("explanation")?.as_str()?;
    (!text.is_empty()).then(|| text.into())
}

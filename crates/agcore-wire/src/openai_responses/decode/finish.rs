//! Finish reasons.

use agcore_chat::FinishReason;

/// Converts the status of a response and the reason why it is incomplete. Also returns the server's own word, which is the
/// more specific of the two.
pub(super) fn reason(status: &str, incomplete: &str) -> (FinishReason, Box<str>) {
    let native = if incomplete.is_empty() { status } else { incomplete };
    let reason = match native {
        "completed" => FinishReason::Stop,
        "max_output_tokens" | "max_tokens" | "length" => FinishReason::Length,
        "content_filter" => FinishReason::ContentFilter,
        // `cancelled`, and unknown reasons.
        other => FinishReason::Other(other.into()),
    };
    (reason, native.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_of_an_incomplete_response_overrides_its_status() {
        let check = |status: &str, incomplete: &str, expected: FinishReason| {
            assert_eq!(reason(status, incomplete).0, expected, "{status} {incomplete}");
        };
        check("completed", "", FinishReason::Stop);
        check("incomplete", "max_output_tokens", FinishReason::Length);
        check("incomplete", "content_filter", FinishReason::ContentFilter);
        check("incomplete", "", FinishReason::Other("incomplete".into()));
        check("cancelled", "", FinishReason::Other("cancelled".into()));
    }
}

//! Why a response ended.

use agcore_chat::FinishReason;

/// The reason for a status and the reason of an incomplete one, and the server's own word.
pub(super) fn reason(status: &str, incomplete: &str) -> (FinishReason, Box<str>) {
    let word = if incomplete.is_empty() { status } else { incomplete };
    let reason = match word {
        "completed" => FinishReason::Stop,
        "max_output_tokens" | "max_tokens" | "length" => FinishReason::Length,
        "content_filter" => FinishReason::ContentFilter,
        // `cancelled`, and what nobody knows.
        other => FinishReason::Other(other.into()),
    };
    (reason, word.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_of_an_incomplete_response_tells_more_than_its_status() {
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

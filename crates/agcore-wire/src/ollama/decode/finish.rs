//! Finish reasons.

use agcore_chat::FinishReason;

/// Converts a `done_reason`. Older servers, and servers that imitate the API, send none.
pub(super) fn reason(native: Option<&str>) -> FinishReason {
    native.map_or(FinishReason::Stop, FinishReason::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_unknown_reasons_and_assumes_stop() {
        let check = |native, expected: FinishReason| assert_eq!(reason(native), expected, "{native:?}");
        check(None, FinishReason::Stop);
        check(Some("stop"), FinishReason::Stop);
        check(Some("length"), FinishReason::Length);
        check(Some("load"), FinishReason::Other("load".into()));
    }
}

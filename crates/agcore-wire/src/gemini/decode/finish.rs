//! Finish reasons, and the reasons for which a prompt was blocked.

use agcore_chat::FinishReason;

/// The names of the numbers that Vertex AI sends with `$alt=json;enum-encoding=int`: the values of `FinishReason` in
/// google/cloud/aiplatform/v1/content.proto.
const NUMBERS: &[&str] = &[
    "FINISH_REASON_UNSPECIFIED",
    "STOP",
    "MAX_TOKENS",
    "SAFETY",
    "RECITATION",
    "OTHER",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "MALFORMED_FUNCTION_CALL",
    "MODEL_ARMOR",
];

/// Returns the name of a reason that may be a number.
pub(super) fn name(word: &str) -> &str {
    let number = word.parse::<usize>().ok();
    number.and_then(|number| NUMBERS.get(number).copied()).unwrap_or(word)
}

/// Converts a reason. An unknown one is kept unchanged.
pub(super) fn reason(name: &str) -> FinishReason {
    match name {
        "STOP" => FinishReason::Stop,
        "MAX_TOKENS" => FinishReason::Length,
        "SAFETY"
        | "RECITATION"
        | "BLOCKLIST"
        | "PROHIBITED_CONTENT"
        | "SPII"
        | "IMAGE_SAFETY"
        | "IMAGE_PROHIBITED_CONTENT"
        | "IMAGE_RECITATION"
        | "MODEL_ARMOR" => FinishReason::ContentFilter,
        other => FinishReason::Other(other.into()),
    }
}

/// Returns whether the reason is a call of the model that the server could not read or does not allow.
pub(super) fn is_invalid_call(name: &str) -> bool {
    matches!(name, "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_names_and_unknown_reasons_are_kept() {
        let check = |word: &str, expected: FinishReason| assert_eq!(reason(name(word)), expected, "{word}");
        check("STOP", FinishReason::Stop);
        check("1", FinishReason::Stop);
        check("2", FinishReason::Length);
        check("10", FinishReason::ContentFilter);
        check("LANGUAGE", FinishReason::Other("LANGUAGE".into()));
        check("99", FinishReason::Other("99".into()));
        assert!(is_invalid_call(name("9")));
    }
}

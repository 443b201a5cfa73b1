//! The ids of questions. They are never reused, so an answer fits only one question of one call.

use agcore_chat::{Question, QuestionId, ToolCall};

/// Returns the id of the question with this number among all questions of the conversation.
///
/// The number is never used again, whatever happens to the history. A copy of the conversation, or an older state of it,
/// counts on from the same number, so the id also contains a digest of the call and of the question: an answer that was meant
/// for one call never fits another.
pub(super) fn unique(call: &ToolCall, question: &Question, number: u64) -> QuestionId {
    // Serializing strings and JSON values to memory cannot fail.
    let json = serde_json::to_string(question).unwrap_or_default();
    let digest = digest([call.name.as_str(), call.raw_input(), json.as_str()]);
    QuestionId(format!("{}.{number}-{digest:016x}", question.id).into())
}

/// Returns the FNV-1a hash of these texts: the same in every version and on every machine.
fn digest(texts: [&str; 3]) -> u64 {
    // A byte that no UTF-8 text contains separates the texts.
    let bytes = texts.into_iter().flat_map(|text| text.bytes().chain([0xff]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use agcore_chat::QuestionKind;

    use super::*;

    #[test]
    fn depends_on_everything_that_a_person_answers() {
        let id = |name: &str, arguments: &str, prompt: &str, number| {
            let question = Question::new("call_0", 0, QuestionKind::Approval, prompt);
            unique(&ToolCall::function("call_0", name, arguments), &question, number).to_string()
        };
        let first = id("pay", r#"{"amount":40}"#, "Pay?", 1);
        assert_eq!(first, id("pay", r#"{"amount":40}"#, "Pay?", 1));
        assert!(first.starts_with("call_0?0.1-"), "{first}");
        for other in [
            id("pay", r#"{"amount":4000}"#, "Pay?", 1),
            id("sell", r#"{"amount":40}"#, "Pay?", 1),
            id("pay", r#"{"amount":40}"#, "Really?", 1),
            id("pay", r#"{"amount":40}"#, "Pay?", 2),
            id("pay{", r#""amount":40}"#, "Pay?", 1),
        ] {
            assert_ne!(first, other);
        }
    }
}

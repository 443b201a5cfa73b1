//! The end of a choice, which is the same in every API.

use agcore_chat::FinishReason;

use crate::delta::{Place, ReplyDelta};

/// The member that keeps the server's own finish reason. The name is OpenRouter's.
const NATIVE_FINISH_REASON: &str = "native_finish_reason";

/// Ends a choice, and keeps the server's own word for the reason where the [`FinishReason`] is spelled differently.
pub(crate) fn push_finish(choice: u32, reason: FinishReason, native: &str, out: &mut Vec<ReplyDelta>) {
    if reason.as_str() != native {
        out.push(ReplyDelta::Member {
            place: Place::Choice(choice),
            name: NATIVE_FINISH_REASON.into(),
            value: native.into(),
        });
    }
    out.push(ReplyDelta::Finish { choice, reason });
}

/// Ends a choice for which the server gave no reason: one that is known to be complete has stopped, any other ended for an
/// unknown reason.
pub(crate) fn push_missing_finish(choice: u32, is_complete: bool, out: &mut Vec<ReplyDelta>) {
    let reason = if is_complete {
        FinishReason::Stop
    } else {
        FinishReason::Other("".into())
    };
    out.push(ReplyDelta::Finish { choice, reason });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_a_native_reason_that_differs() {
        let check = |reason: FinishReason, native: &str, expected: usize| {
            let mut out = Vec::new();
            push_finish(1, reason.clone(), native, &mut out);
            assert_eq!(out.len(), expected, "{native}");
            assert_eq!(out.last(), Some(&ReplyDelta::Finish { choice: 1, reason }));
        };
        check(FinishReason::Stop, "stop", 1);
        check(FinishReason::Stop, "end_turn", 2);
        check(FinishReason::Other("odd".into()), "odd", 1);
    }
}

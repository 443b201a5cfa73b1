//! For each behavior, faults that break it.

use agcore_chat::FaultKind;
use agcore_testkit::conformance::{Behavior, Mode};

use super::{calls, faulty::Fault, items};

/// The behavior and mode that a fault breaks, the fault, and the reason in the grid.
pub(super) type Case = (Behavior, Mode, Fault, &'static str);

pub(super) fn answer_cases() -> Vec<Case> {
    use Mode::{Streamed, Whole};
    vec![
        (Behavior::PlainText, Streamed, items::lost_text, "text: found"),
        (Behavior::PlainText, Streamed, items::swapped_text, "text: found"),
        (Behavior::PlainText, Whole, items::swallowed_answer, "number of choices"),
        (Behavior::UnicodeText, Streamed, items::ascii_only, "text: found"),
        (Behavior::UnicodeText, Whole, items::ascii_only, "text: found"),
        (
            Behavior::EmptyAnswer,
            Whole,
            items::refuses_empty,
            "expected an answer, got an error",
        ),
        (
            Behavior::LengthLimit,
            Streamed,
            items::always_stop,
            "finish reason: found",
        ),
        (Behavior::Refusal, Whole, items::refusal_as_text, "text: found"),
        (
            Behavior::UsageDetails,
            Streamed,
            items::no_details,
            "cached tokens: found None",
        ),
        (
            Behavior::UsageDetails,
            Whole,
            items::no_usage,
            "the token usage is missing",
        ),
        (
            Behavior::UnknownUsage,
            Streamed,
            items::zero_usage,
            "the server reported no token usage",
        ),
        (
            Behavior::SameInBothForms,
            Streamed,
            calls::no_usage_in_streams,
            "usage: found None",
        ),
        (Behavior::OneCall, Whole, items::no_call_ids, "calls: found"),
        (
            Behavior::ParallelCalls,
            Streamed,
            items::one_place_for_calls,
            "calls: found",
        ),
        (Behavior::TextThenCalls, Streamed, items::text_last, "order: found"),
        (
            Behavior::ReasoningApart,
            Streamed,
            items::reasoning_as_text,
            "text: found",
        ),
        (
            Behavior::ReasoningSentBack,
            Whole,
            calls::reasoning_as_text,
            "text of the reply: found",
        ),
        (
            Behavior::ReasoningSentBack,
            Streamed,
            calls::other_ids,
            "calls of the reply: found",
        ),
    ]
}

pub(super) fn failure_cases() -> Vec<Case> {
    use Mode::{Streamed, Whole};
    let refused = Behavior::ALL
        .iter()
        .filter(|behavior| matches!(behavior, Behavior::Refused(_)));
    let unknown = refused.map(|behavior| {
        (
            *behavior,
            Streamed,
            items::unknown_errors as Fault,
            "kind: found Unknown",
        )
    });
    let mut cases: Vec<Case> = unknown.collect();
    let rate_limited = Behavior::Refused(FaultKind::RateLimit);
    cases.extend([
        (
            rate_limited,
            Whole,
            items::never_retryable as Fault,
            "retryable: found false",
        ),
        (rate_limited, Streamed, items::no_hint, "retry hint: found None"),
        (rate_limited, Whole, items::no_status, "status: found None"),
        (rate_limited, Streamed, items::no_request_id, "request id: found None"),
        (
            rate_limited,
            Whole,
            items::text_before_error,
            "the error contains a partial answer",
        ),
        (
            rate_limited,
            Whole,
            items::swallowed_error,
            "expected an error, got an answer",
        ),
        (
            Behavior::ErrorInStream,
            Streamed,
            items::swallowed_error,
            "expected an error, got an answer",
        ),
        (
            Behavior::ErrorInStream,
            Streamed,
            items::no_text,
            "partial answer: found None",
        ),
        (
            Behavior::CutInTheMiddle,
            Streamed,
            items::swallowed_error,
            "expected an error, got an answer",
        ),
        (
            Behavior::CutInTheMiddle,
            Streamed,
            items::never_retryable,
            "the error is not retryable",
        ),
        (
            Behavior::CutInTheMiddle,
            Streamed,
            items::no_text,
            "partial answer: found None",
        ),
        (Behavior::HungUp, Whole, items::unknown_errors, "kind: found Unknown"),
        (
            Behavior::HungUp,
            Streamed,
            items::swallowed_error,
            "expected an error, got an answer",
        ),
        (
            Behavior::Garbled,
            Whole,
            items::swallowed_error,
            "expected an error, got an answer",
        ),
        (Behavior::Garbled, Streamed, items::lost_text, "partial answer: found"),
    ]);
    cases
}

pub(super) fn interrupt_cases() -> Vec<Case> {
    use Mode::{Streamed, Whole};
    vec![
        (
            Behavior::CancelledBeforehand,
            Whole,
            calls::ignores_the_token,
            "expected an error, got an answer",
        ),
        (
            Behavior::CancelledBeforehand,
            Streamed,
            calls::sends_although_cancelled,
            "a request reached the server",
        ),
        (
            Behavior::CancelledWaiting,
            Whole,
            calls::ignores_the_token,
            "timed out after",
        ),
        (
            Behavior::CancelledWaiting,
            Streamed,
            calls::stays_connected,
            "timed out after",
        ),
        (
            Behavior::CancelledWaiting,
            Streamed,
            items::unknown_errors,
            "kind: found Unknown",
        ),
        (
            Behavior::CancelledMidway,
            Streamed,
            calls::ignores_the_token,
            "timed out after",
        ),
        (
            Behavior::CancelledMidway,
            Whole,
            calls::stays_connected,
            "timed out after",
        ),
        (
            Behavior::DroppedMidway,
            Streamed,
            calls::stays_connected,
            "timed out after",
        ),
        (
            Behavior::DroppedMidway,
            Whole,
            calls::stays_connected,
            "timed out after",
        ),
        (
            Behavior::NeverPolled,
            Whole,
            calls::eager,
            "number of requests: found 2",
        ),
        (
            Behavior::NoTimeLeft,
            Streamed,
            calls::ignores_the_deadline,
            "expected an error, got an answer",
        ),
        (
            Behavior::DeadlineWaiting,
            Whole,
            calls::ignores_the_deadline,
            "timed out after",
        ),
        (
            Behavior::DeadlineMidway,
            Streamed,
            calls::ignores_the_deadline,
            "timed out after",
        ),
    ]
}

pub(super) fn request_cases() -> Vec<Case> {
    use Mode::{Streamed, Whole};
    vec![
        (
            Behavior::ConfiguredModel,
            Whole,
            calls::fixed_model,
            "model: found \"fixed\"",
        ),
        (
            Behavior::RequestedModel,
            Streamed,
            calls::ignores_the_requested_model,
            "model: found \"mock-model\"",
        ),
        (
            Behavior::History,
            Whole,
            calls::drops_the_first_message,
            "messages: found",
        ),
        (Behavior::History, Streamed, calls::other_ids, "messages: found"),
        (Behavior::ToolsInOrder, Whole, calls::sorts_tools, "tools: found"),
        (
            Behavior::SameBytes,
            Streamed,
            calls::numbers_requests,
            "the bodies differ",
        ),
        (
            Behavior::StableInfo,
            Whole,
            calls::unchanged as Fault,
            "info after a call",
        ),
        (
            Behavior::ConcurrentCalls,
            Streamed,
            calls::repeats_the_first_request,
            "answer to the second call",
        ),
    ]
}

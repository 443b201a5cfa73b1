//! The checks of all behaviors, grouped into one file per topic.
//!
//! Call ids consist of nine letters and digits, which every vendor accepts unchanged; Mistral accepts nothing else.

mod answers;
mod calls;
mod reasoning;
mod failures;
mod interrupts;
mod deadlines;
mod requests;
mod provider;

use super::{behavior::Behavior, check_context::CheckContext, check_error::CheckError};

/// Checks one behavior in one mode.
pub(super) async fn check(context: CheckContext<'_>, behavior: Behavior) -> Result<(), CheckError> {
    match behavior {
        Behavior::PlainText => answers::plain_text(context).await,
        Behavior::UnicodeText => answers::unicode_text(context).await,
        Behavior::EmptyAnswer => answers::empty(context).await,
        Behavior::LengthLimit => answers::length_limit(context).await,
        Behavior::Refusal => answers::refusal(context).await,
        Behavior::UsageDetails => answers::usage_details(context).await,
        Behavior::UnknownUsage => answers::unknown_usage(context).await,
        Behavior::SameInBothForms => answers::same_in_both_forms(context).await,
        Behavior::OneCall => calls::one(context).await,
        Behavior::ParallelCalls => calls::several(context).await,
        Behavior::TextThenCalls => calls::after_text(context).await,
        Behavior::ReasoningApart => reasoning::apart(context).await,
        Behavior::ReasoningSentBack => reasoning::sent_back(context).await,
        Behavior::Refused(kind) => failures::refused(context, kind).await,
        Behavior::ErrorInStream => failures::in_stream(context).await,
        Behavior::CutInTheMiddle => failures::cut(context).await,
        Behavior::HungUp => failures::hung_up(context).await,
        Behavior::Garbled => failures::garbled(context).await,
        Behavior::CancelledBeforehand => interrupts::cancelled_beforehand(context).await,
        Behavior::CancelledWaiting => interrupts::cancelled_waiting(context).await,
        Behavior::CancelledMidway => interrupts::cancelled_midway(context).await,
        Behavior::DroppedMidway => interrupts::dropped_midway(context).await,
        Behavior::NeverPolled => interrupts::never_polled(context).await,
        Behavior::NoTimeLeft => deadlines::no_time_left(context).await,
        Behavior::DeadlineWaiting => deadlines::waiting(context).await,
        Behavior::DeadlineMidway => deadlines::midway(context).await,
        Behavior::ConfiguredModel => requests::configured_model(context).await,
        Behavior::RequestedModel => requests::requested_model(context).await,
        Behavior::History => requests::history(context).await,
        Behavior::ToolsInOrder => requests::tools_in_order(context).await,
        Behavior::SameBytes => requests::same_bytes(context).await,
        Behavior::StableInfo => provider::stable_info(context).await,
        Behavior::ConcurrentCalls => provider::concurrent_calls(context).await,
    }
}

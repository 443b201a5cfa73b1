//! What is done for each behaviour, a group of them in each file.
//!
//! Ids of calls are nine letters and digits, which every vendor takes as they are; Mistral takes nothing else.

mod answers;
mod calls;
mod reasoning;
mod failures;
mod interrupts;
mod deadlines;
mod requests;
mod provider;

use super::{behaviour::Behaviour, halt::Halt, scene::Trial};

/// Checks one behaviour in one form.
pub(super) async fn check(trial: Trial<'_>, behaviour: Behaviour) -> Result<(), Halt> {
    match behaviour {
        Behaviour::PlainText => answers::plain_text(trial).await,
        Behaviour::UnicodeText => answers::unicode_text(trial).await,
        Behaviour::EmptyAnswer => answers::empty(trial).await,
        Behaviour::LengthLimit => answers::length_limit(trial).await,
        Behaviour::Refusal => answers::refusal(trial).await,
        Behaviour::UsageDetails => answers::usage_details(trial).await,
        Behaviour::UnknownUsage => answers::unknown_usage(trial).await,
        Behaviour::SameInBothForms => answers::same_in_both_forms(trial).await,
        Behaviour::OneCall => calls::one(trial).await,
        Behaviour::ParallelCalls => calls::several(trial).await,
        Behaviour::TextThenCalls => calls::after_text(trial).await,
        Behaviour::ReasoningApart => reasoning::apart(trial).await,
        Behaviour::ReasoningSentBack => reasoning::sent_back(trial).await,
        Behaviour::Refused(kind) => failures::refused(trial, kind).await,
        Behaviour::ErrorInStream => failures::in_stream(trial).await,
        Behaviour::CutInTheMiddle => failures::cut(trial).await,
        Behaviour::HungUp => failures::hung_up(trial).await,
        Behaviour::Garbled => failures::garbled(trial).await,
        Behaviour::CancelledBeforehand => interrupts::cancelled_beforehand(trial).await,
        Behaviour::CancelledWaiting => interrupts::cancelled_waiting(trial).await,
        Behaviour::CancelledMidway => interrupts::cancelled_midway(trial).await,
        Behaviour::DroppedMidway => interrupts::dropped_midway(trial).await,
        Behaviour::NeverPolled => interrupts::never_polled(trial).await,
        Behaviour::NoTimeLeft => deadlines::no_time_left(trial).await,
        Behaviour::DeadlineWaiting => deadlines::waiting(trial).await,
        Behaviour::DeadlineMidway => deadlines::midway(trial).await,
        Behaviour::ConfiguredModel => requests::configured_model(trial).await,
        Behaviour::RequestedModel => requests::requested_model(trial).await,
        Behaviour::History => requests::history(trial).await,
        Behaviour::ToolsInOrder => requests::tools_in_order(trial).await,
        Behaviour::SameBytes => requests::same_bytes(trial).await,
        Behaviour::StableInfo => provider::stable_info(trial).await,
        Behaviour::SideBySide => provider::side_by_side(trial).await,
    }
}

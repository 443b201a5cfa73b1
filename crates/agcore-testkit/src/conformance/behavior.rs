//! [`Behavior`]: what every provider must do; each behavior is a row of the grid.

use std::fmt;

use agcore_chat::FaultKind;

use super::mode::Mode;

/// A behavior that every provider must show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Behavior {
    /// A text arrives completely, followed by one end.
    PlainText,
    /// A long text in several scripts arrives completely, however it is split in transit.
    UnicodeText,
    /// An answer without content is a valid answer.
    EmptyAnswer,
    /// An answer that reached the token limit reports so and keeps its text.
    LengthLimit,
    /// A refusal is distinguished from text.
    Refusal,
    /// Token usage arrives with its details.
    UsageDetails,
    /// Token counts that the server did not report remain unknown.
    UnknownUsage,
    /// The streamed answer folds into the same response as the whole one.
    SameInBothForms,

    /// A call arrives with its id, name and arguments.
    OneCall,
    /// Parallel calls keep their order and are not mixed up.
    ParallelCalls,
    /// Text before calls stays before them.
    TextThenCalls,

    /// Reasoning is distinguished from text and precedes it.
    ReasoningApart,
    /// A reply with reasoning and a call can be sent back together with the result of the call.
    ReasoningSentBack,

    /// An error response keeps its kind, retry hint, status and request id.
    Refused(FaultKind),
    /// An error within a stream has its kind and the partial answer.
    ErrorInStream,
    /// An answer that is cut off is a retryable error with the partial answer.
    CutInTheMiddle,
    /// A connection that closes without a reply is a retryable error.
    HungUp,
    /// An invalid reply is an error with the partial answer.
    Garbled,

    /// A call that is cancelled before the first poll sends nothing.
    CancelledBeforehand,
    /// Cancelling ends the wait for a reply and closes the connection.
    CancelledWaiting,
    /// Cancelling ends a reply in progress and closes the connection.
    CancelledMidway,
    /// Dropping the stream closes the connection.
    DroppedMidway,
    /// A stream that is never polled sends nothing.
    NeverPolled,

    /// A call whose deadline has already expired sends nothing.
    NoTimeLeft,
    /// The deadline ends the wait for a reply.
    DeadlineWaiting,
    /// The deadline ends a reply in progress.
    DeadlineMidway,

    /// A request without a model uses the configured one.
    ConfiguredModel,
    /// The model of a request overrides the configured one.
    RequestedModel,
    /// Messages, calls and results arrive in order, with their ids.
    History,
    /// Tools arrive in order, with their schemas.
    ToolsInOrder,
    /// The same request is sent as the same bytes, so that prompt caches hit.
    SameBytes,

    /// The provider's description of itself does not change.
    StableInfo,
    /// Two concurrent calls receive their own answers.
    ConcurrentCalls,
}

impl Behavior {
    /// All behaviors, in the order of the grid.
    pub const ALL: &[Self] = &[
        Self::PlainText,
        Self::UnicodeText,
        Self::EmptyAnswer,
        Self::LengthLimit,
        Self::Refusal,
        Self::UsageDetails,
        Self::UnknownUsage,
        Self::SameInBothForms,
        Self::OneCall,
        Self::ParallelCalls,
        Self::TextThenCalls,
        Self::ReasoningApart,
        Self::ReasoningSentBack,
        Self::Refused(FaultKind::Auth),
        Self::Refused(FaultKind::Permission),
        Self::Refused(FaultKind::NotFound),
        Self::Refused(FaultKind::InvalidRequest),
        Self::Refused(FaultKind::InvalidToolCall),
        Self::Refused(FaultKind::ContextLength),
        Self::Refused(FaultKind::ContentFilter),
        Self::Refused(FaultKind::RateLimit),
        Self::Refused(FaultKind::Quota),
        Self::Refused(FaultKind::Overloaded),
        Self::Refused(FaultKind::Server),
        Self::ErrorInStream,
        Self::CutInTheMiddle,
        Self::HungUp,
        Self::Garbled,
        Self::CancelledBeforehand,
        Self::CancelledWaiting,
        Self::CancelledMidway,
        Self::DroppedMidway,
        Self::NeverPolled,
        Self::NoTimeLeft,
        Self::DeadlineWaiting,
        Self::DeadlineMidway,
        Self::ConfiguredModel,
        Self::RequestedModel,
        Self::History,
        Self::ToolsInOrder,
        Self::SameBytes,
        Self::StableInfo,
        Self::ConcurrentCalls,
    ];

    /// Returns the modes in which this behavior is checked. Some behaviors are meaningful for streams only.
    pub fn modes(self) -> &'static [Mode] {
        match self {
            Self::SameInBothForms | Self::ErrorInStream => &[Mode::Streamed],
            _ => &Mode::ALL,
        }
    }
}

impl fmt::Display for Behavior {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::PlainText => "answer: plain text",
            Self::UnicodeText => "answer: long text in odd slices",
            Self::EmptyAnswer => "answer: empty",
            Self::LengthLimit => "answer: cut by the token limit",
            Self::Refusal => "answer: refusal",
            Self::UsageDetails => "answer: usage with details",
            Self::UnknownUsage => "answer: usage unknown",
            Self::SameInBothForms => "answer: the same in both forms",
            Self::OneCall => "calls: one",
            Self::ParallelCalls => "calls: several",
            Self::TextThenCalls => "calls: after text",
            Self::ReasoningApart => "reasoning: separate from text",
            Self::ReasoningSentBack => "reasoning: sent back with a result",
            Self::Refused(kind) => return f.pad(&format!("refused: {}", kind.as_str())),
            Self::ErrorInStream => "broken: error inside the stream",
            Self::CutInTheMiddle => "broken: cut in the middle",
            Self::HungUp => "broken: no answer at all",
            Self::Garbled => "broken: invalid reply",
            Self::CancelledBeforehand => "cancelled: before the call",
            Self::CancelledWaiting => "cancelled: while waiting",
            Self::CancelledMidway => "cancelled: in the middle",
            Self::DroppedMidway => "dropped: in the middle",
            Self::NeverPolled => "dropped: never polled",
            Self::NoTimeLeft => "deadline: no time left",
            Self::DeadlineWaiting => "deadline: while waiting",
            Self::DeadlineMidway => "deadline: in the middle",
            Self::ConfiguredModel => "request: configured model",
            Self::RequestedModel => "request: model of the request",
            Self::History => "request: history",
            Self::ToolsInOrder => "request: tools",
            Self::SameBytes => "request: same bytes again",
            Self::StableInfo => "provider: stable info",
            Self::ConcurrentCalls => "provider: two calls at once",
        })
    }
}

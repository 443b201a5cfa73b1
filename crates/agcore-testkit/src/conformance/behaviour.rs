//! [`Behaviour`]: what every provider shall do, a row of the grid each.

use std::fmt;

use agcore_chat::FaultKind;

use super::mode::Mode;

/// What every provider shall do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Behaviour {
    /// A text arrives whole, then one end.
    PlainText,
    /// A long text of many scripts arrives whole, however it is cut on its way.
    UnicodeText,
    /// An answer without content is an answer.
    EmptyAnswer,
    /// An answer that reached the token limit says so, and keeps its text.
    LengthLimit,
    /// A refusal is told apart from text.
    Refusal,
    /// Tokens arrive with their details.
    UsageDetails,
    /// Tokens that the server did not tell stay unknown.
    UnknownUsage,
    /// The streamed answer folds to the whole one.
    SameInBothForms,

    /// A call arrives with its id, name and arguments.
    OneCall,
    /// Calls side by side keep their order and do not mix.
    ParallelCalls,
    /// Text before calls stays before them.
    TextThenCalls,

    /// Reasoning is told apart from text, and comes before it.
    ReasoningApart,
    /// A reply with reasoning and a call can be sent back with the call's result.
    ReasoningSentBack,

    /// The server's refusal has its kind, hint, status and request id.
    Refused(FaultKind),
    /// An error inside a stream has its kind, and the partial answer.
    ErrorInStream,
    /// An answer that breaks off is an error that may be retried, with the partial answer.
    CutInTheMiddle,
    /// A connection that closes without an answer is an error that may be retried.
    HungUp,
    /// What is no answer is an error, with the partial answer.
    Garbled,

    /// Cancelled before the first poll, nothing is sent.
    CancelledBeforehand,
    /// Cancelling ends the wait for an answer, and the server sees the client leave.
    CancelledWaiting,
    /// Cancelling ends an answer that has begun, and the server sees the client leave.
    CancelledMidway,
    /// Dropping the stream closes the connection.
    DroppedMidway,
    /// A stream that is never polled sends nothing.
    NeverPolled,

    /// Without any time left nothing is sent.
    NoTimeLeft,
    /// The deadline ends the wait for an answer.
    DeadlineWaiting,
    /// The deadline ends an answer that has begun.
    DeadlineMidway,

    /// A request without a model asks the configured one.
    ConfiguredModel,
    /// A request's own model stands over the configured one.
    RequestedModel,
    /// Messages, calls and results arrive in order with their ids.
    History,
    /// Tools arrive in order with their schemas.
    ToolsInOrder,
    /// The same request is the same bytes, so that prompt caches hit.
    SameBytes,

    /// What the provider says of itself does not change.
    StableInfo,
    /// Two calls at once get their own answers.
    SideBySide,
}

impl Behaviour {
    /// All of them, in the order of the grid.
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
        Self::SideBySide,
    ];

    /// The forms in which it is checked; some make sense of streams only.
    pub fn modes(self) -> &'static [Mode] {
        match self {
            Self::SameInBothForms | Self::ErrorInStream => &[Mode::Streamed],
            _ => &Mode::ALL,
        }
    }
}

impl fmt::Display for Behaviour {
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
            Self::ReasoningApart => "reasoning: apart from text",
            Self::ReasoningSentBack => "reasoning: sent back with a result",
            Self::Refused(kind) => return f.pad(&format!("refused: {}", kind.as_str())),
            Self::ErrorInStream => "broken: error inside the stream",
            Self::CutInTheMiddle => "broken: cut in the middle",
            Self::HungUp => "broken: no answer at all",
            Self::Garbled => "broken: not of the API",
            Self::CancelledBeforehand => "cancelled: beforehand",
            Self::CancelledWaiting => "cancelled: while waiting",
            Self::CancelledMidway => "cancelled: in the middle",
            Self::DroppedMidway => "dropped: in the middle",
            Self::NeverPolled => "dropped: never polled",
            Self::NoTimeLeft => "deadline: no time left",
            Self::DeadlineWaiting => "deadline: while waiting",
            Self::DeadlineMidway => "deadline: in the middle",
            Self::ConfiguredModel => "request: configured model",
            Self::RequestedModel => "request: its own model",
            Self::History => "request: history",
            Self::ToolsInOrder => "request: tools",
            Self::SameBytes => "request: same bytes again",
            Self::StableInfo => "provider: stable info",
            Self::SideBySide => "provider: two calls at once",
        })
    }
}

//! [`EventType`]: the types of AG-UI events that agcore sends.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The type of an [`AguiEvent`](crate::AguiEvent).
///
/// ```
/// use agcore_agui::EventType;
///
/// assert_eq!(EventType::TextMessageContent.as_str(), "TEXT_MESSAGE_CONTENT");
/// assert!(EventType::RunError.is_terminal());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum EventType {
    /// A run starts.
    RunStarted,
    /// A run ends: it succeeded, waits for a person, or was cancelled.
    RunFinished,
    /// A run failed.
    RunError,
    /// A step starts.
    StepStarted,
    /// A step ends.
    StepFinished,
    /// A text message starts.
    TextMessageStart,
    /// A delta of a text message.
    TextMessageContent,
    /// A text message is complete.
    TextMessageEnd,
    /// A tool call starts.
    ToolCallStart,
    /// The arguments of a tool call.
    ToolCallArgs,
    /// The arguments of a tool call are complete.
    ToolCallEnd,
    /// The result of a tool call.
    ToolCallResult,
    /// The whole state.
    StateSnapshot,
    /// A change of the state.
    StateDelta,
    /// The whole conversation.
    MessagesSnapshot,
    /// The whole content of an activity.
    ActivitySnapshot,
    /// A change of an activity.
    ActivityDelta,
    /// A span of reasoning starts.
    ReasoningStart,
    /// A message of reasoning starts.
    ReasoningMessageStart,
    /// A delta of reasoning.
    ReasoningMessageContent,
    /// A message of reasoning is complete.
    ReasoningMessageEnd,
    /// A span of reasoning ends.
    ReasoningEnd,
    /// A sub-agent starts.
    SubagentStarted,
    /// A sub-agent ended.
    SubagentFinished,
    /// A sub-agent failed.
    SubagentError,
    /// An event of the application.
    Custom,
}

impl EventType {
    /// Returns the name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::RunStarted => "RUN_STARTED",
            Self::RunFinished => "RUN_FINISHED",
            Self::RunError => "RUN_ERROR",
            Self::StepStarted => "STEP_STARTED",
            Self::StepFinished => "STEP_FINISHED",
            Self::TextMessageStart => "TEXT_MESSAGE_START",
            Self::TextMessageContent => "TEXT_MESSAGE_CONTENT",
            Self::TextMessageEnd => "TEXT_MESSAGE_END",
            Self::ToolCallStart => "TOOL_CALL_START",
            Self::ToolCallArgs => "TOOL_CALL_ARGS",
            Self::ToolCallEnd => "TOOL_CALL_END",
            Self::ToolCallResult => "TOOL_CALL_RESULT",
            Self::StateSnapshot => "STATE_SNAPSHOT",
            Self::StateDelta => "STATE_DELTA",
            Self::MessagesSnapshot => "MESSAGES_SNAPSHOT",
            Self::ActivitySnapshot => "ACTIVITY_SNAPSHOT",
            Self::ActivityDelta => "ACTIVITY_DELTA",
            Self::ReasoningStart => "REASONING_START",
            Self::ReasoningMessageStart => "REASONING_MESSAGE_START",
            Self::ReasoningMessageContent => "REASONING_MESSAGE_CONTENT",
            Self::ReasoningMessageEnd => "REASONING_MESSAGE_END",
            Self::ReasoningEnd => "REASONING_END",
            Self::SubagentStarted => "SUBAGENT_STARTED",
            Self::SubagentFinished => "SUBAGENT_FINISHED",
            Self::SubagentError => "SUBAGENT_ERROR",
            Self::Custom => "CUSTOM",
        }
    }

    /// Returns whether the event ends a run.
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::RunFinished | Self::RunError)
    }

    /// Returns whether the event is a part of a text that can be joined with the next part.
    pub(crate) const fn is_content(self) -> bool {
        matches!(self, Self::TextMessageContent | Self::ReasoningMessageContent)
    }
}

impl fmt::Display for EventType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

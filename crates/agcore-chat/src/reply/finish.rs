//! [`FinishReason`]: the reason the model stopped.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The reason the model stopped. An unknown reason keeps its text.
///
/// ```
/// use agcore_chat::FinishReason;
///
/// assert_eq!(FinishReason::from("length"), FinishReason::Length);
/// assert_eq!(FinishReason::from("eos"), FinishReason::Other("eos".into()));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FinishReason {
    /// The answer was complete, or a stop sequence was reached.
    Stop,
    /// A token limit was reached.
    Length,
    /// The model called tools.
    ToolCalls,
    /// A filter removed content.
    ContentFilter,
    /// The model called a function in the legacy form.
    FunctionCall,
    /// The model declined to answer.
    Refusal,
    /// Any other reason, as the server sent it.
    Other(Box<str>),
}

impl FinishReason {
    /// Returns the reason's name in JSON.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Stop => "stop",
            Self::Length => "length",
            Self::ToolCalls => "tool_calls",
            Self::ContentFilter => "content_filter",
            Self::FunctionCall => "function_call",
            Self::Refusal => "refusal",
            Self::Other(reason) => reason,
        }
    }
}

impl FinishReason {
    /// The reason with which the Messages API pauses a long reply.
    const PAUSE_TURN: &str = "pause_turn";

    /// Returns whether the model only paused. Append its message to the history unchanged, and send the conversation
    /// again without another message: the model then continues.
    ///
    /// The Messages API pauses long runs of the tools that it executes itself (`pause_turn`).
    ///
    /// ```
    /// use agcore_chat::FinishReason;
    ///
    /// assert!(FinishReason::from("pause_turn").is_paused());
    /// assert!(!FinishReason::Stop.is_paused());
    /// ```
    pub fn is_paused(&self) -> bool {
        self.as_str() == Self::PAUSE_TURN
    }
}

impl From<&str> for FinishReason {
    fn from(reason: &str) -> Self {
        match reason {
            "stop" => Self::Stop,
            "length" => Self::Length,
            "tool_calls" => Self::ToolCalls,
            "content_filter" => Self::ContentFilter,
            "function_call" => Self::FunctionCall,
            "refusal" => Self::Refusal,
            other => Self::Other(other.into()),
        }
    }
}

impl fmt::Display for FinishReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Serialize for FinishReason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for FinishReason {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|reason| Self::from(reason.as_str()))
    }
}

//! [`FinishReason`]: why the model stopped.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Why the model stopped. An unknown reason keeps its text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FinishReason {
    /// It was done, or met a stop sequence.
    Stop,
    /// It reached a token limit.
    Length,
    /// It asks for tools.
    ToolCalls,
    /// A filter left content out.
    ContentFilter,
    /// It asks for a function in the legacy form.
    FunctionCall,
    /// It declined.
    Refusal,
    /// Something else, in the server's own words.
    Other(Box<str>),
}

impl FinishReason {
    /// The reason's name on the wire.
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

//! The data that remains when a session is erased: the bill.

use agcore_chat::Timestamp;
use serde_json::{Map, Value};

use super::{
    Session,
    message::{MessageMetadata, StoredMessage},
    status::SessionStatus,
};

impl Session {
    /// Returns the session as it is after it was erased, under a new id: with its owner, its billing, its times, and the whole of
    /// which it is a part.
    #[must_use]
    pub fn erased(self, id: impl Into<String>, now: Timestamp) -> Self {
        Self {
            id: id.into(),
            title: None,
            // Nothing runs any more.
            status: match self.status {
                SessionStatus::Running => SessionStatus::Failed,
                status => status,
            },
            pending_tool_call_id: None,
            error_id: None,
            origin: None,
            metadata: Map::new(),
            erased_at: Some(now.max(self.created_at)),
            document_version: 0,
            end: 0,
            ..self
        }
    }

    /// Returns whether the session was erased, so that only its bill is left.
    pub fn is_erased(&self) -> bool {
        self.erased_at.is_some()
    }
}

impl StoredMessage {
    /// Returns the message as it is after its session was erased, under a new id: with its number, its tokens and its cost.
    #[must_use]
    pub fn erased(self, id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            content: String::new(),
            metadata: self.metadata.map(MessageMetadata::erased),
            run: None,
            ..self
        }
    }
}

impl MessageMetadata {
    /// Returns the kind of message without data of the user or the model.
    #[must_use]
    pub fn erased(self) -> Self {
        match self {
            Self::UserInput { .. } => Self::UserInput { data: Map::new() },
            Self::ToolCall { name, .. } => Self::ToolCall {
                call_id: String::new(),
                name,
                arguments: Value::Null,
            },
            Self::ToolResult { name, is_error, .. } => Self::ToolResult {
                call_id: String::new(),
                name,
                is_error,
            },
            Self::AssistantOutput => Self::AssistantOutput,
        }
    }
}

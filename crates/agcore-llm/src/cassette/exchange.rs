//! [`Exchange`]: a recorded request and its reply.

use agcore_chat::{ChatRequest, ChatResponse, Usage};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ending::Ending, item::RecordedItem};
use agcore_wire::{Fold, LlmError};

/// A recorded request and its reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Exchange {
    /// The number of the call in its recording, from 1, in the order in which the calls started.
    pub call: u64,
    /// The name of the provider.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub provider: String,
    /// The model that the provider uses if the request names none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// Whether a streamed reply was requested.
    pub stream: bool,
    /// The canonical JSON of the request. Removed values of any type are replaced with the string `[redacted]`.
    pub request: Value,
    /// The HTTP headers of the request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<(String, String)>,
    /// The chunks of the reply, as they arrived.
    pub chunks: Vec<Chunk>,
    /// The end of the reply.
    pub end: Ending,
    /// The time of the end, in milliseconds since the request.
    pub ms: u64,
}

/// Items of a reply that arrived together, without waiting in between.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Chunk {
    /// The time of arrival, in milliseconds since the request.
    pub ms: u64,
    /// The items.
    pub items: Vec<RecordedItem>,
}

impl Exchange {
    /// Deserializes the request.
    ///
    /// # Errors
    /// If the recorded JSON is not a valid request, for example because a value was removed.
    pub fn chat_request(&self) -> Result<ChatRequest, serde_json::Error> {
        ChatRequest::deserialize(&self.request)
    }

    /// Returns the complete reply.
    ///
    /// # Errors
    /// The error that the reply ended with, including its partial response. A reply without a recorded end is
    /// `Truncated`.
    pub fn response(&self) -> Result<ChatResponse, LlmError> {
        let mut fold = self.fold();
        let end = match &self.end {
            Ending::Ok => Ok(()),
            Ending::Error(error) => Err(error.to_error()),
            Ending::Truncated | Ending::Dropped => return Err(fold.fail(LlmError::truncated())),
        };
        match end {
            Ok(()) => Ok(fold.take()),
            Err(error) => Err(fold.fail(error)),
        }
    }

    /// Returns the part of the reply that arrived, regardless of its end.
    pub fn partial_response(&self) -> ChatResponse {
        self.fold().response()
    }

    /// Returns the reported token usage.
    pub fn usage(&self) -> Option<Usage> {
        self.fold().usage().cloned()
    }

    /// Returns the items of the reply, in order.
    pub fn items(&self) -> impl Iterator<Item = &RecordedItem> {
        self.chunks.iter().flat_map(|chunk| &chunk.items)
    }

    fn fold(&self) -> Fold {
        let mut fold = Fold::new();
        for item in self.items() {
            match item {
                RecordedItem::Delta(delta) => drop(fold.push(delta)),
                RecordedItem::Notice(notice) => notice.fold_into(&mut fold),
            }
        }
        fold
    }
}

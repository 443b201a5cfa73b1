//! [`Exchange`]: a request and its reply, recorded.

use agcore_chat::{ChatRequest, ChatResponse, Usage};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ending::Ending, item::RecordedItem};
use agcore_wire::{Fold, LlmError};

/// A request and its reply, recorded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Exchange {
    /// Which call of its recording, from 1, in the order in which they began.
    pub call: u64,
    /// The provider's name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub provider: String,
    /// The provider's own model, which is asked when the request names none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// Whether a streamed reply was asked for.
    pub stream: bool,
    /// The request as its canonical JSON; values that were taken out read `[redacted]`, whatever they were.
    pub request: Value,
    /// The request's own HTTP headers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<(String, String)>,
    /// The reply, in the pieces in which it came.
    pub chunks: Vec<Chunk>,
    /// How the reply ended.
    pub end: Ending,
    /// When the end came, in milliseconds since the request.
    pub ms: u64,
}

/// Items of a reply that came together: nothing had to be waited for between them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Chunk {
    /// When they came, in milliseconds since the request.
    pub ms: u64,
    /// What came.
    pub items: Vec<RecordedItem>,
}

impl Exchange {
    /// The request.
    ///
    /// # Errors
    /// When the recording cannot be read as one, for example because something was taken out of it.
    pub fn chat_request(&self) -> Result<ChatRequest, serde_json::Error> {
        ChatRequest::deserialize(&self.request)
    }

    /// The reply as a whole.
    ///
    /// # Errors
    /// The error in which it ended, with what had arrived. A reply that nobody listened to until its end is cut.
    pub fn response(&self) -> Result<ChatResponse, LlmError> {
        let mut fold = self.fold();
        let end = match &self.end {
            Ending::Ok => Ok(()),
            Ending::Error(error) => Err(error.to_error()),
            Ending::Cut | Ending::Dropped => return Err(fold.fail(LlmError::truncated())),
        };
        match end {
            Ok(()) => Ok(fold.take()),
            Err(error) => Err(fold.fail(error)),
        }
    }

    /// What had arrived of the reply, whatever its end.
    pub fn partial_response(&self) -> ChatResponse {
        self.fold().response()
    }

    /// The tokens that were told.
    pub fn usage(&self) -> Option<Usage> {
        self.fold().usage().cloned()
    }

    /// The items of the reply, in order.
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

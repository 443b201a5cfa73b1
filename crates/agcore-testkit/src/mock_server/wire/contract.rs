//! [`Wire`]: the contract that every API implements.

use serde_json::Value;

use crate::mock_server::{
    reply::{Answer, ApiError, Chunking},
    wire::{
        event::{Event, Framing},
        prompt::Prompt,
        reply_metadata::ReplyMetadata,
    },
};

/// The requests and replies of one API.
pub(crate) trait Wire: Sync {
    /// Reads a request leniently: missing or malformed parts are left empty.
    fn read(&self, body: &Value) -> Prompt;

    /// Validates a request. Returns the vendor's error for the first of its rules that the request violates.
    fn validate(&self, body: &Value) -> Result<(), ApiError>;

    /// Renders an answer as a single body.
    fn whole(&self, answer: &Answer, metadata: &ReplyMetadata) -> Value;

    /// Renders an answer as the events of a stream, with its texts split according to `chunking`.
    fn stream(&self, answer: &Answer, metadata: &ReplyMetadata, chunking: Chunking) -> Vec<Event>;

    /// Renders an error that occurs in the middle of a stream.
    fn error_event(&self, error: &ApiError, metadata: &ReplyMetadata) -> Event;

    /// Returns the framing of the API's streams.
    fn framing(&self) -> Framing;
}

//! [`Wire`]: the contract that every API implements, and [`ReplyMetadata`]: what a wire needs besides the answer.

use serde_json::Value;

use crate::mock_server::{
    reply::{Answer, ApiError, Chunking, TokenUsage},
    wire::{
        event::{Event, Framing},
        prompt::Prompt,
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

/// 2024-01-01T00:00:00Z. The server does not read a clock, so all replies carry the same time.
const CREATED: u64 = 1_704_067_200;

/// The id, model and token counts of one reply.
#[derive(Clone, Debug)]
pub(crate) struct ReplyMetadata {
    /// The position of the request in order of arrival, starting at 0.
    pub(crate) number: usize,
    /// The id set by the answer, or `None` to generate one.
    pub(crate) id: Option<String>,
    pub(crate) model: String,
    pub(crate) usage: Option<TokenUsage>,
    /// Whether a Chat Completions stream includes the token counts.
    pub(crate) include_usage: bool,
}

impl ReplyMetadata {
    /// Returns the id of the reply: the one set by the answer, or one generated with the vendor's prefix.
    pub(crate) fn id(&self, prefix: &str) -> String {
        self.id.clone().unwrap_or_else(|| self.part_id(prefix))
    }

    /// Generates the id of a part of the reply.
    pub(crate) fn part_id(&self, prefix: &str) -> String {
        format!("{prefix}mock{}", self.number)
    }

    /// Generates the request id, which clients quote in reports to the vendor.
    pub(crate) fn request_id(&self) -> String {
        self.part_id("req_")
    }

    /// Returns the creation time, in seconds since the Unix epoch.
    pub(crate) fn created(&self) -> u64 {
        CREATED
    }
}

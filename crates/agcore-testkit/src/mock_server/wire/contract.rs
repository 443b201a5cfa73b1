//! What every wire can do.

use serde_json::Value;

use super::super::answer::Answer;
use super::super::api_error::ApiError;
use super::super::chunking::Chunking;
use super::super::event::{Event, Framing};
use super::super::prompt::Prompt;
use super::stamp::Stamp;

/// One API.
pub(crate) trait Wire: Sync {
    /// What the request says, read tolerantly: what is missing or odd is empty.
    fn read(&self, body: &Value) -> Prompt;

    /// The first of the vendor's own rules that the request breaks, as the vendor's error.
    fn judge(&self, body: &Value) -> Result<(), ApiError>;

    /// The answer as one body.
    fn whole(&self, answer: &Answer, stamp: &Stamp) -> Value;

    /// The answer as events, its texts cut by `chunking`.
    fn stream(&self, answer: &Answer, stamp: &Stamp, chunking: Chunking) -> Vec<Event>;

    /// An error in the middle of a stream.
    fn error_event(&self, error: &ApiError, stamp: &Stamp) -> Event;

    /// How its streams are framed.
    fn framing(&self) -> Framing;
}

//! OpenAI Responses (platform.openai.com, API reference, "Responses" and "Streaming events").

mod request;
mod stream;
mod whole;

use serde_json::{Value, json};

use super::super::answer::Answer;
use super::super::api_error::ApiError;
use super::super::chunking::Chunking;
use super::super::error_body::error_json;
use super::super::event::{Event, Framing, Part};
use super::super::prompt::Prompt;
use super::contract::Wire;
use super::stamp::Stamp;

pub(crate) struct OpenAiResponses;

impl Wire for OpenAiResponses {
    fn read(&self, body: &Value) -> Prompt {
        request::read(body)
    }

    fn judge(&self, body: &Value) -> Result<(), ApiError> {
        request::judge(body)
    }

    fn whole(&self, answer: &Answer, stamp: &Stamp) -> Value {
        whole::whole(answer, stamp)
    }

    fn stream(&self, answer: &Answer, stamp: &Stamp, chunking: Chunking) -> Vec<Event> {
        stream::stream(answer, stamp, chunking)
    }

    /// Flat, as the types of the SDK have it; with a shape asked for, nested under `error`, as seen on the wire.
    fn error_event(&self, error: &ApiError, stamp: &Stamp) -> Event {
        let parts = error.parts();
        let mut data = match parts.shape {
            None => json!({ "code": parts.code, "message": parts.message, "param": parts.param }),
            Some(shape) => error_json(error, shape, &stamp.request_id()),
        };
        if let Some(members) = data.as_object_mut() {
            members.insert("type".into(), json!("error"));
        }
        Event::named(Part::Content, "error", data.to_string())
    }

    fn framing(&self) -> Framing {
        Framing::Sse
    }
}

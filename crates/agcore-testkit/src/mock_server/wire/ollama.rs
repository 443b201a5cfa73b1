//! Ollama's own API (docs.ollama.com, "Generate a chat message" and "Errors").

mod request;
mod stream;
mod whole;

use serde_json::Value;

use super::super::answer::Answer;
use super::super::api_error::ApiError;
use super::super::chunking::Chunking;
use super::super::error_body::error_json;
use super::super::error_shape::ErrorShape;
use super::super::event::{Event, Framing, Part};
use super::super::prompt::Prompt;
use super::contract::Wire;
use super::stamp::Stamp;

pub(crate) struct Ollama;

impl Wire for Ollama {
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

    fn error_event(&self, error: &ApiError, stamp: &Stamp) -> Event {
        let shape = error.parts().shape.unwrap_or(ErrorShape::Ollama);
        Event::new(Part::Content, error_json(error, shape, &stamp.request_id()).to_string())
    }

    fn framing(&self) -> Framing {
        Framing::Lines
    }
}

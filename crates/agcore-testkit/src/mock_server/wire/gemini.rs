//! Gemini's native API (ai.google.dev, "Generating content"). The model and the form of the reply are in the path.

mod request;
mod stream;
mod whole;

use serde_json::Value;

use crate::mock_server::{
    reply::{Answer, ApiError, Chunking, ErrorShape},
    wire::{
        contract::{ReplyMetadata, Wire},
        error_body::error_json,
        event::{Event, Framing, Part},
        prompt::Prompt,
    },
};

pub(crate) struct Gemini;

impl Wire for Gemini {
    fn read(&self, body: &Value) -> Prompt {
        request::read(body)
    }

    fn validate(&self, body: &Value) -> Result<(), ApiError> {
        request::validate(body)
    }

    fn whole(&self, answer: &Answer, metadata: &ReplyMetadata) -> Value {
        whole::whole(answer, metadata)
    }

    fn stream(&self, answer: &Answer, metadata: &ReplyMetadata, chunking: Chunking) -> Vec<Event> {
        stream::stream(answer, metadata, chunking)
    }

    fn error_event(&self, error: &ApiError, metadata: &ReplyMetadata) -> Event {
        let shape = error.parts().shape.unwrap_or(ErrorShape::Gemini);
        Event::new(
            Part::Content,
            error_json(error, shape, &metadata.request_id()).to_string(),
        )
    }

    fn framing(&self) -> Framing {
        Framing::Sse
    }
}

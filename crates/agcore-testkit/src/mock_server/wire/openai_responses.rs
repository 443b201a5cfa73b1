//! The OpenAI Responses API (platform.openai.com, API reference, "Responses" and "Streaming events").

mod request;
mod stream;
mod whole;

use serde_json::{Value, json};

use crate::mock_server::{
    reply::{Answer, ApiError, Chunking},
    wire::{
        contract::{ReplyMetadata, Wire},
        error_body::error_json,
        event::{Event, Framing, Part},
        prompt::Prompt,
    },
};

pub(crate) struct OpenAiResponses;

impl Wire for OpenAiResponses {
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

    /// Renders a flat error, as declared by the types of the vendor's SDK. An error with an explicit shape is rendered
    /// in that shape, for example nested under `error`, as observed in practice.
    fn error_event(&self, error: &ApiError, metadata: &ReplyMetadata) -> Event {
        let parts = error.parts();
        let mut data = match parts.shape {
            None => json!({ "code": parts.code, "message": parts.message, "param": parts.param }),
            Some(shape) => error_json(error, shape, &metadata.request_id()),
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

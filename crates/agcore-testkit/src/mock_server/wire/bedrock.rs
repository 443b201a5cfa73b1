//! The Converse API of Amazon Bedrock (docs.aws.amazon.com, "Converse"). The model and the form of the reply are in the path.

mod call;
mod request;
mod stream;
mod whole;

use serde_json::Value;

pub(crate) use self::call::BedrockCall;
use crate::mock_server::{
    reply::{Answer, ApiError, Chunking},
    wire::{
        contract::{ReplyMetadata, Wire},
        error_body::bedrock_exception,
        event::{Event, Framing, Part},
        prompt::Prompt,
    },
};

pub(crate) struct Bedrock;

impl Wire for Bedrock {
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

    fn error_event(&self, error: &ApiError, _: &ReplyMetadata) -> Event {
        let (name, body) = bedrock_exception(error);
        Event::named(Part::Exception, &name, body.to_string())
    }

    fn framing(&self) -> Framing {
        Framing::EventStream
    }
}

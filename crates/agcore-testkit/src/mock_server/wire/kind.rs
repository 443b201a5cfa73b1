//! [`generate`]: the replies of models that do not chat, which the server computes from the requests.

mod image;
mod rerank;
mod speech;
mod transcription;
mod video;

use serde_json::Value;

use self::{image::images, rerank::rerank, speech::speech, video::video};
use crate::mock_server::{
    reply::{ApiError, Reply},
    wire::{api::Operation, form::Form},
};

/// The parts of a request that a generated reply depends on.
#[derive(Debug)]
pub(crate) struct KindRequest<'r> {
    pub(crate) operation: Operation,
    pub(crate) path: &'r str,
    pub(crate) content_type: &'r str,
    /// Whether DashScope is asked for events.
    pub(crate) is_streamed: bool,
    pub(crate) json: &'r Value,
    pub(crate) body: &'r [u8],
}

/// Computes the reply to a request for a model that does not chat.
pub(crate) fn generate(request: &KindRequest<'_>) -> Result<Reply, ApiError> {
    let (form, body) = (Form::of(request.path), request.json);
    match operation(request) {
        Operation::Rerank => Ok(Reply::json(200, &rerank(form, body)?)),
        Operation::GenerateImages => Ok(Reply::json(200, &images(form, body)?)),
        Operation::Speak => speech(form, body, request.is_streamed),
        operation @ (Operation::CreateVideo
        | Operation::VideoStatus
        | Operation::FetchVideo
        | Operation::CancelVideo) => video(form, operation, request.path, body),
        Operation::Transcribe => {
            let reply = match form {
                Form::OpenAi => transcription::of_form(request.content_type, request.body)?,
                Form::DashScope => transcription::of_json(body)?,
            };
            Ok(Reply::json(200, &reply))
        }
        _ => Err(ApiError::new(404).with_message("The server generates no reply to this request.")),
    }
}

/// Returns the operation of a request. DashScope has one path for all models that reply at once.
fn operation(request: &KindRequest<'_>) -> Operation {
    let input = &request.json["input"];
    match request.operation {
        Operation::GenerateImages if Form::of(request.path) == Form::OpenAi => Operation::GenerateImages,
        Operation::GenerateImages if input["text"].is_string() => Operation::Speak,
        Operation::GenerateImages if input["messages"][0]["content"][0]["audio"].is_string() => Operation::Transcribe,
        other => other,
    }
}

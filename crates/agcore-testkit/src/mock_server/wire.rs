//! The wires: one API's requests read, its replies written.
//!
//! A wire is pure. It reads JSON into a prompt and writes an answer as a whole body and as the events of a stream;
//! statuses, headers, framing, faults and time are not its business. Every wire has the same files: `request` (reading
//! and judging), `whole` and `stream`.

mod contract;
mod json;
mod stamp;

mod anthropic;
mod ollama;
mod openai_chat;
mod openai_responses;

use super::api::Api;
pub(crate) use contract::Wire;
pub(crate) use stamp::Stamp;

/// The wire of an API.
pub(crate) fn wire(api: Api) -> &'static dyn Wire {
    match api {
        Api::OpenAiChat => &openai_chat::OpenAiChat,
        Api::OpenAiResponses => &openai_responses::OpenAiResponses,
        Api::Anthropic => &anthropic::Anthropic,
        Api::Ollama => &ollama::Ollama,
    }
}

//! The wires: each reads the requests and writes the replies of one API.
//!
//! A wire is pure. It reads JSON into a [`Prompt`] and writes an answer as a single body or as the events of a stream;
//! it does not handle statuses, headers, framing, faults or time. Every wire has the same files: `request` (reading and
//! validation), `whole` and `stream`.

mod api;
mod prompt;
mod event;
mod frame;
mod json;
mod contract;

mod form;
mod embedding;
mod error_body;
mod kind;
mod model_list;
mod tool_results;

mod anthropic;
mod bedrock;
mod gemini;
mod ollama;
mod openai_chat;
mod openai_responses;

pub use {
    api::{Api, Operation},
    embedding::embed,
    prompt::{OfferedTool, Prompt, Role, Turn},
};
pub(crate) use {
    api::{GeminiCall, operation_of},
    bedrock::BedrockCall,
    contract::{ReplyMetadata, Wire},
    embedding::embeddings,
    error_body::{error_body, error_header},
    event::{Event, Framing, Part, Style},
    frame::frame,
    kind::{KindRequest, generate},
    model_list::model_list,
    tool_results::validate_tool_results,
};

/// Returns the wire of an API.
pub(crate) fn wire(api: Api) -> &'static dyn Wire {
    match api {
        Api::OpenAiChat => &openai_chat::OpenAiChat,
        Api::OpenAiResponses => &openai_responses::OpenAiResponses,
        Api::Anthropic => &anthropic::Anthropic,
        Api::Ollama => &ollama::Ollama,
        Api::Gemini => &gemini::Gemini,
        Api::Bedrock => &bedrock::Bedrock,
    }
}

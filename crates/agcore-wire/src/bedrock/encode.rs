//! Encodes a chat request.
//!
//! The parts of the request are converted first, borrowing where possible. Then the body is written in one pass and in a
//! fixed order, so that equal requests have equal bytes. Anything that the API cannot express is an error that names it.

mod model;
mod block;
mod media;
mod content;
mod assistant;
mod list;
mod message;
mod tools;
mod caching;
mod parameters;
mod body;

use agcore_chat::ChatRequest;

use self::{body::Body, message::Conversation, model::Traits, parameters::Parameters, tools::Tools};
use super::{path, settings::Settings};
use crate::{
    encode::{check_extra_body, extra_headers, invalid_request, model, tool_names},
    error::LlmError,
    wire::{EncodeOptions, WireRequest},
};

/// The initial capacity for a body in bytes, large enough for typical short requests.
const INITIAL_CAPACITY: usize = 2048;

/// The operations of a model, for a whole reply and for an event stream.
const WHOLE: &str = "converse";
const STREAM: &str = "converse-stream";

/// Encodes a request.
pub(super) fn encode(
    settings: &Settings,
    request: &ChatRequest,
    options: &EncodeOptions<'_>,
) -> Result<WireRequest, LlmError> {
    let model = model(&request.model, options)?;
    let path = path::of_model(model, if options.stream { STREAM } else { WHOLE })?;
    check_extra_body(request.extra_body_clash())?;
    tool_names::check(&request.tools)?;
    let bytes = body(settings, request, model).map_err(invalid_request)?;
    let mut wire = WireRequest::post(path, bytes);
    extra_headers::add(&mut wire.headers, &request.extra_headers).map_err(invalid_request)?;
    Ok(wire)
}

fn body(settings: &Settings, request: &ChatRequest, model: &str) -> Result<Vec<u8>, String> {
    let model = settings.model.as_deref().unwrap_or(model);
    let traits = Traits::of(model);
    let mut conversation = Conversation::new(settings, traits, &request.messages)?;
    let mut parameters = Parameters::new(request, traits, model)?;
    body::merge_extra(&mut parameters, &request.extra_body)?;
    let called = conversation.called();
    let mut tools = Tools::new(request, traits, model, parameters.is_thinking(), &called)?;
    caching::prepare(
        request,
        traits,
        settings.automatic_caching,
        &mut conversation,
        &mut tools,
    )?;
    let body = Body {
        conversation: &conversation,
        tools: &tools,
        parameters,
        extra: &request.extra_body,
    };
    let mut bytes = Vec::with_capacity(INITIAL_CAPACITY);
    serde_json::to_writer(&mut bytes, &body).map_err(|error| error.to_string())?;
    Ok(bytes)
}

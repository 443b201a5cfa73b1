//! Encodes a chat request.
//!
//! The parts of the request are converted first, borrowing where possible. Then the body is written in one pass and in a
//! fixed order, so that equal requests have equal bytes. Anything that the API cannot express is an error that names it.

mod model;
mod part;
mod media;
mod content;
mod assistant;
mod message;
mod tools;
mod parameters;
mod body;

use agcore_chat::ChatRequest;
use serde_json::Map;

use self::{body::Body, message::Conversation, model::Traits, tools::Tools};
use super::{path, settings::Settings};
use crate::{
    encode::{check_extra_body, extra_headers, invalid_request, model, tool_names},
    error::LlmError,
    wire::{EncodeOptions, WireRequest},
};

/// The initial capacity for a body in bytes, large enough for typical short requests.
const INITIAL_CAPACITY: usize = 2048;

/// The methods of a model, for a whole reply and for an event stream.
const WHOLE: &str = "generateContent";
const STREAM: &str = "streamGenerateContent?alt=sse";

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
    let body = body(settings, request, model).map_err(invalid_request)?;
    let mut bytes = Vec::with_capacity(INITIAL_CAPACITY);
    serde_json::to_writer(&mut bytes, &body).map_err(|error| invalid_request(error.to_string()))?;
    let mut wire = WireRequest::post(path, bytes);
    extra_headers::add(&mut wire.headers, &request.extra_headers).map_err(invalid_request)?;
    Ok(wire)
}

fn body<'a>(settings: &Settings, request: &'a ChatRequest, model: &str) -> Result<Body<'a>, String> {
    let traits = Traits::of(model);
    let conversation = Conversation::new(settings, traits, &request.messages)?;
    let tools = Tools::new(request, traits, model)?;
    let generation_config = parameters::generation_config(settings, traits, request, model, tools.has_functions())?;
    let mut body = Body {
        conversation,
        tools,
        tool_config: Map::new(),
        generation_config,
        service_tier: parameters::service_tier(request)?,
        extra: &request.extra_body,
    };
    body.merge_extra()?;
    Ok(body)
}

//! Encodes a chat request.
//!
//! The body is written in one pass, directly into its buffer and in a fixed order, so that equal requests have equal bytes.
//! Anything that the API cannot express is converted without loss or is an error that names it. The table in docs.md lists
//! what is left out on purpose.

mod assistant;
mod body;
mod content;
mod message;
mod parameters;
mod tools;

use agcore_chat::ChatRequest;

use self::body::Body;
use super::settings::Settings;
use crate::{
    encode::{check_extra_body, extra_headers, invalid_request, model, tool_names},
    error::LlmError,
    wire::{EncodeOptions, WireRequest},
};

/// The initial capacity for a body in bytes, large enough for typical short requests.
const INITIAL_CAPACITY: usize = 2048;

/// Encodes a request.
pub(super) fn encode(
    settings: &Settings,
    request: &ChatRequest,
    options: &EncodeOptions<'_>,
) -> Result<WireRequest, LlmError> {
    let model = model(&request.model, options)?;
    check_extra_body(request.extra_body_clash())?;
    tool_names::check(&request.tools)?;
    let body = Body {
        settings,
        request,
        model,
        stream: options.stream,
    };
    let mut bytes = Vec::with_capacity(INITIAL_CAPACITY);
    serde_json::to_writer(&mut bytes, &body).map_err(|error| invalid_request(error.to_string()))?;
    let mut wire = WireRequest::post("/chat", bytes);
    extra_headers::add(&mut wire.headers, &request.extra_headers).map_err(invalid_request)?;
    Ok(wire)
}

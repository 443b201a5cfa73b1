//! Encodes a request.
//!
//! The body is written in one pass, directly into its buffer and in a fixed order, so that equal requests have equal bytes.
//! Anything that the API cannot express is converted without loss or is an error that names it.

mod assistant;
mod body;
mod content;
mod context;
mod item;
mod message;
mod parameters;
mod tools;

use agcore_chat::ChatRequest;

use self::{body::Body, context::Context};
use crate::{
    encode::{check_extra_body, extra_headers, invalid_request, model, tool_names},
    error::LlmError,
    wire::{EncodeOptions, WireRequest},
};

/// The initial capacity for a body in bytes, large enough for typical short requests.
const INITIAL_CAPACITY: usize = 2048;

/// Members that are written from a field with another name, and that field.
const RENAMED: [(&str, &str); 2] = [("input", "messages"), ("max_output_tokens", "max_completion_tokens")];

/// Encodes a request. `parsed_arguments` states whether the server parses arguments.
pub(super) fn encode(
    parsed_arguments: bool,
    request: &ChatRequest,
    options: &EncodeOptions<'_>,
) -> Result<WireRequest, LlmError> {
    let model = model(&request.model, options)?;
    check_extra_body(request.extra_body_clash())?;
    tool_names::check(&request.tools)?;
    let renamed = RENAMED.iter().find(|(name, _)| request.extra_body.get(name).is_some());
    if let Some((name, field)) = renamed {
        let message = format!("extra_body must not contain `{name}`: set the request's field `{field}` instead");
        return Err(invalid_request(message));
    }
    let context = Context::new(request, parsed_arguments);
    let body = Body {
        context: &context,
        request,
        model,
        stream: options.stream,
    };
    let mut bytes = Vec::with_capacity(INITIAL_CAPACITY);
    serde_json::to_writer(&mut bytes, &body).map_err(|error| invalid_request(error.to_string()))?;
    let mut wire = WireRequest::post("/responses", bytes);
    extra_headers::add(&mut wire.headers, &request.extra_headers).map_err(invalid_request)?;
    Ok(wire)
}

//! Encoding of requests in a dialect.
//!
//! The body is written in one pass and in a fixed order, directly into its buffer, so that the same request always gives
//! the same bytes. What a dialect cannot express is translated without loss or refused by name, never left out.

mod assistant;
mod body;
mod body_size;
mod content;
mod context;
mod media;
mod message;
mod parameters;
mod schema;
mod tool_cache;
mod tools;

pub(super) use tool_cache::ToolCache;

use agcore_chat::ChatRequest;

use self::{body::Body, context::Context};
use crate::{
    dialect::Dialect,
    encode::{check_extra_body, extra_headers, invalid_request, model, tool_names},
    error::LlmError,
    wire::{EncodeOptions, WireRequest},
};

/// Encodes a request for a path below the base URL.
pub(super) fn encode(
    dialect: &Dialect,
    tool_cache: &ToolCache,
    path: &str,
    request: &ChatRequest,
    options: &EncodeOptions<'_>,
) -> Result<WireRequest, LlmError> {
    let model = model(&request.model, options)?;
    check_extra_body(request.extra_body_clash())?;
    tool_names::check(&request.tools)?;
    let context = Context::new(dialect, tool_cache, request, model);
    let body = Body {
        context: &context,
        request,
        model,
        stream: options.stream || dialect.streaming.always,
    };
    let mut bytes = Vec::with_capacity(body_size::estimate(request, tool_cache.size_of(&request.tools)));
    serde_json::to_writer(&mut bytes, &body).map_err(|error| invalid_request(error.to_string()))?;
    let mut wire = WireRequest::post(path, bytes);
    extra_headers::add(&mut wire.headers, &request.extra_headers).map_err(invalid_request)?;
    Ok(wire)
}

//! A request to the bytes of one dialect.
//!
//! The body is written in one pass straight into its buffer, in a fixed order, so that the same request is the same
//! bytes. What a dialect cannot express is translated without loss or refused by name, never left out.

mod assistant;
mod body;
mod content;
mod context;
mod message;
mod nine_letters;
mod parameters;
mod schema;
mod size;
mod tools;
mod written_tools;

pub(super) use written_tools::WrittenTools;

use agcore_chat::ChatRequest;

use self::{body::Body, context::Context};
use crate::{
    dialect::Dialect,
    error::{LlmError, LlmErrorKind},
    wire::{EncodeOptions, WireRequest, extra_headers},
};

/// Writes a request for a path below the base URL.
pub(super) fn encode(
    dialect: &Dialect,
    written_tools: &WrittenTools,
    path: &str,
    request: &ChatRequest,
    options: &EncodeOptions<'_>,
) -> Result<WireRequest, LlmError> {
    let refused = |message: String| LlmError::new(LlmErrorKind::InvalidRequest, message);
    let model = if request.model.is_empty() {
        options.model
    } else {
        &request.model
    };
    if model.is_empty() {
        return Err(refused(
            "no model is named: set one on the request or on the provider".into(),
        ));
    }
    if let Some(name) = request.extra_body_clash() {
        let why = format!("extra_body must not hold `{name}`: set the request's field of that name instead");
        return Err(refused(why));
    }
    let context = Context::new(dialect, written_tools, request, model);
    let body = Body {
        context: &context,
        request,
        model,
        stream: options.stream || dialect.streaming.always,
    };
    let mut bytes = Vec::with_capacity(size::guess(request, written_tools.size_of(&request.tools)));
    serde_json::to_writer(&mut bytes, &body).map_err(|error| refused(error.to_string()))?;
    let mut wire = WireRequest::post(path, bytes);
    extra_headers::add(&mut wire.headers, &request.extra_headers).map_err(refused)?;
    Ok(wire)
}

//! A request to the bytes of the API.
//!
//! The body is written in one pass straight into its buffer, in a fixed order, so that the same request is the same
//! bytes. What the API cannot express is translated without loss or refused by name, never left out.

mod assistant;
mod body;
mod call;
mod content;
mod context;
mod include;
mod input;
mod own;
mod parameters;
mod said;
mod tools;

use agcore_chat::ChatRequest;

use self::{body::Body, context::Context};
use crate::{
    error::{LlmError, LlmErrorKind},
    wire::{EncodeOptions, WireRequest, extra_headers},
};

/// A guess at a body's size, so that short ones grow once or never.
const USUAL_SIZE: usize = 2048;

/// Members that are written from fields of another name.
const WRITTEN: &[&str] = &["input", "max_output_tokens"];

/// Writes a request.
pub(super) fn encode(request: &ChatRequest, options: &EncodeOptions<'_>) -> Result<WireRequest, LlmError> {
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
    let written = || {
        WRITTEN
            .iter()
            .copied()
            .find(|name| request.extra_body.get(name).is_some())
    };
    if let Some(name) = request.extra_body_clash().or_else(written) {
        let why = format!("extra_body must not hold `{name}`: set the request's field for it instead");
        return Err(refused(why));
    }
    let context = Context::new(request);
    let body = Body {
        context: &context,
        request,
        model,
        stream: options.stream,
    };
    let mut bytes = Vec::with_capacity(USUAL_SIZE);
    serde_json::to_writer(&mut bytes, &body).map_err(|error| refused(error.to_string()))?;
    let mut wire = WireRequest::post("/responses", bytes);
    extra_headers::add(&mut wire.headers, &request.extra_headers).map_err(refused)?;
    Ok(wire)
}

//! A request to the bytes of Ollama's chat endpoint.
//!
//! The body is written in one pass straight into its buffer, in a fixed order, so that the same request is the same
//! bytes. What the API cannot express is translated without loss or refused by name; what is left out on purpose (cache
//! marks, thoughts of other vendors, hints that nobody here reads) stands in the table of the page on this wire.

mod assistant;
mod body;
mod format;
mod image;
mod message;
mod options;
mod refusal;
mod tools;

use agcore_chat::ChatRequest;

use self::body::Body;
use super::settings::Settings;
use crate::{
    error::{LlmError, LlmErrorKind},
    wire::{EncodeOptions, WireRequest, extra_headers},
};

/// A guess at a body's size, so that short ones grow once or never.
const USUAL_SIZE: usize = 2048;

/// Writes a request.
pub(super) fn encode(
    settings: &Settings,
    request: &ChatRequest,
    options: &EncodeOptions<'_>,
) -> Result<WireRequest, LlmError> {
    let refused = |message: String| LlmError::new(LlmErrorKind::InvalidRequest, message);
    let model = model(&request.model, options).map_err(refused)?;
    if let Some(name) = request.extra_body_clash() {
        let why = format!("extra_body must not hold `{name}`: set the request's field of that name instead");
        return Err(refused(why));
    }
    let body = Body {
        settings,
        request,
        model,
        stream: options.stream,
    };
    let mut bytes = Vec::with_capacity(USUAL_SIZE);
    serde_json::to_writer(&mut bytes, &body).map_err(|error| refused(error.to_string()))?;
    let mut wire = WireRequest::post("/chat", bytes);
    extra_headers::add(&mut wire.headers, &request.extra_headers).map_err(refused)?;
    Ok(wire)
}

/// The model to ask: the request's own, else the provider's.
pub(super) fn model<'a>(own: &'a str, options: &EncodeOptions<'a>) -> Result<&'a str, String> {
    match if own.is_empty() { options.model } else { own } {
        "" => Err("no model is named: set one on the request or on the provider".to_owned()),
        model => Ok(model),
    }
}

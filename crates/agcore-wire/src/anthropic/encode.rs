//! Encodes a request.
//!
//! The parts of the request are converted first, borrowing where possible. Then the body is written in one pass and in a
//! fixed order, so that equal requests have equal bytes. Anything that the API cannot express is an error that names it.

mod block;
mod body;
mod caching;
mod content;
mod assistant;
mod message;
mod parameters;
mod schema;
mod source;
mod tools;

use agcore_chat::ChatRequest;
use http::{HeaderMap, HeaderName, HeaderValue};

use self::{body::Body, message::Conversation, parameters::Parameters, tools::Tools};
use super::settings::Settings;
use crate::{
    encode::{check_extra_body, extra_headers, invalid_request, model, tool_names},
    error::LlmError,
    wire::{EncodeOptions, WireRequest},
};
pub(super) use parameters::default_token_limit;

/// The initial capacity for a body in bytes, large enough for typical short requests.
const INITIAL_CAPACITY: usize = 2048;

const VERSION: HeaderName = HeaderName::from_static("anthropic-version");
const BETA: HeaderName = HeaderName::from_static("anthropic-beta");

/// The beta feature that requests need to refer to uploaded files (docs.anthropic.com, "Files API").
const FILES: &str = "files-api-2025-04-14";

/// Encodes a request.
pub(super) fn encode(
    settings: &Settings,
    request: &ChatRequest,
    options: &EncodeOptions<'_>,
) -> Result<WireRequest, LlmError> {
    let model = model(&request.model, options)?;
    check_extra_body(request.extra_body_clash())?;
    tool_names::check(&request.tools)?;
    let mut conversation = Conversation::new(settings, &request.messages).map_err(invalid_request)?;
    let parameters = Parameters::new(settings, request, model).map_err(invalid_request)?;
    let mut tools = Tools::new(request).map_err(invalid_request)?;
    if settings.automatic_caching {
        caching::place_marks(request, &mut conversation, &mut tools);
    }
    let body = Body {
        model,
        parameters,
        tools,
        conversation: &conversation,
        stream: options.stream,
        extra: &request.extra_body,
    };
    if let Some(name) = body.clash() {
        let message = format!("extra_body must not contain `{name}`: other fields of the request already set it");
        return Err(invalid_request(message));
    }
    let mut bytes = Vec::with_capacity(INITIAL_CAPACITY);
    serde_json::to_writer(&mut bytes, &body).map_err(|error| invalid_request(error.to_string()))?;
    let mut wire = WireRequest::post("/messages", bytes);
    let needed: &[&str] = if conversation.has_uploaded_files { &[FILES] } else { &[] };
    add_headers(&mut wire.headers, settings, needed, &request.extra_headers)?;
    Ok(wire)
}

/// Adds the version of the API, one list of beta features (from the settings, those that the request needs, and those in
/// the request's own header), and the request's headers.
pub(super) fn add_headers(
    headers: &mut HeaderMap,
    settings: &Settings,
    needed: &[&str],
    extra: &[(String, String)],
) -> Result<(), LlmError> {
    let value = |name: &HeaderName, text: &str| {
        HeaderValue::from_str(text)
            .map_err(|_| invalid_request(format!("`{name}` contains characters that are not allowed in a header")))
    };
    headers.insert(VERSION, value(&VERSION, &settings.version)?);
    let (beta_headers, others): (Vec<_>, Vec<_>) = extra
        .iter()
        .cloned()
        .partition(|(name, _)| name.eq_ignore_ascii_case(BETA.as_str()));
    let mut betas: Vec<&str> = Vec::new();
    let listed = beta_headers.iter().flat_map(|(_, list)| list.split(',').map(str::trim));
    for beta in settings
        .betas
        .iter()
        .map(|beta| &**beta)
        .chain(needed.iter().copied())
        .chain(listed)
    {
        if !beta.is_empty() && !betas.contains(&beta) {
            betas.push(beta);
        }
    }
    if !betas.is_empty() {
        headers.insert(BETA, value(&BETA, &betas.join(","))?);
    }
    extra_headers::add(headers, &others).map_err(invalid_request)
}

//! A request to bytes.
//!
//! First the parts of the request are worked out, borrowing what they can, then the body is written in one pass and in a
//! fixed order, so that the same request is the same bytes. What the API cannot express is refused by name.

mod base64;
mod block;
mod body;
mod content;
mod effort;
mod parameters;
mod purpose;
mod said;
mod schema;
mod source;
mod tools;
mod turns;

use agcore_chat::ChatRequest;
use http::{HeaderMap, HeaderName, HeaderValue};

pub(super) use self::purpose::Purpose;
use self::{body::Body, parameters::Parameters, tools::Tools, turns::Conversation};
use super::settings::Settings;
use crate::{
    error::{LlmError, LlmErrorKind},
    wire::{EncodeOptions, WireRequest, extra_headers},
};

/// A guess at a body's size, so that short ones grow once or never.
const USUAL_SIZE: usize = 2048;

const VERSION: HeaderName = HeaderName::from_static("anthropic-version");
const BETA: HeaderName = HeaderName::from_static("anthropic-beta");

/// The feature by which requests name files that were uploaded before (docs.anthropic.com, "Files API").
const FILES: &str = "files-api-2025-04-14";

/// Writes a request.
pub(super) fn encode(
    settings: &Settings,
    purpose: Purpose,
    request: &ChatRequest,
    options: &EncodeOptions<'_>,
) -> Result<WireRequest, LlmError> {
    let model = match request.model.as_str() {
        "" => options.model,
        own => own,
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
    let conversation = Conversation::of(settings, &request.messages).map_err(refused)?;
    let body = Body {
        purpose,
        model,
        parameters: Parameters::of(settings, request, model).map_err(refused)?,
        tools: Tools::of(request).map_err(refused)?,
        conversation: &conversation,
        stream: options.stream,
        extra: &request.extra_body,
    };
    if let Some(name) = body.clash() {
        let why = format!("extra_body must not hold `{name}`: the request's other fields say it already");
        return Err(refused(why));
    }
    let mut bytes = Vec::with_capacity(USUAL_SIZE);
    serde_json::to_writer(&mut bytes, &body).map_err(|error| refused(error.to_string()))?;
    let mut wire = WireRequest::post(purpose.path(), bytes);
    let needed: &[&str] = if conversation.names_files { &[FILES] } else { &[] };
    add_headers(&mut wire.headers, settings, needed, &request.extra_headers)?;
    Ok(wire)
}

fn refused(message: String) -> LlmError {
    LlmError::new(LlmErrorKind::InvalidRequest, message)
}

/// Adds the API's version, the features asked for (ours, those needed, the request's own, in one list), and the request's
/// headers.
pub(super) fn add_headers(
    headers: &mut HeaderMap,
    settings: &Settings,
    needed: &[&str],
    extra: &[(String, String)],
) -> Result<(), LlmError> {
    let value = |name: &HeaderName, text: &str| {
        HeaderValue::from_str(text).map_err(|_| refused(format!("`{name}` holds characters that no header may hold")))
    };
    headers.insert(VERSION, value(&VERSION, &settings.version)?);
    let (own, others): (Vec<_>, Vec<_>) = extra
        .iter()
        .cloned()
        .partition(|(name, _)| name.eq_ignore_ascii_case(BETA.as_str()));
    let mut betas: Vec<&str> = Vec::new();
    let listed = own.iter().flat_map(|(_, list)| list.split(',').map(str::trim));
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
    extra_headers::add(headers, &others).map_err(refused)
}

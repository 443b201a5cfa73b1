//! Code that the encoders of several APIs share.

#![cfg_attr(
    not(feature = "all-apis"),
    allow(dead_code, reason = "each API uses some of these items")
)]

pub(crate) mod extra_headers;
pub(crate) mod call_ids;
pub(crate) mod refusal;
pub(crate) mod tool_names;
pub(crate) mod unique_call_ids;
pub(crate) mod claude;
pub(crate) mod closed_schema;
#[cfg(feature = "_shapes")]
pub(crate) mod body;

use std::borrow::Cow;

use crate::{error::LlmError, wire::EncodeOptions};

/// Returns an error about a request that is invalid, or that the API cannot express if the message is that of a
/// [`Refusal`](refusal::Refusal).
pub(crate) fn invalid_request(message: impl Into<Cow<'static, str>>) -> LlmError {
    refusal::error(message.into())
}

/// Returns the model to ask: the one that the request names, or else the default one.
pub(crate) fn model<'a>(requested: &'a str, options: &EncodeOptions<'a>) -> Result<&'a str, LlmError> {
    match (requested, options.model) {
        ("", "") => Err(invalid_request(
            "no model is set: set one on the request or on the provider",
        )),
        ("", default) => Ok(default),
        (requested, _) => Ok(requested),
    }
}

/// Refuses a member of `extra_body` that the request has a field for, as returned by `extra_body_clash`.
pub(crate) fn check_extra_body(clash: Option<&str>) -> Result<(), LlmError> {
    clash.map_or(Ok(()), |name| {
        let message = format!("extra_body must not contain `{name}`: set the request's field of that name instead");
        Err(invalid_request(message))
    })
}

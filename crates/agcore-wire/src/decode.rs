//! Code that the decoders of several APIs share.

#![cfg_attr(
    not(feature = "all-apis"),
    allow(
        dead_code,
        unused_macros,
        unused_imports,
        reason = "each API uses some of these items"
    )
)]

pub(crate) mod cost;
pub(crate) mod lenient;
pub(crate) mod answer;
pub(crate) mod json;
pub(crate) mod finish;
pub(crate) mod document;
pub(crate) mod body_kind;
pub(crate) mod text_template;
pub(crate) mod tool_names;
pub(crate) mod reply_decoder;
pub(crate) mod model_list;
#[cfg(feature = "_shapes")]
pub(crate) mod shape;

use serde_json::Value;

/// The UTF-8 byte order mark, which some servers put in front of a body.
pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// The maximum size of a whole reply, in bytes.
pub(crate) const MAX_REPLY_BYTES: usize = 256 << 20;

/// The number of bytes that are kept of the body of a failure; the rest is dropped.
pub(crate) const MAX_FAILURE_BYTES: usize = 1 << 20;

/// Appends bytes to the body of a failure, up to [`MAX_FAILURE_BYTES`].
pub(crate) fn extend_failure_body(body: &mut Vec<u8>, bytes: &[u8]) {
    let free = MAX_FAILURE_BYTES.saturating_sub(body.len());
    body.extend_from_slice(&bytes[..bytes.len().min(free)]);
}

/// Returns whether the data is an array whose first element is an object: Gemini, and gateways in front of it, send an
/// error like this.
pub(crate) fn is_error_list(data: &[u8]) -> bool {
    data.trim_ascii_start().starts_with(b"[")
        && serde_json::from_slice::<Vec<Value>>(data).is_ok_and(|items| items.first().is_some_and(Value::is_object))
}

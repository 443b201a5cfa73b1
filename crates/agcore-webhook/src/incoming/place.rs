//! [`DeliveryPlace`]: where a delivery has its id, or the name of its event.

use serde_json::Value;

use super::{headers::DeliveryHeaders, payload::DeliveryPayload};
use crate::error::WebhookError;

/// The longest id of a delivery, in bytes.
pub const MAX_DELIVERY_ID_BYTES: usize = 512;

/// Where a delivery has a value, such as its id.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeliveryPlace {
    /// A header.
    Header(String),
    /// A member of the body, as a JSON pointer (RFC 6901) such as `/event/id`.
    Member(String),
    /// The body itself: its SHA-256 hash is the id. Then two deliveries with the same body are the same one.
    Body,
}

impl DeliveryPlace {
    /// Returns a header.
    pub fn header(name: impl Into<String>) -> Self {
        Self::Header(name.into())
    }

    /// Returns a member of the body.
    pub fn member(pointer: impl Into<String>) -> Self {
        Self::Member(pointer.into())
    }

    pub(super) fn check(&self) -> Result<(), WebhookError> {
        match self {
            Self::Header(name) => check_header(name),
            Self::Member(pointer) if pointer.starts_with('/') => Ok(()),
            Self::Member(pointer) => Err(WebhookError::invalid(format!(
                "{pointer:?} does not name a member of the body; write a JSON pointer such as /event/id"
            ))),
            Self::Body => Ok(()),
        }
    }

    /// Returns the value, if it is a text without control characters, or a whole number.
    pub(super) fn read(&self, headers: &DeliveryHeaders<'_>, payload: &DeliveryPayload) -> Option<String> {
        let value = match self {
            Self::Header(name) => headers.get(name).ok()??.to_owned(),
            Self::Member(pointer) => match payload.pointer(pointer)? {
                Value::String(text) => text.clone(),
                Value::Number(number) if number.is_i64() || number.is_u64() => number.to_string(),
                _ => return None,
            },
            Self::Body => return None,
        };
        let is_id = !value.is_empty() && value.len() <= MAX_DELIVERY_ID_BYTES && !value.contains(char::is_control);
        is_id.then_some(value)
    }
}

/// Checks the name of a header.
pub(super) fn check_header(name: &str) -> Result<(), WebhookError> {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    match !name.is_empty() && name.len() <= 128 && name.bytes().all(is_token) {
        true => Ok(()),
        false => Err(WebhookError::invalid(format!("{name:?} is not the name of a header"))),
    }
}

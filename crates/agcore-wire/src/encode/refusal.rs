//! [`Refusal`]: a part of a request that an API cannot express.
//!
//! The errors of serde and of some encoders contain text only. What was refused therefore travels in front of the message,
//! between control characters, until [`invalid_request`](super::invalid_request) takes it out again.

use std::fmt;

use crate::error::{LlmError, LlmErrorKind, Unsupported};

/// Separates the fields. It occurs neither in names of parameters nor in values.
const SEPARATOR: char = '\u{1}';

/// A part of a request that an API cannot express. `Display` writes all fields, for the error of a serializer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Refusal<'a> {
    /// The name of the parameter.
    pub(crate) name: &'a str,
    /// The value that the API accepts and that is closest to the refused one; empty if there is none.
    pub(crate) nearest: &'a str,
    /// The message of the error.
    pub(crate) message: &'a str,
}

impl fmt::Display for Refusal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, nearest, message } = self;
        write!(f, "{SEPARATOR}{name}{SEPARATOR}{nearest}{SEPARATOR}{message}")
    }
}

impl<'a> Refusal<'a> {
    /// Reads what `Display` wrote. Returns `None` for any other message.
    fn parse(text: &'a str) -> Option<Self> {
        let mut fields = text.strip_prefix(SEPARATOR)?.splitn(3, SEPARATOR);
        Some(Self {
            name: fields.next()?,
            nearest: fields.next()?,
            message: fields.next()?,
        })
    }
}

/// Returns the error of an encoder with this message, and with what it refused if the message contains that.
pub(super) fn error(message: std::borrow::Cow<'static, str>) -> LlmError {
    let Some(refusal) = Refusal::parse(&message) else {
        return LlmError::new(LlmErrorKind::InvalidRequest, message);
    };
    let mut unsupported = Unsupported::new(refusal.name.to_owned());
    if !refusal.nearest.is_empty() {
        unsupported = unsupported.with_nearest(refusal.nearest);
    }
    LlmError::new(LlmErrorKind::InvalidRequest, refusal.message.to_owned()).with_unsupported(unsupported)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_survives_the_error_of_a_serializer() {
        let refusal = Refusal {
            name: "temperature",
            nearest: "1",
            message: "too hot: use 1",
        };
        let serialized = <serde_json::Error as serde::ser::Error>::custom(refusal);
        let found = error(serialized.to_string().into());
        assert_eq!(found.message(), "too hot: use 1");
        let unsupported = found.unsupported().unwrap();
        assert_eq!((unsupported.name(), unsupported.nearest()), ("temperature", Some("1")));
    }

    #[test]
    fn other_messages_are_no_refusals() {
        for message in ["", "no model is set", "\u{1}a\u{1}b"] {
            let found = error(message.into());
            assert_eq!((found.message(), found.unsupported()), (message, None));
        }
    }
}

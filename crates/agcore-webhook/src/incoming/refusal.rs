//! [`DeliveryRefusal`]: why a delivery is not accepted.

use std::{error::Error, fmt};

/// The reason why a delivery is not accepted. It contains nothing of the delivery and no secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DeliveryRefusal {
    /// A header that the scheme needs is missing.
    MissingHeader,
    /// A header is there twice, so that it is not known which one counts.
    RepeatedHeader,
    /// A header does not have the form that the scheme defines.
    MalformedHeader,
    /// The time of the delivery is too far from now: it is a replay, or a clock is wrong.
    WrongTime,
    /// No secret has made the signature, or the secret is another one.
    WrongSignature,
}

impl DeliveryRefusal {
    /// Returns the name of the reason in logs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::MissingHeader => "missing_header",
            Self::RepeatedHeader => "repeated_header",
            Self::MalformedHeader => "malformed_header",
            Self::WrongTime => "wrong_time",
            Self::WrongSignature => "wrong_signature",
        }
    }
}

impl fmt::Display for DeliveryRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MissingHeader => f.write_str(
                "the delivery lacks a header of the signature; check the scheme and the secret of the sender",
            ),
            Self::RepeatedHeader => f.write_str("a header of the signature is there twice; send it once"),
            Self::MalformedHeader => {
                f.write_str("a header of the signature has another form; check the scheme of the sender")
            }
            Self::WrongTime => {
                f.write_str("the time of the delivery is too far from now; check the clocks of both machines")
            }
            Self::WrongSignature => {
                f.write_str("the signature of the delivery is wrong; check that both sides have the same secret")
            }
        }
    }
}

impl Error for DeliveryRefusal {}

//! [`DeliveryScheme`]: how the sender of a delivery proves who it is.

use base64::{
    Engine, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};

use super::{
    place::{DeliveryPlace, check_header},
    secret::DeliverySecret,
};
use crate::{error::WebhookError, secret::SigningSecret};

/// Reads codes with and without padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The proof with which the sender of a delivery shows who it is. There is no scheme without a secret.
///
/// The schemes of vendors follow their public documentation:
///
/// | scheme | signed | documentation |
/// |---|---|---|
/// | [`StandardWebhooks`](Self::StandardWebhooks) | id, time and body | <https://www.standardwebhooks.com/> |
/// | [`GitHub`](Self::GitHub) | body | <https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries> |
/// | [`Stripe`](Self::Stripe) | time and body | <https://docs.stripe.com/webhooks/signature> |
/// | [`Slack`](Self::Slack) | time and body | <https://api.slack.com/authentication/verifying-requests-from-slack> |
/// | [`Hmac`](Self::Hmac) | body | that of the sender |
/// | [`Bearer`](Self::Bearer), [`Header`](Self::Header) | nothing: the secret itself is sent | that of the sender |
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeliveryScheme {
    /// The headers `webhook-id`, `webhook-timestamp` and `webhook-signature`. The secret is `whsec_` and a key in Base64. The
    /// messages of this crate are signed like this.
    StandardWebhooks,
    /// The header `X-Hub-Signature-256`, with the id in `X-GitHub-Delivery`.
    GitHub,
    /// The header `Stripe-Signature`, with the id in the member `id`.
    Stripe,
    /// The headers `X-Slack-Signature` and `X-Slack-Request-Timestamp`, with the id in the member `event_id`. Requests without
    /// one, such as slash commands, have the hash of their body as the id, which contains a trigger that is never used twice.
    Slack,
    /// An HMAC-SHA-256 code of the body in a header.
    Hmac(HmacScheme),
    /// The secret in the header `Authorization`, after `Bearer`.
    Bearer,
    /// The secret in this header.
    Header(String),
}

/// An HMAC-SHA-256 code of the body in a header, such as `X-Shopify-Hmac-Sha256`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HmacScheme {
    pub(super) header: String,
    pub(super) prefix: String,
    pub(super) encoding: CodeEncoding,
}

/// The form of a code as text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CodeEncoding {
    /// Hexadecimal digits.
    #[default]
    Hex,
    /// Base64 of the standard alphabet, with or without padding.
    Base64,
}

impl HmacScheme {
    /// Creates a scheme with hexadecimal digits in a header.
    pub fn new(header: impl Into<String>) -> Self {
        Self {
            header: header.into(),
            prefix: String::new(),
            encoding: CodeEncoding::Hex,
        }
    }

    /// Sets the text before the code, such as `sha256=`.
    #[must_use]
    pub fn with_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// Sets the form of the code.
    #[must_use]
    pub fn with_encoding(mut self, encoding: CodeEncoding) -> Self {
        self.encoding = encoding;
        self
    }
}

impl DeliveryScheme {
    /// Returns the name in settings, such as `github`.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::StandardWebhooks => "standard-webhooks",
            Self::GitHub => "github",
            Self::Stripe => "stripe",
            Self::Slack => "slack",
            Self::Hmac(_) => "hmac-sha256",
            Self::Bearer => "bearer",
            Self::Header(_) => "header",
        }
    }

    /// Returns where the vendor has the id of a delivery, the best place first.
    pub(super) fn delivery_places(&self) -> Vec<DeliveryPlace> {
        match self {
            Self::StandardWebhooks => vec![DeliveryPlace::header("webhook-id")],
            Self::GitHub => vec![DeliveryPlace::header("X-GitHub-Delivery")],
            Self::Stripe => vec![DeliveryPlace::member("/id")],
            Self::Slack => vec![DeliveryPlace::member("/event_id"), DeliveryPlace::Body],
            Self::Hmac(_) | Self::Bearer | Self::Header(_) => Vec::new(),
        }
    }

    /// Returns where the vendor has the name of the event.
    pub(super) fn event_place(&self) -> Option<DeliveryPlace> {
        match self {
            Self::GitHub => Some(DeliveryPlace::header("X-GitHub-Event")),
            Self::StandardWebhooks | Self::Stripe => Some(DeliveryPlace::member("/type")),
            _ => None,
        }
    }

    pub(super) fn check(&self) -> Result<(), WebhookError> {
        match self {
            Self::Hmac(scheme) => check_header(&scheme.header),
            Self::Header(name) => check_header(name),
            _ => Ok(()),
        }
    }

    pub(super) fn check_secret(&self, secret: &DeliverySecret) -> Result<(), WebhookError> {
        let text = secret.expose();
        match self {
            Self::StandardWebhooks => SigningSecret::parse(text).map(drop),
            Self::Bearer | Self::Header(_) if !text.bytes().all(|byte| byte.is_ascii_graphic()) => Err(
                WebhookError::invalid("the secret is sent in a header, so it must be plain ASCII without spaces"),
            ),
            _ => Ok(()),
        }
    }
}

impl CodeEncoding {
    /// Returns the code that a text has.
    pub(super) fn decode(self, text: &str) -> Option<Vec<u8>> {
        match self {
            Self::Base64 => BASE64.decode(text).ok(),
            Self::Hex => unhex(text),
        }
    }

    pub(super) fn encode(self, code: &[u8]) -> String {
        match self {
            Self::Base64 => BASE64.encode(code),
            Self::Hex => hex(code),
        }
    }
}

/// Returns bytes as hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| u8::try_from(char::from(byte).to_digit(16)?).ok();
    let pairs = text.as_bytes().chunks(2);
    pairs
        .map(|pair| match pair {
            [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
            _ => None,
        })
        .collect()
}

//! [`SigningSecret`]: the key with which messages are signed.

use std::fmt;

use agcore_chat::Timestamp;
use base64::{Engine, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use crate::error::WebhookError;

/// The allowed lengths of a key in bytes, from [Standard Webhooks](https://www.standardwebhooks.com/).
const LENGTHS: std::ops::RangeInclusive<usize> = 24..=64;

/// The beginning of a secret as text.
const PREFIX: &str = "whsec_";

/// The time by which the clocks of sender and receiver may differ, in seconds.
pub const TOLERANCE_SECONDS: i64 = 300;

/// The key with which the messages of a webhook are signed, as [Standard Webhooks](https://www.standardwebhooks.com/) does it:
/// HMAC-SHA-256 over the id, the time and the body. As text, it is `whsec_` and the key in Base64.
///
/// [`Debug`](fmt::Debug) hides the key. [`Serialize`] does not: it is for stores.
///
/// ```
/// use agcore_webhook::SigningSecret;
///
/// let secret = SigningSecret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")?;
/// let at = "2021-02-25T15:47:33Z".parse()?;
/// let signature = secret.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", at, r#"{"test": 2432232314}"#);
/// assert!(signature.starts_with("v1,"));
/// assert_eq!(format!("{secret:?}"), "SigningSecret(***)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct SigningSecret(Vec<u8>);

impl SigningSecret {
    /// Creates a secret from 24 to 64 random bytes.
    ///
    /// # Errors
    /// [`InvalidInput`](crate::WebhookErrorKind::InvalidInput) if there are fewer or more.
    pub fn new(key: impl Into<Vec<u8>>) -> Result<Self, WebhookError> {
        let key = key.into();
        match LENGTHS.contains(&key.len()) {
            true => Ok(Self(key)),
            false => Err(WebhookError::invalid(format!(
                "the key of the webhook has {} bytes; from {} to {} are allowed",
                key.len(),
                LENGTHS.start(),
                LENGTHS.end()
            ))),
        }
    }

    /// Reads a secret in its form as text.
    ///
    /// # Errors
    /// [`InvalidInput`](crate::WebhookErrorKind::InvalidInput) if it does not have this form.
    pub fn parse(text: &str) -> Result<Self, WebhookError> {
        let invalid = || WebhookError::invalid(format!("the secret must be `{PREFIX}` and a key in Base64"));
        let key = text.trim().strip_prefix(PREFIX).ok_or_else(invalid)?;
        Self::new(STANDARD.decode(key).map_err(|_| invalid())?)
    }

    /// Returns the secret as text, for the person who has to enter it at the receiver.
    pub fn expose(&self) -> String {
        format!("{PREFIX}{}", STANDARD.encode(&self.0))
    }

    /// Returns the signature of a message: `v1,` and the code in Base64.
    pub fn sign(&self, id: &str, at: Timestamp, body: &str) -> String {
        self.sign_bytes(id, at, body.as_bytes())
    }

    /// Returns the signature of a message that may be no text.
    pub(crate) fn sign_bytes(&self, id: &str, at: Timestamp, body: &[u8]) -> String {
        let code = self.code(id, at.as_millis().div_euclid(1000), body);
        format!("v1,{}", STANDARD.encode(code.finalize().into_bytes()))
    }

    /// Checks a message that was received: its headers `webhook-id`, `webhook-timestamp` and `webhook-signature`, which may have
    /// several signatures, and its body. The comparison takes the same time for every wrong signature.
    ///
    /// # Errors
    /// [`InvalidInput`](crate::WebhookErrorKind::InvalidInput) if no signature is right, or the time differs from `now` by more
    /// than [`TOLERANCE_SECONDS`].
    pub fn verify(
        &self,
        (id, timestamp, signatures): (&str, &str, &str),
        body: &[u8],
        now: Timestamp,
    ) -> Result<(), WebhookError> {
        let seconds: i64 = timestamp
            .parse()
            .map_err(|_| WebhookError::invalid("the header `webhook-timestamp` is not a number of seconds"))?;
        if now.as_millis().div_euclid(1000).abs_diff(seconds) > TOLERANCE_SECONDS.unsigned_abs() {
            return Err(WebhookError::invalid(
                "the time of the message is too far from now; check the clocks of both machines",
            ));
        }
        let code = self.code(id, seconds, body);
        let is_right = |signature: &str| {
            let code_of = signature
                .strip_prefix("v1,")
                .and_then(|code| STANDARD.decode(code).ok());
            code_of.is_some_and(|wanted| code.clone().verify_slice(&wanted).is_ok())
        };
        match signatures.split_ascii_whitespace().any(is_right) {
            true => Ok(()),
            false => Err(WebhookError::invalid(
                "the signature of the message is wrong; check that both sides have the same secret",
            )),
        }
    }

    fn code(&self, id: &str, seconds: i64, body: &[u8]) -> Hmac<Sha256> {
        #[expect(clippy::unwrap_used, reason = "HMAC takes keys of any length")]
        let mut code = Hmac::<Sha256>::new_from_slice(&self.0).unwrap();
        code.update(format!("{id}.{seconds}.").as_bytes());
        code.update(body);
        code
    }
}

/// Hides the key.
impl fmt::Debug for SigningSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SigningSecret(***)")
    }
}

impl From<SigningSecret> for String {
    fn from(secret: SigningSecret) -> Self {
        secret.expose()
    }
}

impl TryFrom<String> for SigningSecret {
    type Error = WebhookError;

    fn try_from(text: String) -> Result<Self, WebhookError> {
        Self::parse(&text)
    }
}

//! [`DeliverySecret`]: the secret that the sender of deliveries shares with their receiver.

use std::fmt;

use crate::error::WebhookError;

/// The shortest secret, in bytes. With a shorter one, the secret of a delivery that was recorded can be guessed.
pub const MIN_SECRET_BYTES: usize = 16;

/// The longest secret, in bytes.
const MAX_SECRET_BYTES: usize = 1024;

/// A secret that the sender of deliveries shares with their receiver. [`Debug`](fmt::Debug) hides it.
///
/// ```
/// use agcore_webhook::DeliverySecret;
///
/// let secret = DeliverySecret::new("a secret of the sender\n")?;
/// assert_eq!(format!("{secret:?}"), "DeliverySecret(***)");
/// assert!(DeliverySecret::new("short").is_err());
/// # Ok::<(), agcore_webhook::WebhookError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct DeliverySecret(String);

impl DeliverySecret {
    /// Creates a secret as the sender shows it. Spaces and line breaks around it are removed.
    ///
    /// # Errors
    /// [`InvalidInput`](crate::WebhookErrorKind::InvalidInput) if it is empty or has fewer than [`MIN_SECRET_BYTES`].
    pub fn new(text: impl AsRef<str>) -> Result<Self, WebhookError> {
        let text = text.as_ref().trim();
        match text.len() {
            0 => Err(WebhookError::invalid("the secret is empty")),
            length @ 1..MIN_SECRET_BYTES => Err(WebhookError::invalid(format!(
                "the secret has {length} bytes; at least {MIN_SECRET_BYTES} are needed, so that it cannot be guessed"
            ))),
            MIN_SECRET_BYTES..=MAX_SECRET_BYTES => Ok(Self(text.to_owned())),
            length => Err(WebhookError::invalid(format!(
                "the secret has {length} bytes; at most {MAX_SECRET_BYTES} are allowed"
            ))),
        }
    }

    pub(super) fn expose(&self) -> &str {
        &self.0
    }
}

/// Hides the secret.
impl fmt::Debug for DeliverySecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DeliverySecret(***)")
    }
}

//! [`DeliveryCheck`]: checks deliveries that other programs send, before anything in them is believed.

mod refusal;
mod headers;
mod secret;
mod place;
mod payload;
mod scheme;
mod signature;
mod signing;

use agcore_chat::Timestamp;
use sha2::{Digest, Sha256};

pub use self::{
    headers::DeliveryHeaders,
    payload::{DeliveryPayload, MAX_FORM_FIELDS, PayloadError},
    place::{DeliveryPlace, MAX_DELIVERY_ID_BYTES},
    refusal::DeliveryRefusal,
    scheme::{CodeEncoding, DeliveryScheme, HmacScheme},
    secret::{DeliverySecret, MIN_SECRET_BYTES},
};
use crate::error::WebhookError;

/// The longest challenge that is answered, in bytes.
const MAX_CHALLENGE_BYTES: usize = 1024;

/// The longest name of an event, in bytes.
const MAX_EVENT_BYTES: usize = 128;

/// Checks deliveries: by a [scheme](DeliveryScheme), with the secrets that the sender has. It also knows where a delivery has its
/// id and the name of its event.
///
/// Several secrets are for the time in which one replaces another: each of them is accepted. The comparison with a wrong
/// signature takes the same time, wherever it differs.
///
/// ```
/// use agcore_webhook::{DeliveryCheck, DeliveryHeaders, DeliveryRefusal, DeliveryScheme, DeliverySecret};
///
/// // The example of GitHub's documentation.
/// let secret = DeliverySecret::new("It's a Secret to Everybody")?;
/// let check = DeliveryCheck::new(DeliveryScheme::GitHub, [secret])?;
/// let code = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
/// let signature = format!("sha256={code}");
/// let headers: DeliveryHeaders = [("X-Hub-Signature-256", signature.as_bytes())].into_iter().collect();
/// let now = "2026-07-03T12:00:00Z".parse()?;
/// assert_eq!(check.verify(&headers, b"Hello, World!", now), Ok(()));
/// assert_eq!(check.verify(&headers, b"Hello, Eve!", now), Err(DeliveryRefusal::WrongSignature));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct DeliveryCheck {
    scheme: DeliveryScheme,
    secrets: Vec<DeliverySecret>,
    delivery: Vec<DeliveryPlace>,
    event: Option<DeliveryPlace>,
}

/// A request by which a sender finds out whether the receiver is there. It reports no event.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Handshake {
    /// GitHub has created a webhook, and sends the event `ping`.
    Ping,
    /// Slack wants this text back, when a URL is entered (`url_verification`).
    Challenge(String),
}

impl DeliveryCheck {
    /// Creates a check.
    ///
    /// # Errors
    /// [`InvalidInput`](crate::WebhookErrorKind::InvalidInput) if there is no secret, one does not have the form that the scheme
    /// needs, or a header does not have the form of one.
    pub fn new(
        scheme: DeliveryScheme,
        secrets: impl IntoIterator<Item = DeliverySecret>,
    ) -> Result<Self, WebhookError> {
        let secrets: Vec<_> = secrets.into_iter().collect();
        if secrets.is_empty() {
            return Err(WebhookError::invalid(
                "there is no secret; deliveries that nothing proves are not accepted",
            ));
        }
        scheme.check()?;
        for secret in &secrets {
            scheme.check_secret(secret)?;
        }
        Ok(Self {
            delivery: scheme.delivery_places(),
            event: scheme.event_place(),
            scheme,
            secrets,
        })
    }

    /// Sets where the id of a delivery is. Schemes of vendors know it; others need it.
    ///
    /// Ids in headers are not part of most signatures: a stranger who has recorded a delivery can send it again under another id.
    /// Only `webhook-id`, members of the body and [`Body`](DeliveryPlace::Body) are signed.
    ///
    /// # Errors
    /// [`InvalidInput`](crate::WebhookErrorKind::InvalidInput) if it is neither a header nor a JSON pointer.
    pub fn with_delivery_id(mut self, place: DeliveryPlace) -> Result<Self, WebhookError> {
        place.check()?;
        self.delivery = vec![place];
        Ok(self)
    }

    /// Sets where the name of the event is. Schemes of vendors know it.
    ///
    /// # Errors
    /// [`InvalidInput`](crate::WebhookErrorKind::InvalidInput) if it is neither a header nor a JSON pointer.
    pub fn with_event(mut self, place: DeliveryPlace) -> Result<Self, WebhookError> {
        place.check()?;
        if place == DeliveryPlace::Body {
            return Err(WebhookError::invalid(
                "the name of an event is in a header or a member of the body; name one of them",
            ));
        }
        self.event = Some(place);
        Ok(self)
    }

    /// Returns the scheme.
    pub fn scheme(&self) -> &DeliveryScheme {
        &self.scheme
    }

    /// Returns whether deliveries have an id that the check knows to find.
    pub fn has_delivery_id(&self) -> bool {
        !self.delivery.is_empty()
    }

    /// Checks that a sender who has one of the secrets has sent a body. Nothing of the body is to be read before.
    ///
    /// If the scheme signs the time, a delivery whose time differs from `now` by more than
    /// [`TOLERANCE_SECONDS`](crate::TOLERANCE_SECONDS) is refused.
    ///
    /// # Errors
    /// The reason. It is for the log of the receiver: senders should not learn it.
    pub fn verify(&self, headers: &DeliveryHeaders<'_>, body: &[u8], now: Timestamp) -> Result<(), DeliveryRefusal> {
        signature::verify(&self.scheme, &self.secrets, (headers, body), now)
    }

    /// Returns the headers with which the first secret proves a body, for tests of receivers. An id in a member of the body is
    /// that of the body; otherwise the headers have `id`.
    pub fn sign(&self, id: &str, body: &[u8], now: Timestamp) -> Vec<(String, String)> {
        let mut headers = match self.secrets.first() {
            Some(secret) => signing::headers(&self.scheme, secret, (id, body), now),
            None => Vec::new(),
        };
        if let Some(DeliveryPlace::Header(name)) = self.delivery.first()
            && !headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name))
        {
            headers.push((name.clone(), id.to_owned()));
        }
        headers
    }

    /// Returns the id of a delivery, which is the same for every attempt of its sender; `None` if it has none.
    pub fn delivery_id(&self, headers: &DeliveryHeaders<'_>, payload: &DeliveryPayload, body: &[u8]) -> Option<String> {
        self.delivery.iter().find_map(|place| match place {
            DeliveryPlace::Body => Some(body_hash(body)),
            place => place.read(headers, payload),
        })
    }

    /// Returns the name of the event, such as `issues.opened` or `charge.succeeded`; `None` if there is none, or it does not
    /// consist of letters, digits and `_ - . : /`. That of GitHub is the header `X-GitHub-Event`, with the member `action`.
    pub fn event(&self, headers: &DeliveryHeaders<'_>, payload: &DeliveryPayload) -> Option<String> {
        let mut name = match (&self.event, &self.scheme) {
            (Some(place), _) => place.read(headers, payload)?,
            (None, DeliveryScheme::Slack) => {
                let name = payload.text("/event/type").or_else(|| payload.text("/type"));
                name?.to_owned()
            }
            (None, _) => return None,
        };
        if self.scheme == DeliveryScheme::GitHub
            && let Some(action) = payload.text("/action")
        {
            name = format!("{name}.{action}");
        }
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.:/".contains(&byte);
        (!name.is_empty() && name.len() <= MAX_EVENT_BYTES && name.bytes().all(is_plain)).then_some(name)
    }

    /// Returns what a sender wants to hear who only finds out whether the receiver is there; `None` if the delivery is an event.
    pub fn handshake(&self, headers: &DeliveryHeaders<'_>, payload: &DeliveryPayload) -> Option<Handshake> {
        match self.scheme {
            DeliveryScheme::GitHub => {
                let event = headers.get("x-github-event").ok().flatten();
                (event == Some("ping")).then_some(Handshake::Ping)
            }
            DeliveryScheme::Slack => {
                let is_challenge = payload.text("/type") == Some("url_verification");
                let challenge = payload.text("/challenge");
                let challenge = challenge.filter(|text| is_challenge && text.len() <= MAX_CHALLENGE_BYTES);
                challenge.map(|text| Handshake::Challenge(text.to_owned()))
            }
            _ => None,
        }
    }
}

/// Returns the SHA-256 hash of a body in hexadecimal digits.
fn body_hash(body: &[u8]) -> String {
    scheme::hex(&Sha256::digest(body))
}

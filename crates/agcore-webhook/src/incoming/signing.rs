//! [`headers`]: the headers of a sender, for tests of receivers.

use agcore_chat::Timestamp;
use hmac::Mac;

use super::{
    scheme::{CodeEncoding, DeliveryScheme, HmacScheme, hex},
    secret::DeliverySecret,
    signature::{code, github},
};
use crate::secret::SigningSecret;

/// Returns the headers with which a secret proves a body with an id at a time.
pub(super) fn headers(
    scheme: &DeliveryScheme,
    secret: &DeliverySecret,
    (id, body): (&str, &[u8]),
    now: Timestamp,
) -> Vec<(String, String)> {
    let seconds = now.as_millis().div_euclid(1000).to_string();
    let header = |name: &str, value: String| (name.to_owned(), value);
    let code_of = |parts: &[&[u8]]| code(secret.expose().as_bytes(), parts).finalize().into_bytes();
    match scheme {
        DeliveryScheme::StandardWebhooks => {
            let key = SigningSecret::parse(secret.expose());
            let signature = key.map(|key| key.sign_bytes(id, now, body)).unwrap_or_default();
            vec![
                header("webhook-id", id.to_owned()),
                header("webhook-timestamp", seconds),
                header("webhook-signature", signature),
            ]
        }
        DeliveryScheme::GitHub => vec![signed(&github(), &code_of(&[body]))],
        DeliveryScheme::Hmac(scheme) => vec![signed(scheme, &code_of(&[body]))],
        DeliveryScheme::Stripe => {
            let code = hex(&code_of(&[seconds.as_bytes(), b".", body]));
            vec![header("Stripe-Signature", format!("t={seconds},v1={code}"))]
        }
        DeliveryScheme::Slack => {
            let code = CodeEncoding::Hex.encode(&code_of(&[b"v0:", seconds.as_bytes(), b":", body]));
            vec![
                header("X-Slack-Request-Timestamp", seconds),
                header("X-Slack-Signature", format!("v0={code}")),
            ]
        }
        DeliveryScheme::Bearer => vec![header("Authorization", format!("Bearer {}", secret.expose()))],
        DeliveryScheme::Header(name) => vec![header(name, secret.expose().to_owned())],
    }
}

fn signed(scheme: &HmacScheme, code: &[u8]) -> (String, String) {
    let value = format!("{}{}", scheme.prefix, scheme.encoding.encode(code));
    (scheme.header.clone(), value)
}

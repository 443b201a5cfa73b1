//! [`verify`]: the comparison of a delivery with the secrets.

use agcore_chat::Timestamp;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::{
    headers::DeliveryHeaders,
    refusal::DeliveryRefusal as Refusal,
    scheme::{CodeEncoding, DeliveryScheme, HmacScheme},
    secret::DeliverySecret,
};
use crate::secret::{SigningSecret, TOLERANCE_SECONDS};

/// The largest number of signatures of a delivery. Senders have one, or two while a secret is replaced.
const MAX_SIGNATURES: usize = 16;

/// The headers and the body of a delivery.
type Delivery<'a> = (&'a DeliveryHeaders<'a>, &'a [u8]);

/// Checks that a sender who has one of the secrets has sent a delivery.
pub(super) fn verify(
    scheme: &DeliveryScheme,
    secrets: &[DeliverySecret],
    (headers, body): Delivery<'_>,
    now: Timestamp,
) -> Result<(), Refusal> {
    match scheme {
        DeliveryScheme::StandardWebhooks => standard(secrets, (headers, body), now),
        DeliveryScheme::GitHub => {
            let signature = headers.required("x-hub-signature-256")?;
            one(secrets, &github(), signature, body)
        }
        DeliveryScheme::Hmac(scheme) => {
            let signature = headers.required(&scheme.header)?;
            one(secrets, scheme, signature, body)
        }
        DeliveryScheme::Stripe => stripe(secrets, (headers, body), now),
        DeliveryScheme::Slack => slack(secrets, (headers, body), now),
        DeliveryScheme::Bearer => {
            let given = headers.required("authorization")?;
            let given = given
                .split_once(' ')
                .filter(|(kind, _)| kind.eq_ignore_ascii_case("bearer"));
            let (_, given) = given.ok_or(Refusal::MalformedHeader)?;
            same(secrets, given.trim())
        }
        DeliveryScheme::Header(name) => same(secrets, headers.required(name)?),
    }
}

/// Returns the form of the signatures of GitHub.
pub(super) fn github() -> HmacScheme {
    HmacScheme::new("X-Hub-Signature-256").with_prefix("sha256=")
}

/// Returns the code of a secret for parts of a message.
pub(super) fn code(secret: &[u8], parts: &[&[u8]]) -> Hmac<Sha256> {
    #[expect(clippy::unwrap_used, reason = "HMAC takes keys of any length")]
    let mut code = Hmac::<Sha256>::new_from_slice(secret).unwrap();
    parts.iter().for_each(|part| code.update(part));
    code
}

/// Checks codes against those of all secrets. The comparison takes the same time, wherever a code differs.
fn any_code(secrets: &[DeliverySecret], codes: &[Vec<u8>], parts: &[&[u8]]) -> Result<(), Refusal> {
    let is_right = |secret: &DeliverySecret| {
        let expected = code(secret.expose().as_bytes(), parts);
        codes.iter().any(|given| expected.clone().verify_slice(given).is_ok())
    };
    match secrets.iter().any(is_right) {
        true => Ok(()),
        false => Err(Refusal::WrongSignature),
    }
}

/// Checks a header with one code of the body.
fn one(secrets: &[DeliverySecret], scheme: &HmacScheme, signature: &str, body: &[u8]) -> Result<(), Refusal> {
    let given = signature.strip_prefix(&*scheme.prefix);
    let given = given.and_then(|given| scheme.encoding.decode(given));
    any_code(secrets, &[given.ok_or(Refusal::MalformedHeader)?], &[body])
}

/// Checks that the time of a delivery is near. The signature is over the text of the header, and not over the number.
fn check_time(timestamp: &str, now: Timestamp) -> Result<(), Refusal> {
    let is_number = !timestamp.is_empty() && timestamp.bytes().all(|byte| byte.is_ascii_digit());
    let seconds = timestamp.parse::<i64>().ok().filter(|_| is_number);
    let seconds = seconds.ok_or(Refusal::MalformedHeader)?;
    match now.as_millis().div_euclid(1000).abs_diff(seconds) <= TOLERANCE_SECONDS.unsigned_abs() {
        true => Ok(()),
        false => Err(Refusal::WrongTime),
    }
}

/// Checks the headers of Standard Webhooks.
fn standard(secrets: &[DeliverySecret], (headers, body): Delivery<'_>, now: Timestamp) -> Result<(), Refusal> {
    let id = headers.required("webhook-id")?;
    let timestamp = headers.required("webhook-timestamp")?;
    let signatures = headers.required("webhook-signature")?;
    check_time(timestamp, now)?;
    if signatures.split_ascii_whitespace().count() > MAX_SIGNATURES {
        return Err(Refusal::MalformedHeader);
    }
    let is_right = |secret: &DeliverySecret| {
        let secret = SigningSecret::parse(secret.expose());
        secret.is_ok_and(|secret| secret.verify((id, timestamp, signatures), body, now).is_ok())
    };
    match secrets.iter().any(is_right) {
        true => Ok(()),
        false => Err(Refusal::WrongSignature),
    }
}

/// Checks the header `Stripe-Signature`: `t=1492774577,v1=…,v1=…,v0=…`, whose codes are those of the time, a dot and the body.
fn stripe(secrets: &[DeliverySecret], (headers, body): Delivery<'_>, now: Timestamp) -> Result<(), Refusal> {
    let header = headers.required("stripe-signature")?;
    let (mut timestamp, mut codes) = (None, Vec::new());
    for part in header.split(',') {
        match part.trim().split_once('=') {
            Some(("t", _)) if timestamp.is_some() => return Err(Refusal::MalformedHeader),
            Some(("t", value)) => timestamp = Some(value),
            Some(("v1", _)) if codes.len() == MAX_SIGNATURES => return Err(Refusal::MalformedHeader),
            Some(("v1", value)) => codes.extend(CodeEncoding::Hex.decode(value)),
            // Of other versions.
            _ => {}
        }
    }
    let timestamp = timestamp.ok_or(Refusal::MalformedHeader)?;
    check_time(timestamp, now)?;
    any_code(secrets, &codes, &[timestamp.as_bytes(), b".", body])
}

/// Checks the headers of Slack, whose code is that of `v0:`, the time, a colon and the body.
fn slack(secrets: &[DeliverySecret], (headers, body): Delivery<'_>, now: Timestamp) -> Result<(), Refusal> {
    let timestamp = headers.required("x-slack-request-timestamp")?;
    let signature = headers.required("x-slack-signature")?;
    check_time(timestamp, now)?;
    let given = signature.strip_prefix("v0=");
    let given = given.and_then(|given| CodeEncoding::Hex.decode(given));
    let given = given.ok_or(Refusal::MalformedHeader)?;
    any_code(secrets, &[given], &[b"v0:", timestamp.as_bytes(), b":", body])
}

/// Compares a secret that was sent. Codes of both are compared, so that the time shows nothing about the secret or its length.
fn same(secrets: &[DeliverySecret], given: &str) -> Result<(), Refusal> {
    let key = b"agcore compares secrets";
    let given = code(key, &[given.as_bytes()]).finalize().into_bytes();
    let is_it = |secret: &DeliverySecret| code(key, &[secret.expose().as_bytes()]).verify_slice(&given).is_ok();
    // Each is compared, so that the time does not distinguish them.
    match secrets.iter().fold(false, |known, secret| known | is_it(secret)) {
        true => Ok(()),
        false => Err(Refusal::WrongSignature),
    }
}

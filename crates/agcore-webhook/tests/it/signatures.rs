//! Signing messages and checking signatures.

use std::time::Duration;

use agcore_webhook::{NewWebhook, SigningSecret, TOLERANCE_SECONDS, Timestamp, WebhookChange, WebhookErrorKind};
use proptest::prelude::*;

use super::{secret, time};

/// The example of Standard Webhooks.
const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const ID: &str = "msg_p5jXN8AQM9LWM0D4loKWxJek";
const SECONDS: i64 = 1_614_265_330;
const BODY: &str = r#"{"test": 2432232314}"#;
const SIGNATURE: &str = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";

fn known() -> SigningSecret {
    SigningSecret::parse(SECRET).unwrap()
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(seconds * 1000)
}

/// Returns whether the known secret accepts a message that arrives at a time.
fn accepts((id, timestamp, signatures): (&str, &str, &str), body: &str, seconds: i64) -> bool {
    let checked = known().verify((id, timestamp, signatures), body.as_bytes(), at(seconds));
    if let Err(error) = &checked {
        assert_eq!(error.kind(), WebhookErrorKind::InvalidInput);
        assert!(!format!("{error:?}").contains("MfKQ9r8G"), "{error:?}");
    }
    checked.is_ok()
}

#[test]
fn the_known_message_has_the_known_signature() {
    assert_eq!(known().sign(ID, at(SECONDS), BODY), SIGNATURE);
    // Milliseconds do not count.
    let later = Timestamp::from_millis(SECONDS * 1000 + 999);
    assert_eq!(known().sign(ID, later, BODY), SIGNATURE);
    assert!(accepts((ID, &SECONDS.to_string(), SIGNATURE), BODY, SECONDS));
}

#[test]
fn one_right_signature_of_several_is_enough() {
    let timestamp = SECONDS.to_string();
    let other = secret(1).sign(ID, at(SECONDS), BODY);
    for signatures in [
        format!("{other} {SIGNATURE}"),
        format!("{SIGNATURE} {other}"),
        format!("v1a,AAAA v2,{SIGNATURE} v1, v1,% {SIGNATURE}"),
    ] {
        assert!(accepts((ID, &timestamp, &signatures), BODY, SECONDS), "{signatures}");
    }
    let short = &SIGNATURE[..SIGNATURE.len() - 4];
    for signatures in [
        "",
        " ",
        "v1",
        "v1,",
        "v1,%",
        &other,
        &SIGNATURE[3..],
        short,
        &SIGNATURE.replace("v1", "v2"),
    ] {
        assert!(!accepts((ID, &timestamp, signatures), BODY, SECONDS), "{signatures}");
    }
}

#[test]
fn a_message_that_was_changed_is_refused() {
    let timestamp = SECONDS.to_string();
    assert!(!accepts(
        (ID, &timestamp, SIGNATURE),
        r#"{"test": 2432232315}"#,
        SECONDS
    ));
    assert!(!accepts((ID, &timestamp, SIGNATURE), "", SECONDS));
    assert!(!accepts(("msg_other", &timestamp, SIGNATURE), BODY, SECONDS));
    let later = (SECONDS + 1).to_string();
    assert!(!accepts((ID, &later, SIGNATURE), BODY, SECONDS));
}

#[test]
fn a_message_that_is_too_old_or_too_new_is_refused() {
    let timestamp = SECONDS.to_string();
    for (difference, is_accepted) in [
        (TOLERANCE_SECONDS, true),
        (-TOLERANCE_SECONDS, true),
        (TOLERANCE_SECONDS + 1, false),
        (-TOLERANCE_SECONDS - 1, false),
    ] {
        let accepted = accepts((ID, &timestamp, SIGNATURE), BODY, SECONDS + difference);
        assert_eq!(accepted, is_accepted, "{difference}");
    }
    for timestamp in ["", "now", "1614265330.0", "1e9", &i64::MIN.to_string(), &"9".repeat(30)] {
        assert!(!accepts((ID, timestamp, SIGNATURE), BODY, SECONDS), "{timestamp}");
    }
}

#[test]
fn while_a_secret_is_replaced_both_are_accepted() {
    let now = time("2026-07-03T12:00:00Z");
    let old = NewWebhook::new("w", "https://example.com/", secret(1))
        .store(now)
        .unwrap();
    let change = WebhookChange::new().with_secret(secret(2), Duration::from_secs(3600));
    let new = change.apply(&old, now).unwrap();
    let accepted = |seconds: u64| {
        let at = now.after(Duration::from_secs(seconds));
        let signatures = new.signatures(ID, at, BODY);
        let timestamp = (at.as_millis() / 1000).to_string();
        let is_accepted = |byte| {
            secret(byte)
                .verify((ID, &timestamp, &signatures), BODY.as_bytes(), at)
                .is_ok()
        };
        [1, 2, 3].map(is_accepted)
    };
    assert_eq!(accepted(0), [true, true, false]);
    assert_eq!(accepted(3599), [true, true, false]);
    assert_eq!(accepted(3600), [false, true, false]);
    // The one before ends when another one is replaced.
    let change = WebhookChange::new().with_secret(secret(3), Duration::MAX);
    let newest = change.apply(&new, now).unwrap();
    assert_eq!(newest.signatures(ID, now, BODY).split(' ').count(), 2);
    let change = WebhookChange::new().with_secret(secret(4), Duration::ZERO);
    let at_once = change.apply(&newest, now).unwrap();
    assert_eq!(at_once.signatures(ID, now, BODY), secret(4).sign(ID, now, BODY));
}

#[test]
fn secrets_are_hidden_and_read_strictly() {
    let webhook = NewWebhook::new("w", "https://example.com/", known());
    let stored = webhook.clone().store(Timestamp::default()).unwrap();
    let change = WebhookChange::new().with_secret(known(), Duration::from_secs(1));
    let changed = change.clone().apply(&stored, Timestamp::default()).unwrap();
    for debug in [format!("{webhook:?}"), format!("{change:?}"), format!("{changed:?}")] {
        assert!(
            debug.contains("***") && !debug.contains("MfKQ9r8G") && !debug.contains("49, 242"),
            "{debug}"
        );
    }
    assert_eq!(known().expose(), SECRET);
    assert_eq!(SigningSecret::parse(&format!(" {SECRET}\n")).unwrap(), known());
    for text in [
        "",
        "whsec_",
        &SECRET[6..],
        "whsec_%",
        "whsec_AAAA",
        &format!("whsec_{}", "A".repeat(88)),
    ] {
        let error = SigningSecret::parse(text).unwrap_err();
        assert_eq!(error.kind(), WebhookErrorKind::InvalidInput, "{text}");
        assert!(text.len() < 10 || !error.message().contains(text), "{error}");
    }
    for length in [23, 65] {
        assert!(SigningSecret::new(vec![1; length]).is_err());
    }
    for length in [24, 64] {
        let secret = SigningSecret::new(vec![1; length]).unwrap();
        let json = serde_json::to_string(&secret).unwrap();
        assert_eq!(serde_json::from_str::<SigningSecret>(&json).unwrap(), secret);
    }
    let error = serde_json::from_str::<SigningSecret>(r#""whsec_c2hvcnQ=""#).unwrap_err();
    assert!(!error.to_string().contains("c2hvcnQ"), "{error}");
}

proptest! {
    #[test]
    fn what_was_signed_is_accepted(
        key in prop::collection::vec(any::<u8>(), 24..=64),
        id: String,
        body: String,
        seconds in 0..4_000_000_000_i64,
    ) {
        let secret = SigningSecret::new(key).unwrap();
        let signature = secret.sign(&id, at(seconds), &body);
        let timestamp = seconds.to_string();
        prop_assert!(secret.verify((&id, &timestamp, &signature), body.as_bytes(), at(seconds)).is_ok());
        let other = format!("{body} ");
        prop_assert!(secret.verify((&id, &timestamp, &signature), other.as_bytes(), at(seconds)).is_err());
    }

    #[test]
    fn no_headers_cause_a_panic(id: String, timestamp: String, signatures: String, body: Vec<u8>, now: i64) {
        let now = Timestamp::from_millis(now);
        prop_assert!(known().verify((&id, &timestamp, &signatures), &body, now).is_err());
    }
}

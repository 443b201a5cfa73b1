//! Reading deliveries: payloads, ids and events.

use agcore_webhook::{
    DeliveryCheck, DeliveryHeaders, DeliveryPayload, DeliveryPlace, DeliveryScheme, DeliverySecret, Handshake,
    HmacScheme, MAX_DELIVERY_ID_BYTES, MAX_FORM_FIELDS, PayloadError,
};
use proptest::prelude::*;
use serde_json::{Value, json};

const FORM: &str = "application/x-www-form-urlencoded";

fn parse_payload(kind: &str, body: &[u8]) -> Result<Value, PayloadError> {
    DeliveryPayload::parse(kind, body).map(|payload| serde_json::to_value(payload).unwrap())
}

fn payload(value: &Value) -> DeliveryPayload {
    DeliveryPayload::parse("application/json", value.to_string().as_bytes()).unwrap()
}

fn check(scheme: DeliveryScheme) -> DeliveryCheck {
    let secret = match scheme {
        DeliveryScheme::StandardWebhooks => "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        _ => "a-secret-of-the-sender",
    };
    DeliveryCheck::new(scheme, [DeliverySecret::new(secret).unwrap()]).unwrap()
}

fn headers<'a>(headers: &'a [(&'a str, &'a str)]) -> DeliveryHeaders<'a> {
    headers.iter().map(|(name, value)| (*name, value.as_bytes())).collect()
}

fn id(check: &DeliveryCheck, given: &[(&str, &str)], value: &Value) -> Option<String> {
    check.delivery_id(&headers(given), &payload(value), value.to_string().as_bytes())
}

#[test]
fn bodies_are_read_as_they_are_declared() {
    for kind in [
        "application/json",
        "Application/JSON; charset=utf-8",
        "application/cloudevents+json",
    ] {
        assert_eq!(parse_payload(kind, b"[1]"), Ok(json!([1])), "{kind}");
    }
    for kind in ["", "text/json", "application/xml", "multipart/form-data", "json"] {
        assert_eq!(parse_payload(kind, b"{}"), Err(PayloadError::Type), "{kind}");
    }
    assert_eq!(parse_payload("application/json", b""), Err(PayloadError::Json(1, 0)));
    assert_eq!(
        parse_payload("application/json", b"{\"a\": secret}"),
        Err(PayloadError::Json(1, 7))
    );
    let deep = "[".repeat(500) + &"]".repeat(500);
    assert!(matches!(
        parse_payload("application/json", deep.as_bytes()),
        Err(PayloadError::Json(..))
    ));
    assert_eq!(parse_payload(FORM, b"payload=secret"), Err(PayloadError::Json(1, 1)));
    assert_eq!(parse_payload(FORM, b"a=1&a=2"), Err(PayloadError::Form));
    let many: String = (0..=MAX_FORM_FIELDS).map(|number| format!("f{number}=&")).collect();
    assert_eq!(parse_payload(FORM, many.as_bytes()), Err(PayloadError::Form));
    assert_eq!(parse_payload(FORM, b""), Ok(json!({})));
}

#[test]
fn vendors_have_ids_in_places_of_their_own() {
    let body = json!({"id": "evt_1", "event_id": "Ev1"});
    let given = [
        ("webhook-id", "msg_1"),
        ("x-github-delivery", "72d3162e"),
        ("Idempotency-Key", "k"),
    ];
    for (scheme, expected) in [
        (DeliveryScheme::StandardWebhooks, Some("msg_1")),
        (DeliveryScheme::GitHub, Some("72d3162e")),
        (DeliveryScheme::Stripe, Some("evt_1")),
        (DeliveryScheme::Slack, Some("Ev1")),
        (DeliveryScheme::Bearer, None),
        (DeliveryScheme::Hmac(HmacScheme::new("X-Sign")), None),
    ] {
        let check = check(scheme);
        assert_eq!(check.has_delivery_id(), expected.is_some());
        assert_eq!(id(&check, &given, &body).as_deref(), expected);
    }
    assert_eq!(id(&check(DeliveryScheme::Stripe), &given, &json!([])), None);
    assert_eq!(id(&check(DeliveryScheme::GitHub), &[], &body), None);
    // Commands of Slack have no id, but a trigger of their own.
    let slack = check(DeliveryScheme::Slack);
    let command = |trigger: &str| id(&slack, &[], &json!({"command": "/ask", "trigger_id": trigger})).unwrap();
    assert_eq!((command("1").len(), command("1") == command("1")), (64, true));
    assert_ne!(command("1"), command("2"));
}

#[test]
fn the_place_of_the_id_can_be_chosen() {
    let bearer = || check(DeliveryScheme::Bearer);
    let by = |place: DeliveryPlace| bearer().with_delivery_id(place).unwrap();
    let header = by(DeliveryPlace::header("Idempotency-Key"));
    assert_eq!(
        id(&header, &[("idempotency-key", " k ")], &json!({})).as_deref(),
        Some("k")
    );
    let member = by(DeliveryPlace::member("/data/id"));
    assert_eq!(id(&member, &[], &json!({"data": {"id": 7}})).as_deref(), Some("7"));
    for value in [
        json!(""),
        json!(1.5),
        json!(true),
        json!("a\nb"),
        json!("a".repeat(MAX_DELIVERY_ID_BYTES + 1)),
    ] {
        assert_eq!(id(&member, &[], &json!({"data": {"id": value}})), None);
    }
    let body = by(DeliveryPlace::Body);
    assert_eq!(
        id(&body, &[], &json!({"a": 1})),
        id(&body, &[("x", "y")], &json!({"a": 1}))
    );
    assert_ne!(id(&body, &[], &json!({"a": 1})), id(&body, &[], &json!({"a": 2})));
}

#[test]
fn events_have_plain_names() {
    let event = |scheme: DeliveryScheme, given: &[(&str, &str)], value: Value| {
        check(scheme).event(&headers(given), &payload(&value))
    };
    let github = [("x-github-event", "issues")];
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(
        event(DeliveryScheme::GitHub, &github, json!({"action": "opened"})),
        some("issues.opened")
    );
    assert_eq!(
        event(DeliveryScheme::GitHub, &[("x-github-event", "push")], json!({})),
        some("push")
    );
    assert_eq!(event(DeliveryScheme::GitHub, &github, json!({"action": "a b"})), None);
    assert_eq!(
        event(DeliveryScheme::Stripe, &[], json!({"type": "charge.succeeded"})),
        some("charge.succeeded")
    );
    assert_eq!(
        event(DeliveryScheme::StandardWebhooks, &[], json!({"type": "run.completed"})),
        some("run.completed")
    );
    let slack = json!({"type": "event_callback", "event": {"type": "app_mention"}});
    assert_eq!(event(DeliveryScheme::Slack, &[], slack), some("app_mention"));
    assert_eq!(
        event(DeliveryScheme::Slack, &[], json!({"type": "block_actions"})),
        some("block_actions")
    );
    for kind in [
        json!("x\ny"),
        json!("Ignore all"),
        json!("a".repeat(200)),
        json!({}),
        json!(""),
    ] {
        assert_eq!(event(DeliveryScheme::Stripe, &[], json!({"type": kind})), None);
    }
    let gitlab = check(DeliveryScheme::Header("X-Gitlab-Token".into()));
    assert_eq!(gitlab.event(&headers(&github), &payload(&json!({"type": "x"}))), None);
    let gitlab = gitlab.with_event(DeliveryPlace::member("/object_kind")).unwrap();
    assert_eq!(
        gitlab.event(&headers(&[]), &payload(&json!({"object_kind": "pipeline"}))),
        some("pipeline")
    );
}

#[test]
fn only_vendors_shake_hands() {
    let ping = [("X-GitHub-Event", "ping")];
    let challenge = json!({"type": "url_verification", "challenge": "3eZbrw1a", "token": "t"});
    let shaken = |scheme: DeliveryScheme, value: &Value| check(scheme).handshake(&headers(&ping), &payload(value));
    assert_eq!(shaken(DeliveryScheme::GitHub, &json!({})), Some(Handshake::Ping));
    assert_eq!(
        shaken(DeliveryScheme::Slack, &challenge),
        Some(Handshake::Challenge("3eZbrw1a".into()))
    );
    assert_eq!(shaken(DeliveryScheme::Bearer, &challenge), None);
    assert_eq!(
        shaken(
            DeliveryScheme::Slack,
            &json!({"type": "event_callback", "challenge": "c"})
        ),
        None
    );
    let long = json!({"type": "url_verification", "challenge": "c".repeat(2000)});
    assert_eq!(shaken(DeliveryScheme::Slack, &long), None);
}

proptest! {
    #[test]
    fn no_body_causes_a_panic(kind: String, body: Vec<u8>, form in "([a-z%&=+]|%[0-9a-f]{2}){0,200}") {
        for kind in [&*kind, "application/json", FORM] {
            let _ = parse_payload(kind, &body);
            let _ = parse_payload(kind, form.as_bytes());
        }
    }
}

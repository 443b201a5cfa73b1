//! Checking deliveries of other programs.

use agcore_webhook::{
    CodeEncoding, DeliveryCheck, DeliveryHeaders, DeliveryPlace, DeliveryRefusal as Refusal, DeliveryScheme,
    DeliverySecret, HmacScheme, TOLERANCE_SECONDS, Timestamp, WebhookErrorKind,
};
use proptest::prelude::*;

const GITHUB: &str = "It's a Secret to Everybody";
const STANDARD: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const OTHER_STANDARD: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX";
const SLACK: &str = "8f742231b10e8888abcd99yyyzzz85a5";
const STRIPE: &str = "whsec_test_secret_0123456789";
const OTHER: &str = "another secret of a sender";

/// The example of Slack's documentation.
const SLACK_BODY: &str = "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c";
const SLACK_CODE: &str = "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503";
const SLACK_SECONDS: i64 = 1_531_420_618;

const STRIPE_BODY: &str = r#"{"id":"evt_1","object":"event","type":"charge.succeeded"}"#;
const STRIPE_CODE: &str = "02cafcb3d7a561bdee1cdfa3265b7b4d5a07382f5a368a409d16fe1789aaabe2";
const STRIPE_SECONDS: i64 = 1_492_774_577;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(seconds * 1000)
}

fn check(scheme: DeliveryScheme, secrets: &[&str]) -> DeliveryCheck {
    let secrets = secrets.iter().map(|secret| DeliverySecret::new(secret).unwrap());
    DeliveryCheck::new(scheme, secrets).unwrap()
}

fn verified(
    check: &DeliveryCheck,
    headers: &[(&str, &str)],
    body: impl AsRef<[u8]>,
    seconds: i64,
) -> Result<(), Refusal> {
    let headers: DeliveryHeaders<'_> = headers.iter().map(|(name, value)| (*name, value.as_bytes())).collect();
    check.verify(&headers, body.as_ref(), at(seconds))
}

/// Every scheme, with two secrets.
fn all() -> Vec<(DeliveryScheme, &'static str, &'static str)> {
    let base64 = HmacScheme::new("X-Shopify-Hmac-Sha256").with_encoding(CodeEncoding::Base64);
    vec![
        (DeliveryScheme::StandardWebhooks, STANDARD, OTHER_STANDARD),
        (DeliveryScheme::GitHub, GITHUB, OTHER),
        (DeliveryScheme::Stripe, STRIPE, OTHER),
        (DeliveryScheme::Slack, SLACK, OTHER),
        (DeliveryScheme::Hmac(base64), GITHUB, OTHER),
        (DeliveryScheme::Hmac(HmacScheme::new("Linear-Signature")), GITHUB, OTHER),
        (DeliveryScheme::Bearer, STRIPE, "another-secret-of-a-sender"),
        (
            DeliveryScheme::Header("X-Gitlab-Token".into()),
            STRIPE,
            "another-secret-of-a-sender",
        ),
    ]
}

fn signs_body(scheme: &DeliveryScheme) -> bool {
    !matches!(scheme, DeliveryScheme::Bearer | DeliveryScheme::Header(_))
}

fn signs_time(scheme: &DeliveryScheme) -> bool {
    use DeliveryScheme::{Slack, StandardWebhooks, Stripe};
    matches!(scheme, StandardWebhooks | Stripe | Slack)
}

/// Returns signed headers in the form of [`verified`].
fn signed(check: &DeliveryCheck, body: &str, seconds: i64) -> Vec<(String, String)> {
    check.sign("delivery-1", body.as_bytes(), at(seconds))
}

fn view(headers: &[(String, String)]) -> Vec<(&str, &str)> {
    headers.iter().map(|(name, value)| (&**name, &**value)).collect()
}

#[test]
fn the_examples_of_vendors_are_accepted() {
    let github = check(DeliveryScheme::GitHub, &[GITHUB]);
    for (body, code) in [
        (
            "Hello, World!",
            "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
        ),
        ("", "66a0c074deaa0f489ead6537e0d32f9a344b90bbeda705b6ed45ecd3b413fb40"),
        (
            "Grüße, 世界",
            "8bb5cdaf81bc02d3c133f031b51b207e4bed5062325880ca09f2225767e38096",
        ),
    ] {
        for code in [code.to_owned(), code.to_uppercase()] {
            let signature = format!("sha256={code}");
            assert_eq!(
                verified(&github, &[("x-hub-signature-256", &signature)], body, 0),
                Ok(()),
                "{body}"
            );
        }
    }
    let slack = check(DeliveryScheme::Slack, &[SLACK]);
    let headers = [
        ("X-Slack-Signature", SLACK_CODE),
        ("X-Slack-Request-Timestamp", &*SLACK_SECONDS.to_string()),
    ];
    assert_eq!(verified(&slack, &headers, SLACK_BODY, SLACK_SECONDS), Ok(()));
    let stripe = check(DeliveryScheme::Stripe, &[STRIPE]);
    let signature = format!("t={STRIPE_SECONDS},v1={STRIPE_CODE}");
    assert_eq!(
        verified(
            &stripe,
            &[("Stripe-Signature", &signature)],
            STRIPE_BODY,
            STRIPE_SECONDS
        ),
        Ok(())
    );
    let shopify = HmacScheme::new("X-Shopify-Hmac-Sha256").with_encoding(CodeEncoding::Base64);
    let shopify = check(DeliveryScheme::Hmac(shopify), &["shpss_0123456789abcdef"]);
    let body = r##"{"id":820982911946154508,"name":"#9999"}"##;
    for code in [
        "j3YIshZL/7bARdL+Vo9Loi7edJbdnTLUYLGgOO8C4GA=",
        "j3YIshZL/7bARdL+Vo9Loi7edJbdnTLUYLGgOO8C4GA",
    ] {
        assert_eq!(
            verified(&shopify, &[("X-Shopify-Hmac-Sha256", code)], body, 0),
            Ok(()),
            "{code}"
        );
    }
    let standard = check(DeliveryScheme::StandardWebhooks, &[STANDARD]);
    let headers = [
        ("webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek"),
        ("webhook-timestamp", "1614265330"),
        ("webhook-signature", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="),
    ];
    assert_eq!(
        verified(&standard, &headers, r#"{"test": 2432232314}"#, 1_614_265_330),
        Ok(())
    );
}

#[test]
fn only_the_body_that_a_known_secret_has_signed_is_accepted() {
    for (scheme, secret, other) in all() {
        let name = scheme.as_str();
        let known = check(scheme.clone(), &[secret]);
        let (new, both) = (check(scheme.clone(), &[other]), check(scheme.clone(), &[other, secret]));
        for body in ["{}", "", "{\"text\":\"Grüße, 世界\"}"] {
            let headers = signed(&known, body, STRIPE_SECONDS);
            let headers = view(&headers);
            assert_eq!(verified(&known, &headers, body, STRIPE_SECONDS), Ok(()), "{name}");
            // While secrets are replaced.
            assert_eq!(verified(&both, &headers, body, STRIPE_SECONDS), Ok(()), "{name}");
            assert_eq!(
                verified(&new, &headers, body, STRIPE_SECONDS),
                Err(Refusal::WrongSignature),
                "{name}"
            );
            if signs_body(&scheme) {
                let changed = verified(&known, &headers, format!("{body} "), STRIPE_SECONDS);
                assert_eq!(changed, Err(Refusal::WrongSignature), "{name}");
            }
        }
    }
}

#[test]
fn deliveries_that_are_too_old_or_too_new_are_refused() {
    for (scheme, secret, _) in all() {
        let check = check(scheme.clone(), &[secret]);
        let headers = signed(&check, "{}", STRIPE_SECONDS);
        for (difference, is_near) in [
            (TOLERANCE_SECONDS, true),
            (-TOLERANCE_SECONDS, true),
            (TOLERANCE_SECONDS + 1, false),
            (-TOLERANCE_SECONDS - 1, false),
        ] {
            let is_accepted = verified(&check, &view(&headers), "{}", STRIPE_SECONDS + difference).is_ok();
            assert_eq!(
                is_accepted,
                is_near || !signs_time(&scheme),
                "{} {difference}",
                scheme.as_str()
            );
        }
    }
}

#[test]
fn headers_of_another_form_are_refused() {
    let cases = |scheme: DeliveryScheme, secret: &str, name: &str, values: &[&str]| {
        let check = check(scheme, &[secret]);
        let headers = signed(&check, "{}", STRIPE_SECONDS);
        for value in values {
            let changed: Vec<_> = view(&headers)
                .into_iter()
                .map(|(known, old)| (known, if known.eq_ignore_ascii_case(name) { value } else { old }))
                .collect();
            let refused = verified(&check, &changed, "{}", STRIPE_SECONDS).unwrap_err();
            assert!(!refused.to_string().contains(secret), "{refused}");
        }
        let without: Vec<_> = view(&headers).into_iter().filter(|(known, _)| *known != name).collect();
        assert_eq!(
            verified(&check, &without, "{}", STRIPE_SECONDS),
            Err(Refusal::MissingHeader),
            "{name}"
        );
        let found = view(&headers).into_iter().find(|(known, _)| *known == name).unwrap();
        let mut doubled = view(&headers);
        doubled.push(found);
        assert_eq!(
            verified(&check, &doubled, "{}", STRIPE_SECONDS),
            Err(Refusal::RepeatedHeader),
            "{name}"
        );
    };
    let odd = format!("sha256={}0", "0".repeat(64));
    let github = ["", "sha256=", "sha256=zz", &odd, "sha1=00", "é", "sha256=+0"];
    cases(DeliveryScheme::GitHub, GITHUB, "X-Hub-Signature-256", &github);
    let many = format!("t={STRIPE_SECONDS}{}", ",v1=00".repeat(17));
    let stripe = [
        "",
        "t=",
        "t=now,v1=00",
        "v1=00",
        "t=1,t=1,v1=00",
        "t=1492774577",
        "t=1492774577,v0=00",
        &many,
    ];
    cases(DeliveryScheme::Stripe, STRIPE, "Stripe-Signature", &stripe);
    cases(
        DeliveryScheme::Slack,
        SLACK,
        "X-Slack-Signature",
        &["", "v0=", "v0=0", "v1=00", SLACK_CODE],
    );
    let times = [
        "",
        "-1492774577",
        "+1492774577",
        "1492774577.0",
        "1e9",
        "99999999999999999999",
        "１",
    ];
    cases(DeliveryScheme::Slack, SLACK, "X-Slack-Request-Timestamp", &times);
    cases(DeliveryScheme::StandardWebhooks, STANDARD, "webhook-timestamp", &times);
    let many = "v1,AAAA ".repeat(17);
    cases(
        DeliveryScheme::StandardWebhooks,
        STANDARD,
        "webhook-signature",
        &["", "v1,", "v2,AAAA", &many],
    );
    cases(
        DeliveryScheme::Bearer,
        STRIPE,
        "Authorization",
        &["", "Bearer", "Bearer ", "Basic YTpi", STRIPE],
    );
    let longer = format!("{STRIPE}x");
    cases(
        DeliveryScheme::Header("X-Token".into()),
        STRIPE,
        "X-Token",
        &["", &longer, &STRIPE[1..]],
    );
}

#[test]
fn one_right_signature_of_several_is_enough() {
    let stripe = check(DeliveryScheme::Stripe, &[STRIPE]);
    let zeros = "0".repeat(64);
    for (signature, is_right) in [
        (
            format!("t={STRIPE_SECONDS},v1={zeros},v1={STRIPE_CODE},v0={zeros}"),
            true,
        ),
        (format!("v1={STRIPE_CODE}, t={STRIPE_SECONDS}, v1=short"), true),
        (format!("t={STRIPE_SECONDS},v1={zeros},v0={STRIPE_CODE}"), false),
    ] {
        let result = verified(
            &stripe,
            &[("Stripe-Signature", &signature)],
            STRIPE_BODY,
            STRIPE_SECONDS,
        );
        assert_eq!(result.is_ok(), is_right, "{signature}");
    }
}

#[test]
fn what_proves_nothing_is_refused() {
    let invalid = |result: Result<DeliveryCheck, agcore_webhook::WebhookError>, words: &str| {
        let error = result.unwrap_err();
        assert_eq!(error.kind(), WebhookErrorKind::InvalidInput);
        assert!(error.message().contains(words), "{error}");
        error.to_string()
    };
    let secret = |text: &str| DeliverySecret::new(text);
    invalid(DeliveryCheck::new(DeliveryScheme::GitHub, []), "no secret");
    for text in ["", " \n", "0123456789abcde"] {
        let error = secret(text).unwrap_err();
        assert!(text.trim().is_empty() || !error.message().contains(text), "{error}");
    }
    assert!(secret(&"a".repeat(1025)).is_err());
    let plain = secret(GITHUB).unwrap();
    let shown = invalid(
        DeliveryCheck::new(DeliveryScheme::StandardWebhooks, [plain.clone()]),
        "`whsec_`",
    );
    assert!(!shown.contains(GITHUB), "{shown}");
    invalid(
        DeliveryCheck::new(DeliveryScheme::Bearer, [plain.clone()]),
        "plain ASCII",
    );
    for name in ["", "X Header", "X-Header:", "Ü"] {
        let scheme = DeliveryScheme::Hmac(HmacScheme::new(name));
        invalid(DeliveryCheck::new(scheme, [plain.clone()]), "name of a header");
    }
    let known = check(DeliveryScheme::GitHub, &[GITHUB]);
    invalid(
        known.clone().with_delivery_id(DeliveryPlace::member("id")),
        "JSON pointer",
    );
    invalid(
        known.clone().with_delivery_id(DeliveryPlace::header("")),
        "name of a header",
    );
    invalid(known.clone().with_event(DeliveryPlace::Body), "name of an event");
    let debug = format!("{known:?}");
    assert!(debug.contains("***") && !debug.contains(GITHUB), "{debug}");
}

proptest! {
    #[test]
    fn what_was_signed_is_accepted(secret in "[a-zA-Z0-9]{16,64}", body: String, seconds in 0..4_000_000_000_i64) {
        for (scheme, ..) in all().into_iter().filter(|(scheme, ..)| *scheme != DeliveryScheme::StandardWebhooks) {
            let check = check(scheme, &[&secret]);
            let headers = signed(&check, &body, seconds);
            prop_assert_eq!(verified(&check, &view(&headers), &body, seconds), Ok(()));
        }
    }

    #[test]
    fn no_delivery_causes_a_panic(value: Vec<u8>, time: String, body: Vec<u8>, now: i64) {
        for (scheme, secret, _) in all() {
            let check = check(scheme, &[secret]);
            let names = [
                "webhook-id", "webhook-signature", "x-hub-signature-256", "stripe-signature", "x-slack-signature",
                "X-Shopify-Hmac-Sha256", "Linear-Signature", "authorization", "X-Gitlab-Token",
            ];
            let times = ["webhook-timestamp", "x-slack-request-timestamp"];
            let headers = names.iter().map(|name| (*name, &*value));
            let headers: DeliveryHeaders<'_> = headers.chain(times.iter().map(|name| (*name, time.as_bytes()))).collect();
            prop_assert!(check.verify(&headers, &body, Timestamp::from_millis(now)).is_err());
        }
    }

    #[test]
    fn no_signature_with_the_right_prefix_causes_a_panic(value: String, seconds in 0..4_000_000_000_i64) {
        let now = seconds.to_string();
        for (scheme, secret, name, value) in [
            (DeliveryScheme::GitHub, GITHUB, "x-hub-signature-256", format!("sha256={value}")),
            (DeliveryScheme::Stripe, STRIPE, "stripe-signature", format!("t={now},v1={value}")),
            (DeliveryScheme::Slack, SLACK, "x-slack-signature", format!("v0={value}")),
            (DeliveryScheme::StandardWebhooks, STANDARD, "webhook-signature", format!("v1,{value}")),
        ] {
            let headers = [
                (name, &*value), ("webhook-id", "m"), ("webhook-timestamp", &now), ("x-slack-request-timestamp", &now),
            ];
            let refused = verified(&check(scheme, &[secret]), &headers, "{}", seconds);
            prop_assert!(refused.is_err());
        }
    }
}

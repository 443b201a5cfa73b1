//! The proofs of senders, and the answers to them.

use agcore_chat::{Actor, Timestamp};
use agcore_server::IncomingHook;
use agcore_webhook::{CodeEncoding, DeliveryPlace, DeliveryScheme, HmacScheme};
use serde_json::json;

use super::{bearer_hook, check, count, deliver, github, ids, now, push, request};
use crate::support::{Answer, Running, builder, store, texts};

fn schemes() -> Vec<DeliveryScheme> {
    vec![
        DeliveryScheme::StandardWebhooks,
        DeliveryScheme::GitHub,
        DeliveryScheme::Stripe,
        DeliveryScheme::Slack,
        DeliveryScheme::Hmac(HmacScheme::new("X-Shopify-Hmac-Sha256").with_encoding(CodeEncoding::Base64)),
        DeliveryScheme::Bearer,
        DeliveryScheme::Header("X-Gitlab-Token".into()),
    ]
}

/// Returns the check of a scheme, whose deliveries have an id in a place of their own or in a header.
fn check_of(scheme: DeliveryScheme) -> agcore_webhook::DeliveryCheck {
    let check = check(scheme);
    match check.has_delivery_id() {
        true => check,
        false => check.with_delivery_id(DeliveryPlace::header("X-Delivery")).unwrap(),
    }
}

#[tokio::test]
async fn every_scheme_starts_runs() {
    let store = store();
    let schemes = schemes();
    let mut server = builder(&texts(["1", "2", "3", "4", "5", "6", "7"]), &store);
    for (number, scheme) in schemes.iter().enumerate() {
        server = server.with_hook(IncomingHook::new(format!("h{number}"), check_of(scheme.clone())).unwrap());
    }
    let server = Running::start(server).await;
    let body = json!({"id": "evt_1", "event_id": "Ev1"});
    for (number, scheme) in schemes.iter().enumerate() {
        let (hook, check) = (format!("h{number}"), check_of(scheme.clone()));
        let first = deliver(&server, &hook, &check, "d-1", &body).await;
        assert_eq!(first.status.as_u16(), 202, "{hook}: {}", first.text);
        let again = deliver(&server, &hook, &check, "d-1", &body).await;
        assert_eq!((again.status.as_u16(), ids(&again)), (200, ids(&first)), "{hook}");
        // Of another hook, the same id is another delivery.
        assert!(ids(&first).1.starts_with(&format!("hook-{hook}-")), "{hook}");
    }
    assert_eq!(count(&store, Actor::local()).await, schemes.len());
    server.kill().await;
}

#[tokio::test]
async fn strangers_learn_nothing() {
    let (store, provider) = (store(), texts([]));
    let server = Running::start(builder(&provider, &store).with_hook(github("issues"))).await;
    let signed = check(DeliveryScheme::GitHub).sign("1", b"{}", now());
    let signature = &*signed[0].1;
    let delivery = ("x-github-delivery", "1");
    let wrong = signature.replace(|digit: char| digit.is_ascii_digit(), "f");
    let ask = async |hook: &str, headers: &[(&str, &str)], body: &str| {
        server.request(request(hook, headers, body.to_owned())).await
    };
    let mut answers: Vec<Answer> = Vec::new();
    for (hook, headers, body) in [
        ("issues", vec![delivery], "{}"),
        ("issues", vec![delivery, ("x-hub-signature-256", &wrong)], "{}"),
        ("issues", vec![delivery, ("x-hub-signature-256", "sha256=")], "{}"),
        ("issues", vec![delivery, ("x-hub-signature-256", signature)], "{} "),
        (
            "issues",
            vec![("x-hub-signature-256", signature), ("x-hub-signature-256", signature)],
            "{}",
        ),
        // Nothing of a body is read before.
        ("issues", vec![delivery], "not JSON"),
        ("nothing", vec![delivery, ("x-hub-signature-256", signature)], "{}"),
        ("nothing", vec![delivery], "not JSON"),
        ("-", vec![delivery], "{}"),
        (
            "%2e%2e%2fissues",
            vec![delivery, ("x-hub-signature-256", signature)],
            "{}",
        ),
    ] {
        let answer = ask(hook, &headers, body).await;
        answer.assert_problem(401, "unauthenticated");
        assert!(
            !answer.text.contains("issues") && !answer.text.contains(signature),
            "{}",
            answer.text
        );
        answers.push(answer);
    }
    let shown = |answer: &Answer| (answer.text.clone(), answer.headers.keys().cloned().collect::<Vec<_>>());
    for answer in &answers {
        assert_eq!(shown(answer), shown(&answers[0]));
    }
    assert_eq!(count(&store, Actor::local()).await, 0);
    let numbers = server.get("/metrics").await.text;
    let line = r#"agcore_hook_deliveries_total{hook="-",outcome="refused"} 4"#;
    assert!(numbers.lines().any(|found| found == line), "{numbers}");
    server.stop().await;

    let without = Running::start(builder(&provider, &store)).await;
    without
        .request(request("issues", &[], "{}"))
        .await
        .assert_problem(404, "not_found");
    without.stop().await;
}

#[tokio::test]
async fn recorded_deliveries_are_refused_after_five_minutes() {
    let check = check(DeliveryScheme::Stripe);
    let hook = IncomingHook::new("bills", check.clone()).unwrap();
    let server = Running::start(builder(&texts(["1"]), &store()).with_hook(hook)).await;
    let body = r#"{"id": "evt_1"}"#;
    for (seconds, status) in [(-310, 401), (310, 401), (-290, 202), (0, 200)] {
        let at = Timestamp::from_millis(now().as_millis() + seconds * 1000);
        let signed = check.sign("", body.as_bytes(), at);
        let headers: Vec<_> = signed.iter().map(|(name, value)| (&**name, &**value)).collect();
        let answer = server.request(request("bills", &headers, body)).await;
        assert_eq!(answer.status.as_u16(), status, "{seconds}: {}", answer.text);
    }
    server.kill().await;
}

#[tokio::test]
async fn handshakes_start_no_runs() {
    let store = store();
    let slack = check(DeliveryScheme::Slack);
    let server = builder(&texts([]), &store)
        .with_hook(github("issues"))
        .with_hook(IncomingHook::new("chat", slack.clone()).unwrap());
    let server = Running::start(server).await;
    let mut signed = check(DeliveryScheme::GitHub).sign("1", b"{}", now());
    signed.push(("x-github-event".to_owned(), "ping".to_owned()));
    let headers: Vec<_> = signed.iter().map(|(name, value)| (&**name, &**value)).collect();
    let ping = server.request(request("issues", &headers, "{}")).await;
    assert_eq!((ping.status.as_u16(), ping.json()), (200, json!({"status": "ready"})));
    let unsigned = server
        .request(request("issues", &[("x-github-event", "ping")], "{}"))
        .await;
    unsigned.assert_problem(401, "unauthenticated");
    let body = json!({"type": "url_verification", "challenge": "3eZbrw1a"});
    let challenge = deliver(&server, "chat", &slack, "", &body).await;
    assert_eq!(
        (challenge.status.as_u16(), challenge.json()),
        (200, json!({"status": "ready", "challenge": "3eZbrw1a"}))
    );
    let unsigned = server.request(request("chat", &[], body.to_string())).await;
    unsigned.assert_problem(401, "unauthenticated");
    assert!(!unsigned.text.contains("3eZbrw1a"));
    assert_eq!(count(&store, Actor::local()).await, 0);
    server.stop().await;
}

#[tokio::test]
async fn only_the_chosen_events_start_runs() {
    let store = store();
    let check = check(DeliveryScheme::Stripe);
    let hook = IncomingHook::new("bills", check.clone())
        .unwrap()
        .with_event("charge.failed")
        .with_event("payout");
    let server = Running::start(builder(&texts(["1", "2"]), &store).with_hook(hook)).await;
    for (number, (kind, status)) in [
        ("charge.failed", 202),
        ("payout.paid", 202),
        ("charge.succeeded", 200),
        ("charge", 200),
    ]
    .into_iter()
    .enumerate()
    {
        let body = json!({"id": format!("evt_{number}"), "type": kind});
        let answer = deliver(&server, "bills", &check, "", &body).await;
        assert_eq!(answer.status.as_u16(), status, "{kind}: {}", answer.text);
        assert_eq!(answer.json()["status"] == "ignored", status == 200, "{kind}");
    }
    assert_eq!(count(&store, Actor::local()).await, 2);
    server.kill().await;
}

#[tokio::test]
async fn deliveries_of_another_form_are_refused() {
    let store = store();
    let hook = bearer_hook("jobs");
    let server = Running::start(
        builder(&texts(["1"]), &store)
            .with_hook(hook)
            .with_hook(github("issues")),
    )
    .await;
    let token = format!("Bearer {}", super::SECRET);
    let auth = ("authorization", &*token);
    let id = ("idempotency-key", "1");
    let long = "a".repeat(600);
    for (headers, body, status, code) in [
        (vec![auth, id], "{", 400, "invalid_body"),
        (vec![auth, id], "", 400, "invalid_body"),
        (
            vec![auth, id, ("content-type", "text/plain")],
            "{}",
            415,
            "unsupported_media_type",
        ),
        (
            vec![auth, id, ("content-encoding", "gzip")],
            "{}",
            415,
            "unsupported_media_type",
        ),
        (
            vec![auth, id, ("content-type", "application/x-www-form-urlencoded")],
            "a=1&a=2",
            400,
            "invalid_body",
        ),
        (vec![auth], "{}", 400, "invalid_request"),
        (vec![auth, ("idempotency-key", "")], "{}", 400, "invalid_request"),
        (vec![auth, ("idempotency-key", &long)], "{}", 400, "invalid_request"),
        (vec![auth, id, id], "{}", 400, "invalid_request"),
    ] {
        let answer = server.request(request("jobs", &headers, body.to_owned())).await;
        answer.assert_problem(status, code);
        assert!(!answer.text.contains(super::SECRET), "{}", answer.text);
    }
    assert_eq!(count(&store, Actor::local()).await, 0);
    // GitHub can send forms; the whole body is signed.
    let form = "payload=%7B%22action%22%3A%22opened%22%7D";
    let signed = check(DeliveryScheme::GitHub).sign("1", form.as_bytes(), now());
    let mut headers: Vec<_> = signed.iter().map(|(name, value)| (&**name, &**value)).collect();
    headers.push(("content-type", "application/x-www-form-urlencoded"));
    let answer = server.request(request("issues", &headers, form)).await;
    assert_eq!(answer.status.as_u16(), 202, "{}", answer.text);
    let get = server.get("/hooks/issues").await;
    get.assert_problem(405, "method_not_allowed");
    server.kill().await;
}

#[tokio::test]
async fn a_delivery_whose_conversation_was_deleted_is_a_new_one() {
    let store = store();
    let server = Running::start(builder(&texts(["1"]), &store).with_hook(github("issues"))).await;
    let first = push(&server, "issues", "1", &json!({})).await;
    super::ended(&server, &first).await;
    let path = format!("/api/v1/agent/sessions/{}", ids(&first).0);
    let deleted = server.with(http::Method::DELETE, &path, &[], None).await;
    assert_eq!(deleted.status.as_u16(), 204, "{}", deleted.text);
    // Nothing is left by which it could be recognized: the model has cost nothing.
    let again = push(&server, "issues", "1", &json!({})).await;
    assert_eq!(
        (again.status.as_u16(), ids(&again)),
        (202, ids(&first)),
        "{}",
        again.text
    );
    server.kill().await;
}

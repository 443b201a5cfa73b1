//! The messages that are sent, and the forms in which events are stored.

use agcore_webhook::{
    Actor, Delivery, DeliveryState, EventKind, EventKinds, EventRun, PauseReason, WebhookEvent, WebhookScope,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::time;

fn event(thread: &str, run: &str, user: &str) -> WebhookEvent {
    let at = time("2026-07-03T12:00:00.042Z");
    WebhookEvent::new(
        EventKind::RunFailed,
        at,
        Actor::new("acme", user),
        EventRun::new(thread, run),
    )
}

#[test]
fn names_with_quotes_and_other_scripts_are_data() {
    let odd = "\"}\\\u{7}\n日本 😀</script>";
    let body = event(odd, "r\"", "ann\"").body();
    let expected = json!({
        "type": "run.failed",
        "timestamp": "2026-07-03T12:00:00.042Z",
        "data": {"threadId": odd, "runId": "r\"", "userId": "ann\""},
    });
    assert_eq!(serde_json::from_str::<Value>(&body).unwrap(), expected);
    assert!(body.starts_with(r#"{"type":"run.failed","timestamp":"2026-07-03T12:00:00.042Z","data":{"threadId":""#));
    assert!(!body.contains("acme"), "the receiver knows its tenant");
}

#[test]
fn a_test_has_no_run() {
    let body = WebhookEvent::test(time("2026-07-03T12:00:00Z"), Actor::user("ann")).body();
    assert_eq!(
        body,
        r#"{"type":"webhook.test","timestamp":"2026-07-03T12:00:00.000Z","data":{"userId":"ann"}}"#
    );
}

#[test]
fn statuses_of_runs_have_their_kinds() {
    let kinds = ["completed", "failed", "cancelled", "interrupted"].map(|status| EventKind::of_run(status).unwrap());
    assert!(
        EventKind::ALL
            .into_iter()
            .filter(|kind| *kind != EventKind::Test)
            .eq(kinds)
    );
    for status in ["queued", "running", "", "Completed", "run.completed", "test"] {
        assert_eq!(EventKind::of_run(status), None, "{status}");
    }
}

#[test]
fn names_are_read_as_they_were_written() {
    for kind in EventKind::ALL {
        let json = serde_json::to_string(&kind).unwrap();
        assert_eq!(json, format!("\"{kind}\""));
        assert_eq!(serde_json::from_str::<EventKind>(&json).unwrap(), kind);
        assert_eq!(EventKind::from_name(kind.as_str()), Some(kind));
    }
    for state in DeliveryState::ALL {
        assert_eq!(serde_json::to_value(state).unwrap(), state.as_str());
        assert_eq!(DeliveryState::from_name(state.as_str()), Some(state));
    }
    for scope in [WebhookScope::Owner, WebhookScope::Tenant] {
        assert_eq!(serde_json::to_value(scope).unwrap(), scope.as_str());
        assert_eq!(WebhookScope::from_name(scope.as_str()), Some(scope));
    }
    for reason in [PauseReason::Requested, PauseReason::Gone, PauseReason::Failing] {
        assert_eq!(serde_json::to_value(reason).unwrap(), reason.as_str());
        assert_eq!(PauseReason::from_name(reason.as_str()), Some(reason));
    }
}

#[test]
fn unknown_names_are_refused_with_those_that_are_known() {
    let error = serde_json::from_str::<EventKinds>(r#"["run.completed","run.paused"]"#)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("`run.paused`") && error.contains("`run.interrupted`"),
        "{error}"
    );
    assert_eq!(EventKind::from_name("run.paused"), None);
    assert_eq!(DeliveryState::from_name("sent"), None);
    assert_eq!(WebhookScope::from_name(""), None);
    assert_eq!(PauseReason::from_name("Gone"), None);
    assert!(serde_json::from_str::<WebhookScope>(r#""global""#).is_err());
}

#[test]
fn messages_survive_json() {
    let test = WebhookEvent::test(time("2026-07-03T12:00:00Z"), Actor::user("ann").with_line("sales"));
    for event in [event("t", "r", "ann"), test] {
        let delivery = Delivery::new("msg_1", event);
        let json = serde_json::to_string(&delivery).unwrap();
        assert_eq!(serde_json::from_str::<Delivery>(&json).unwrap(), delivery);
    }
}

#[test]
fn sets_of_kinds_are_numbers_in_databases() {
    let bits: Vec<u16> = EventKind::ALL
        .into_iter()
        .map(|kind| EventKinds::from(kind).bits())
        .collect();
    assert_eq!(bits, [1, 2, 4, 8, 16], "stored numbers never change their meaning");
    assert_eq!(EventKinds::default().bits(), 15);
    assert_eq!(EventKinds::from_bits(u16::MAX).bits(), 31, "unknown bits are ignored");
    assert_eq!(
        format!("{:?}", EventKinds::from_bits(17)),
        r#"{"run.completed", "webhook.test"}"#
    );
}

proptest! {
    #[test]
    fn every_body_is_json(thread: String, run: String, user: String) {
        let body = event(&thread, &run, &user).body();
        let body: Value = serde_json::from_str(&body).unwrap();
        prop_assert_eq!(&body["data"], &json!({"threadId": thread, "runId": run, "userId": user}));
    }

    #[test]
    fn sets_survive_json_and_numbers(bits in 0_u16..32) {
        let kinds = EventKinds::from_bits(bits);
        prop_assert_eq!(kinds.bits(), bits);
        let json = serde_json::to_string(&kinds).unwrap();
        prop_assert_eq!(serde_json::from_str::<EventKinds>(&json).unwrap(), kinds);
    }
}

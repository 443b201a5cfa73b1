//! The state of a message after an attempt.

use std::time::Duration;

use agcore_webhook::{
    Actor, Attempt, Delivery, DeliveryState, MAX_ATTEMPTS, MAX_REASON_BYTES, PauseReason, RETRIES, Timestamp,
    WebhookEvent,
};
use proptest::prelude::*;

use super::time;

fn answered(status: u16) -> Attempt {
    Attempt::answered(status, Duration::from_millis(5))
}

fn message(attempts: u32) -> Delivery {
    let mut message = Delivery::new(
        "msg_1",
        WebhookEvent::test(time("2026-07-03T12:00:00Z"), Actor::local()),
    );
    message.attempts = attempts;
    message
}

/// Returns how long a message waits after an attempt that failed, or `None` if it was given up.
fn wait(attempts: u32, attempt: Attempt, jitter: f64) -> Option<Duration> {
    let now = time("2026-07-03T13:00:00Z");
    let (after, _) = message(attempts).after(attempt, now, jitter);
    after.next_at.map(|next| next.since(now))
}

#[test]
fn messages_are_sent_again_for_three_days() {
    let hours = |hours: u64| hours * 3600;
    let seconds = [
        5,
        300,
        1800,
        hours(2),
        hours(5),
        hours(10),
        hours(14),
        hours(20),
        hours(24),
    ];
    assert_eq!(RETRIES, seconds.map(Duration::from_secs));
    assert_eq!(MAX_ATTEMPTS, 10);
    for (attempts, pause) in (0..).zip(RETRIES) {
        assert_eq!(wait(attempts, answered(500), 0.5), Some(pause));
        assert_eq!(wait(attempts, answered(500), 0.0), Some(pause.mul_f64(0.8)));
        assert_eq!(wait(attempts, answered(500), 1.0), Some(pause.mul_f64(1.2)));
    }
    for attempts in [MAX_ATTEMPTS - 1, MAX_ATTEMPTS, u32::MAX] {
        let (after, pause) = message(attempts).after(answered(500), Timestamp::default(), 0.5);
        assert_eq!((after.state, after.next_at), (DeliveryState::Failed, None));
        assert_eq!(pause, Some(PauseReason::Failing));
    }
}

#[test]
fn receivers_ask_for_more_time_but_not_for_less() {
    let asks = |attempts, seconds| {
        let wanted = Duration::from_secs(seconds);
        wait(attempts, answered(503).with_retry_after(Some(wanted)), 0.5)
            .unwrap()
            .as_secs()
    };
    assert_eq!(asks(0, 0), 5);
    assert_eq!(asks(0, 60), 60);
    assert_eq!(asks(1, 60), 300);
    assert_eq!(asks(0, u64::MAX), 24 * 3600, "not longer than a day");
}

#[test]
fn the_status_decides_what_becomes_of_a_message() {
    use DeliveryState::{Delivered, Failed, Pending};
    let now = time("2026-07-03T12:00:07Z");
    for (status, state, reason) in [
        (199, Pending, None),
        (200, Delivered, None),
        (299, Delivered, None),
        (302, Pending, None),
        (400, Pending, None),
        (404, Pending, None),
        (410, Failed, Some(PauseReason::Gone)),
        (429, Pending, None),
        (500, Pending, None),
    ] {
        let (after, pause) = message(0).after(answered(status), now, 0.5);
        assert_eq!((after.state, pause), (state, reason), "{status}");
        assert_eq!(
            (after.attempts, after.next_at.is_some()),
            (1, state == Pending),
            "{status}"
        );
        let last = after.last.unwrap();
        assert_eq!((last.at, last.status, last.millis), (now, Some(status), 5));
    }
    // The last attempt counts as well.
    assert_eq!(message(9).after(answered(200), now, 0.5).1, None);
    assert_eq!(message(9).after(answered(410), now, 0.5).1, Some(PauseReason::Gone));
    let (after, _) = message(0).after(Attempt::failed("no answer", Duration::MAX), now, 0.5);
    assert_eq!((after.state, after.last.unwrap().millis), (Pending, u64::MAX));
}

#[test]
fn long_reasons_are_cut_between_characters() {
    for (reason, length) in [
        ("x".repeat(400), MAX_REASON_BYTES),
        ("日本".repeat(100), 300),
        ("é".repeat(151), 300),
    ] {
        let kept = Attempt::failed(reason.clone(), Duration::ZERO).reason.unwrap();
        assert_eq!(kept.len(), length);
        assert!(reason.starts_with(&kept));
    }
    let odd = format!("x{}", "日".repeat(100));
    assert_eq!(Attempt::failed(odd, Duration::ZERO).reason.unwrap().len(), 298);
}

#[test]
fn a_replayed_message_keeps_its_id_and_its_last_attempt() {
    let now = time("2026-07-03T12:00:00Z");
    let (failed, _) = message(9).after(answered(500), now, 0.5);
    let later = time("2026-07-04T12:00:00Z");
    let replayed = failed.replayed(later);
    assert_eq!(
        (&*replayed.id, &replayed.event, &replayed.last),
        ("msg_1", &failed.event, &failed.last)
    );
    assert_eq!((replayed.state, replayed.attempts), (DeliveryState::Pending, 0));
    assert_eq!(replayed.next_at, Some(later));
}

proptest! {
    #[test]
    fn no_numbers_lead_out_of_the_table(attempts: u32, status: u16, wanted: Option<u64>, jitter: f64, now: i64) {
        let now = Timestamp::from_millis(now);
        let attempt = answered(status).with_retry_after(wanted.map(Duration::from_secs));
        let (after, _) = message(attempts).after(attempt, now, jitter);
        prop_assert!(after.next_at.is_none_or(|next| next >= now));
        prop_assert_eq!(after.next_at.is_some(), after.state == DeliveryState::Pending);
    }
}

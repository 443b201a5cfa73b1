//! Recording attempts.

use std::time::Duration;

use agcore_webhook::{Attempt, DeliveryState, Timestamp};

use super::opened::{DAYS, LENGTH, answered, hook, open};
use crate::stores::WebhookStoreSubject;

/// Returns an attempt as it is kept: how long the receiver wants the sender to wait is not.
fn recorded(mut attempt: Attempt, at: Timestamp) -> Attempt {
    (attempt.at, attempt.retry_after) = (at, None);
    attempt
}

/// Checks that a message that was accepted is kept with the attempt, and is not sent again.
pub async fn a_delivered_message_is_not_sent_again(subject: &dyn WebhookStoreSubject) {
    let opened = open(subject).await;
    let webhook = opened.create(hook("w")).await;
    opened.complete("r").await;
    let claimed = opened.claim_one("a").await;
    assert!(opened.record(&claimed, answered(204)).await);
    let message = opened.message("w").await;
    assert_eq!((message.state, message.attempts), (DeliveryState::Delivered, 1));
    assert_eq!((message.next_at, &message.event), (None, &claimed.delivery.event));
    let last = message.last.clone().unwrap();
    assert!(last.at >= message.event.at, "the store sets the time: {last:?}");
    assert_eq!(last, recorded(answered(204), last.at));
    assert_eq!(opened.get("w").await, webhook, "messages change no webhook");

    opened.pass(DAYS).await;
    opened.claim_none("b").await;
    assert!(!opened.record(&claimed, answered(500)).await, "the claim is over");
    assert_eq!(opened.message("w").await, message);
}

/// Checks that a message that was not accepted is sent again when its pause is over, with the same id, and not before.
pub async fn a_failed_attempt_is_repeated_later(subject: &dyn WebhookStoreSubject) {
    let opened = open(subject).await;
    opened.create(hook("w")).await;
    opened.complete("r").await;
    let first = opened.claim_one("a").await;
    let attempt = Attempt::failed("no answer", Duration::from_millis(15_000));
    assert!(opened.record(&first, attempt.clone()).await);
    let message = opened.message("w").await;
    let last = message.last.clone().unwrap();
    assert_eq!((message.state, message.attempts), (DeliveryState::Pending, 1));
    assert_eq!(last, recorded(attempt, last.at));
    let wait = message.next_at.unwrap().since(last.at);
    assert!((4000..=6000).contains(&wait.as_millis()), "{wait:?}");
    opened.claim_none("b").await;
    opened.pass(7).await;

    let second = opened.claim_one("c").await;
    assert_eq!(
        (&*second.delivery.id, second.delivery.attempts),
        (&*first.delivery.id, 1)
    );
    // The receiver asks for more time than the sender would have taken.
    let wanted = Duration::from_secs(1000);
    let busy = answered(503).with_retry_after(Some(wanted));
    assert!(opened.record(&second, busy).await);
    let message = opened.message("w").await;
    let last = message.last.unwrap();
    assert_eq!((message.attempts, last.status, last.reason), (2, Some(503), None));
    assert_eq!(message.next_at.unwrap().since(last.at), wanted);
    opened.pass(990).await;
    opened.claim_none("d").await;
    opened.pass(11).await;
    assert_eq!(opened.claim_one("e").await.delivery.attempts, 2);
}

/// Checks that no character of a reason has a meaning, and that it is kept although it is long.
pub async fn reasons_are_data(subject: &dyn WebhookStoreSubject) {
    let opened = open(subject).await;
    opened.create(hook("w")).await;
    opened.complete("r").await;
    let reasons = ["%_'\";--\\\0\u{10}\n日本 😀".to_owned(), "日本".repeat(1 << 19)];
    for (number, reason) in reasons.into_iter().enumerate() {
        let claimed = opened.claim_one(&number.to_string()).await;
        let attempt = Attempt::failed(reason, Duration::MAX);
        assert!(opened.record(&claimed, attempt.clone()).await);
        let last = opened.message("w").await.last.unwrap();
        assert_eq!(last.reason, attempt.reason);
        opened.pass(DAYS).await;
    }
}

/// Checks that an attempt of a process that has lost its claim changes nothing, that one whose claim has only expired counts, and
/// that there is nothing to record for what was deleted.
pub async fn a_lost_claim_records_nothing(subject: &dyn WebhookStoreSubject) {
    let opened = open(subject).await;
    let webhook = opened.create(hook("w")).await;
    opened.complete("r").await;
    let lost = opened.claim_one("a").await;
    opened.pass(LENGTH.as_secs() + 1).await;
    let held = opened.claim_one("b").await;
    let before = opened.message("w").await;
    for status in [200, 410, 500] {
        assert!(!opened.record(&lost, answered(status)).await);
    }
    assert_eq!(opened.message("w").await, before);
    assert_eq!(opened.get("w").await, webhook);
    opened.claim_none("c").await;

    opened.pass(LENGTH.as_secs() + 1).await;
    assert!(
        opened.record(&held, answered(200)).await,
        "no other process has claimed it"
    );
    assert_eq!(opened.message("w").await.state, DeliveryState::Delivered);
    opened.complete("second").await;
    let claimed = opened.claim_one("d").await;
    assert!(opened.store.delete_webhook("acme", "w").await.unwrap());
    assert!(!opened.record(&claimed, answered(200)).await);
    opened.create(hook("w")).await;
    assert!(!opened.record(&claimed, answered(410)).await);
    assert_eq!(
        (opened.get("w").await.paused, opened.messages("w").await),
        (None, vec![])
    );
}

//! Webhooks that their messages pause.

use agcore_webhook::{Delivery, DeliveryState, MAX_ATTEMPTS, PauseReason, WebhookChange};

use super::opened::{DAYS, answered, hook, open, runs};
use crate::stores::WebhookStoreSubject;

/// Checks that a receiver that wants no more messages gets none: its webhook is paused, and what waits is not sent.
pub async fn a_receiver_that_is_gone_pauses_its_webhook(subject: &dyn WebhookStoreSubject) {
    let opened = open(subject).await;
    let before = opened.create(hook("w")).await;
    opened.create(hook("other")).await;
    opened.complete("r").await;
    let claimed = opened.claim("a", 10).await;
    let claimed = claimed.iter().find(|claimed| claimed.webhook.id == "w").unwrap();
    opened.complete("waits").await;
    assert!(opened.record(claimed, answered(410)).await);
    let [waiting, message] = opened.messages("w").await.try_into().unwrap();
    assert_eq!((message.state, message.next_at), (DeliveryState::Failed, None));
    assert_eq!(waiting.state, DeliveryState::Pending);
    let paused = opened.get("w").await;
    assert_eq!(paused, before.paused_for(PauseReason::Gone, paused.updated_at));
    assert_eq!(paused.revision, 2);
    opened.complete("later").await;
    opened.pass(60).await;
    let claimed = opened.claim("b", 10).await;
    assert!(
        claimed.iter().all(|claimed| claimed.webhook.id == "other"),
        "{claimed:?}"
    );
    assert_eq!(opened.get("other").await.paused, None);

    // Who pauses it meanwhile decides the reason, and who resumes it gets what waits.
    let resumed = opened
        .store
        .change_webhook("acme", "w", 2, WebhookChange::new().resumed());
    assert_eq!(resumed.await.unwrap().paused, None);
    let claimed = opened.claim_one("c").await;
    assert_eq!(claimed.delivery.id, waiting.id);
    let requested = opened
        .store
        .change_webhook("acme", "w", 3, WebhookChange::new().paused());
    let requested = requested.await.unwrap();
    assert!(opened.record(&claimed, answered(410)).await);
    assert_eq!(opened.get("w").await, requested);
}

/// Checks that a message is given up after its last attempt, and that its webhook is paused then and not before.
pub async fn the_last_attempt_pauses_the_webhook(subject: &dyn WebhookStoreSubject) {
    let opened = open(subject).await;
    opened.create(hook("w")).await;
    opened.complete("r").await;
    for attempt in 1..=MAX_ATTEMPTS {
        assert_eq!(opened.get("w").await.paused, None);
        let claimed = opened.claim_one(&attempt.to_string()).await;
        assert_eq!(claimed.delivery.attempts, attempt - 1);
        assert!(opened.record(&claimed, answered(500)).await);
        opened.pass(DAYS).await;
    }
    let message = opened.message("w").await;
    assert_eq!((message.state, message.next_at), (DeliveryState::Failed, None));
    assert_eq!(message.attempts, MAX_ATTEMPTS);
    let paused = opened.get("w").await;
    assert_eq!((paused.paused, paused.revision), (Some(PauseReason::Failing), 2));
    opened.complete("later").await;
    assert_eq!(runs(&opened.messages("w").await), ["r"]);
    opened.claim_none("last").await;
}

/// Checks that a message that is given up does not pause its webhook if the receiver has accepted one that came after it.
pub async fn a_message_that_others_pass_does_not_pause_the_webhook(subject: &dyn WebhookStoreSubject) {
    let opened = open(subject).await;
    opened.create(hook("w")).await;
    opened.create(hook("other")).await;
    opened.complete("bad").await;
    for attempt in 1..=MAX_ATTEMPTS {
        if attempt == MAX_ATTEMPTS {
            opened.complete("good").await;
        }
        let claimed = opened.claim(&attempt.to_string(), 10).await;
        // One of the receivers accepts no message at all.
        let status = |webhook: &str, run: Option<&str>| match (webhook, run) {
            ("w", Some("good")) => 204,
            _ => 500,
        };
        // The newer message first.
        for claimed in claimed.iter().rev() {
            let run = claimed.delivery.event.run.as_ref().map(|run| &*run.run);
            assert!(opened.record(claimed, answered(status(&claimed.webhook.id, run))).await);
        }
        opened.pass(DAYS).await;
    }
    let states = |messages: Vec<Delivery>| messages.iter().map(|message| message.state).collect::<Vec<_>>();
    let given_up = [DeliveryState::Delivered, DeliveryState::Failed];
    assert_eq!(states(opened.messages("w").await), given_up);
    assert_eq!(opened.get("w").await.paused, None);
    let given_up = [DeliveryState::Pending, DeliveryState::Failed];
    assert_eq!(states(opened.messages("other").await), given_up);
    assert_eq!(opened.get("other").await.paused, Some(PauseReason::Failing));
}

/// Checks that a webhook that got another URL since a message was claimed is not paused because of the old one.
pub async fn a_new_url_is_not_paused_for_the_old_one(subject: &dyn WebhookStoreSubject) {
    let opened = open(subject).await;
    opened.create(hook("w")).await;
    opened.complete("r").await;
    let claimed = opened.claim_one("a").await;
    let change = WebhookChange::new().with_url("https://example.com/new");
    let changed = opened.store.change_webhook("acme", "w", 1, change).await.unwrap();
    assert!(opened.record(&claimed, answered(410)).await);
    assert_eq!(opened.get("w").await, changed);
    assert_eq!(opened.message("w").await.state, DeliveryState::Failed);

    // A change of anything else makes no difference.
    opened.complete("second").await;
    let claimed = opened.claim_one("b").await;
    assert_eq!(claimed.webhook, changed);
    let change = WebhookChange::new().with_title("new");
    opened.store.change_webhook("acme", "w", 2, change).await.unwrap();
    assert!(opened.record(&claimed, answered(410)).await);
    let paused = opened.get("w").await;
    assert_eq!(
        (paused.paused, paused.title.as_deref()),
        (Some(PauseReason::Gone), Some("new"))
    );
}

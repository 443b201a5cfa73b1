//! Only the last messages of a webhook are kept.

use std::sync::Arc;

use agcore_testkit::clock::ManualClock;
use agcore_webhook::{Actor, DeliveryFilter, InMemoryWebhooks, KEPT_DELIVERIES, NewWebhook, Timestamp, WebhookStore};

use super::secret;

#[tokio::test]
async fn the_last_messages_of_each_webhook_are_kept() {
    let store = InMemoryWebhooks::new(Arc::new(ManualClock::new()));
    let actor = Actor::local();
    for id in ["busy", "quiet"] {
        let new = NewWebhook::new(id, "https://example.com/", secret(1));
        store.create_webhook(new).await.unwrap();
        store.run_changed(&actor, "t", id, "completed", Timestamp::default());
    }
    store.delete_webhook("local", "quiet").await.unwrap();
    let quiet = NewWebhook::new("quiet", "https://example.com/", secret(1)).with_owner(Actor::user("bo"));
    store.create_webhook(quiet).await.unwrap();
    store.test_webhook("local", "quiet").await.unwrap();
    for number in 0..KEPT_DELIVERIES {
        store.run_changed(&actor, "t", &number.to_string(), "completed", Timestamp::default());
    }
    let kept = async |id: &str| store.deliveries("local", id, &DeliveryFilter::new()).await.unwrap();
    let busy = kept("busy").await;
    assert_eq!(busy.len() as u64, KEPT_DELIVERIES);
    let oldest = busy.last().unwrap().event.run.as_ref().unwrap();
    assert_eq!(oldest.run, "0");
    assert_eq!(kept("quiet").await.len(), 1);
}

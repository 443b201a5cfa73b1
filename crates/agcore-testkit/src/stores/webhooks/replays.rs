//! Messages that are asked for, and their lists.

use agcore_session::{Commit, RunChange, RunStatus};
use agcore_webhook::{DeliveryFilter, DeliveryState, EventKind, WebhookChange, WebhookErrorKind, WebhookEvent};

use super::opened::{LENGTH, ann, answered, hook, open, runs};
use crate::stores::WebhookStoreSubject;

/// Checks that a message that was delivered or given up is sent again with the same id, and has all its attempts then.
pub async fn replays_what_is_over(subject: &dyn WebhookStoreSubject) {
    let opened = open(subject).await;
    opened.create(hook("w")).await;
    opened.create(hook("other").paused()).await;
    opened.complete("r").await;
    for (number, status) in [200, 410].into_iter().enumerate() {
        let claimed = opened.claim_one(&number.to_string()).await;
        assert!(opened.record(&claimed, answered(status)).await);
        let before = opened.message("w").await;
        assert_eq!(before.attempts, 1);
        let replayed = opened.store.replay("acme", "w", &before.id).await.unwrap();
        assert!(
            replayed.next_at.is_some_and(|next| next >= before.event.at),
            "{replayed:?}"
        );
        assert_eq!(replayed, before.replayed(replayed.next_at.unwrap()));
        assert_eq!(opened.message("w").await, replayed);
        assert!(!opened.record(&claimed, answered(200)).await, "the claim is over");
    }
    // A webhook that is paused is not sent what was asked for until it is resumed.
    opened.claim_none("paused").await;
    let resumed = opened
        .store
        .change_webhook("acme", "w", 2, WebhookChange::new().resumed());
    resumed.await.unwrap();
    let id = opened.claim_one("resumed").await.delivery.id;
    for (webhook, delivery) in [
        ("w", "msg_none"),
        ("w", ""),
        ("w", "a\0"),
        ("other", &*id),
        ("none", &id),
    ] {
        let missing = opened.store.replay("acme", webhook, delivery).await;
        assert_eq!(
            missing.unwrap_err().kind(),
            WebhookErrorKind::NotFound,
            "{webhook} {delivery:?}"
        );
    }
}

/// Checks that a message that waits for its next attempt is sent at once, and one that a process is sending is left to it.
pub async fn replays_what_is_pending(subject: &dyn WebhookStoreSubject) {
    let opened = open(subject).await;
    opened.create(hook("w")).await;
    opened.complete("r").await;
    let claimed = opened.claim_one("a").await;
    let id = &*claimed.delivery.id;
    let same = opened.store.replay("acme", "w", id).await.unwrap();
    assert_eq!(
        (&same, &opened.message("w").await),
        (&claimed.delivery, &claimed.delivery)
    );
    opened.claim_none("b").await;
    assert!(
        opened.record(&claimed, answered(500)).await,
        "its process still has the claim"
    );
    opened.claim_none("c").await;

    let replayed = opened.store.replay("acme", "w", id).await.unwrap();
    assert_eq!((replayed.state, replayed.attempts), (DeliveryState::Pending, 0));
    let claimed = opened.claim_one("d").await;
    assert_eq!(claimed.delivery, replayed);
    // A process that died does not send it.
    opened.pass(LENGTH.as_secs() + 1).await;
    opened.store.replay("acme", "w", id).await.unwrap();
    assert!(!opened.record(&claimed, answered(200)).await, "its claim was given up");
    assert_eq!(opened.claim_one("e").await.delivery.id, id);
}

/// Checks that a test is a message like others, also to a webhook that wants no tests or is paused.
pub async fn a_test_is_a_message(subject: &dyn WebhookStoreSubject) {
    let opened = open(subject).await;
    let owner = ann().with_line("sales");
    opened.create(hook("w").with_owner(owner.clone())).await;
    opened.create(hook("paused").paused()).await;
    let sent = opened.store.test_webhook("acme", "w").await.unwrap();
    let event = WebhookEvent::test(sent.event.at, owner);
    assert_eq!((sent.event.kind, &sent.event), (EventKind::Test, &event));
    assert!(sent.id.starts_with("msg_"), "{}", sent.id);
    assert_eq!(opened.message("w").await, sent);
    let waiting = opened.store.test_webhook("acme", "paused").await.unwrap();
    assert_eq!(opened.message("paused").await, waiting);
    let missing = opened.store.test_webhook("acme", "none").await;
    assert_eq!(missing.unwrap_err().kind(), WebhookErrorKind::NotFound);

    let claimed = opened.claim_one("a").await;
    assert_eq!(claimed.delivery, sent);
    assert!(opened.record(&claimed, answered(200)).await);
    let resumed = opened
        .store
        .change_webhook("acme", "paused", 1, WebhookChange::new().resumed());
    resumed.await.unwrap();
    assert_eq!(opened.claim_one("b").await.delivery, waiting);
}

/// Checks that a list has the messages of a webhook that were asked for, newest first, page by page.
pub async fn lists_messages_newest_first(subject: &dyn WebhookStoreSubject) {
    let opened = open(subject).await;
    opened.create(hook("w")).await;
    opened.create(hook("other")).await;
    // Those of one commit have the same time.
    let many = ["1", "2", "3"].map(|run| RunChange::new(run, RunStatus::Completed));
    let commit = many.into_iter().fold(Commit::new(), Commit::with_run);
    opened.commit(&ann(), "t", commit).await.unwrap();
    for run in ["4", "5"] {
        opened.complete(run).await;
    }
    let all = opened.messages("w").await;
    assert_eq!(runs(&all), ["5", "4", "3", "2", "1"]);
    let [five, four, three, ..] = &*all else { unreachable!() };
    for claimed in opened.claim("a", 10).await {
        let run = claimed.delivery.event.run.as_ref().unwrap();
        let status = if matches!(&*run.run, "1" | "4") { 200 } else { 500 };
        assert!(opened.record(&claimed, answered(status)).await);
    }
    let list = async |filter: DeliveryFilter| opened.store.deliveries("acme", "w", &filter).await.unwrap();
    let ids = async |filter| list(filter).await.into_iter().map(|found| found.id).collect::<Vec<_>>();
    let filter = DeliveryFilter::new;
    let expected = |from: usize| all[from..].iter().map(|message| message.id.clone()).collect::<Vec<_>>();
    assert_eq!(ids(filter()).await, expected(0));
    assert_eq!(ids(filter().with_limit(2)).await, [&*five.id, &*four.id]);
    assert_eq!(ids(filter().before(&*four.id)).await, expected(2));
    assert_eq!(ids(filter().before(&*four.id).with_limit(1)).await, [&*three.id]);
    assert_eq!(ids(filter().with_limit(0)).await, [""; 0]);
    assert_eq!(ids(filter().before("msg_none")).await, [""; 0]);
    assert_eq!(ids(filter().with_id(&*four.id)).await, [&*four.id]);
    assert_eq!(ids(filter().with_id(&*four.id).before(&*three.id)).await, [""; 0]);
    let stored = list(filter()).await;
    for state in DeliveryState::ALL {
        let expected: Vec<_> = stored
            .iter()
            .filter(|message| message.state == state)
            .cloned()
            .collect();
        assert_eq!(list(filter().with_state(state)).await, expected);
        assert_eq!(expected.is_empty(), state == DeliveryState::Failed);
    }
    let other = opened
        .store
        .deliveries("acme", "other", &filter().with_id(&*four.id))
        .await;
    assert_eq!(other.unwrap(), []);
    assert_eq!(opened.messages("none").await, []);
}

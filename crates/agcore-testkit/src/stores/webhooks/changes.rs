//! Changing webhooks.

use std::time::Duration;

use agcore_webhook::{
    EventKind, EventKinds, PauseReason, PreviousSecret, WebhookChange, WebhookErrorKind, WebhookScope,
};
use futures_util::future::join;

use super::opened::{hook, open, runs, secret};
use crate::stores::WebhookStoreSubject;

/// Checks that a change sets what it contains, leaves everything else alone, and is refused as a whole if the result is not
/// acceptable.
pub async fn changes_what_is_set(subject: &dyn WebhookStoreSubject) {
    let opened = open(subject).await;
    let new = hook("w").with_title("old").with_scope(WebhookScope::Tenant);
    let before = opened.create(new).await;
    opened.pass(60).await;
    let failures = EventKinds::from(EventKind::RunFailed);
    let change = WebhookChange::new()
        .with_title("new")
        .with_url("https://example.com/new")
        .with_events(failures);
    let after = opened.store.change_webhook("acme", "w", 1, change).await.unwrap();
    assert_eq!(opened.get("w").await, after);
    assert_eq!((after.title.as_deref(), after.events), (Some("new"), failures));
    assert_eq!((&*after.url, after.revision), ("https://example.com/new", 2));
    assert_eq!((&after.owner, after.scope), (&before.owner, before.scope));
    assert_eq!((&after.secret, &after.previous_secret), (&before.secret, &None));
    assert_eq!((after.created_at, after.paused), (before.created_at, None));
    assert!(after.updated_at >= before.updated_at);

    let untitled = WebhookChange::new().without_title();
    let after = opened.store.change_webhook("acme", "w", 2, untitled).await.unwrap();
    assert_eq!((&after.title, after.events), (&None, failures));
    assert_eq!(opened.get("w").await, after);
    let refused = WebhookChange::new().with_title("x").with_url("example.com");
    let error = opened.store.change_webhook("acme", "w", 3, refused).await.unwrap_err();
    assert_eq!(error.kind(), WebhookErrorKind::InvalidInput);
    assert_eq!(opened.get("w").await, after);
}

/// Checks that a change is made to the revision that its writer has read only.
pub async fn of_two_changes_one_wins(subject: &dyn WebhookStoreSubject) {
    let opened = open(subject).await;
    let title = |title: &str| WebhookChange::new().with_title(title);
    let missing = opened.store.change_webhook("acme", "w", 1, title("a")).await;
    assert_eq!(missing.unwrap_err().kind(), WebhookErrorKind::NotFound);
    opened.create(hook("w")).await;
    for revision in 1..=20 {
        let changes = join(
            opened.store.change_webhook("acme", "w", revision, title("a")),
            opened.other.change_webhook("acme", "w", revision, title("b")),
        );
        let (one, other) = changes.await;
        let (won, lost) = if one.is_ok() { (one, other) } else { (other, one) };
        assert_eq!(opened.get("w").await, won.unwrap());
        let (expected, found) = (revision, revision + 1);
        let kind = lost.unwrap_err().kind();
        assert_eq!(kind, WebhookErrorKind::Conflict { expected, found });
    }
}

/// Checks that the secret that was replaced last is kept with the time until which it is valid, and read by those who
/// send messages.
pub async fn a_secret_is_kept_after_it_is_replaced(subject: &dyn WebhookStoreSubject) {
    let opened = open(subject).await;
    opened.create(hook("w")).await;
    opened.complete("r").await;
    let (hour, day) = (Duration::from_secs(3600), Duration::from_secs(24 * 3600));
    for (revision, (number, overlap)) in (1..).zip([(8, hour), (9, day)]) {
        let change = WebhookChange::new().with_secret(secret(number), overlap);
        let changed = opened.store.change_webhook("acme", "w", revision, change).await;
        let changed = changed.unwrap();
        assert_eq!(changed.secret, secret(number));
        let previous = PreviousSecret::new(secret(number - 1), changed.updated_at.after(overlap));
        assert_eq!(changed.previous_secret, Some(previous));
        assert_eq!(opened.get("w").await, changed);
    }
    let claimed = opened.claim_one("a").await;
    assert_eq!(claimed.webhook, opened.get("w").await);
    let now = claimed.webhook.updated_at;
    let signatures = claimed.webhook.signatures("msg_1", now, "{}");
    let expected = [secret(9), secret(8)].map(|secret| secret.sign("msg_1", now, "{}"));
    assert_eq!(signatures, expected.join(" "));

    let at_once = WebhookChange::new().with_secret(secret(1), Duration::ZERO);
    let changed = opened.store.change_webhook("acme", "w", 3, at_once).await.unwrap();
    assert_eq!((&changed.secret, &changed.previous_secret), (&secret(1), &None));
    assert_eq!(opened.get("w").await, changed);
}

/// Checks that a paused webhook gets no messages, and that those which it had before wait until it is resumed.
pub async fn a_paused_webhook_gets_no_messages(subject: &dyn WebhookStoreSubject) {
    let opened = open(subject).await;
    opened.create(hook("w")).await;
    opened.create(hook("never sent").paused()).await;
    opened.complete("before").await;
    let paused = opened
        .store
        .change_webhook("acme", "w", 1, WebhookChange::new().paused());
    let paused = paused.await.unwrap();
    assert_eq!((paused.paused, paused.revision), (Some(PauseReason::Requested), 2));
    assert_eq!(opened.get("w").await, paused);
    opened.complete("meanwhile").await;
    opened.pass(3600).await;
    opened.claim_none("a").await;

    let resumed = opened
        .store
        .change_webhook("acme", "w", 2, WebhookChange::new().resumed());
    assert_eq!(resumed.await.unwrap().paused, None);
    opened.pass(1).await;
    opened.complete("after").await;
    let claimed = opened.claim("b", 10).await.into_iter();
    let claimed: Vec<_> = claimed.map(|claimed| claimed.delivery).collect();
    assert_eq!(runs(&claimed), ["before", "after"]);
    assert_eq!(runs(&opened.messages("w").await), ["after", "before"]);
    assert_eq!(opened.messages("never sent").await, []);
}

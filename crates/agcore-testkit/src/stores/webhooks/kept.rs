//! Creating, reading and deleting.

use agcore_session::{Actor, RunStatus};
use agcore_webhook::{
    DeliveryFilter, EventKind, EventKinds, NewWebhook, Webhook, WebhookChange, WebhookErrorKind, WebhookFilter,
    WebhookScope,
};

use super::opened::{ann, hook, open, runs, secret};
use crate::stores::WebhookStoreSubject;

/// Checks that a webhook is read as it was created.
pub async fn keeps_every_member(subject: &dyn WebhookStoreSubject) {
    let opened = open(subject).await;
    let owner = ann().with_line("sales");
    let events = EventKinds::from(EventKind::RunFailed) | EventKind::Test.into();
    let url = "http://127.0.0.1:8080/hook?a=1&b=%20";
    let new = NewWebhook::new("full", url, secret(1))
        .with_owner(owner.clone())
        .with_scope(WebhookScope::Tenant)
        .with_title("Title")
        .with_events(events)
        .paused();
    let created = opened.create(new.clone()).await;
    assert_eq!(created, new.restore(created.created_at));
    assert_eq!(opened.get("full").await, created);

    let plain = opened.create(hook("plain")).await;
    assert_eq!((plain.scope, &plain.title), (WebhookScope::Owner, &None));
    assert_eq!((plain.events, plain.paused), (EventKinds::runs(), None));
    assert_eq!(opened.get("plain").await, plain);
    assert_eq!(opened.store.webhook("acme", "none").await.unwrap(), None);
}

/// Checks that a webhook is not replaced by another one with its id.
pub async fn refuses_an_existing_id(subject: &dyn WebhookStoreSubject) {
    let opened = open(subject).await;
    let first = opened.create(hook("a")).await;
    let again = opened.other.create_webhook(hook("a").with_title("b")).await;
    assert_eq!(again.unwrap_err().kind(), WebhookErrorKind::AlreadyExists);
    assert_eq!(opened.get("a").await, first);
}

/// Checks that webhooks that no store can keep, and those to which nothing can be sent, are refused.
pub async fn refuses_unacceptable_webhooks(subject: &dyn WebhookStoreSubject) {
    let opened = open(subject).await;
    let to = |url: &str| NewWebhook::new("a", url, secret(1)).with_owner(ann());
    let unacceptable = [
        hook(""),
        hook("a\0"),
        hook("a\n"),
        hook(&"x".repeat(101)),
        hook(&"x".repeat(2 << 20)),
        hook("a").with_owner(Actor::new("", "ann")),
        hook("a").with_owner(Actor::new("acme", "ann\0")),
        hook("a").with_title("x".repeat(2 << 20)),
        hook("a").with_events(EventKinds::from_bits(0)),
        to(""),
        to("example.com"),
        to("ftp://example.com/"),
        to("https://ann:pass@example.com/"),
        to("https://example.com/#part"),
        to("https://example.com/\0"),
        to(&format!("https://example.com/{}", "x".repeat(2 << 20))),
    ];
    for new in unacceptable {
        let refused = opened.store.create_webhook(new.clone()).await;
        let kind = refused.unwrap_err().kind();
        assert_eq!(kind, WebhookErrorKind::InvalidInput, "{:.100}", format!("{new:?}"));
    }
    let all = WebhookFilter::new("acme");
    assert!(opened.store.webhooks(&all).await.unwrap().is_empty());
}

/// Checks that tenants have ids of their own, and see nothing of each other.
pub async fn keeps_tenants_apart(subject: &dyn WebhookStoreSubject) {
    let opened = open(subject).await;
    for tenant in ["a", "b"] {
        opened.create(hook("w").with_owner(Actor::new(tenant, "ann"))).await;
    }
    let sent = opened.store.test_webhook("a", "w").await.unwrap();
    let all = DeliveryFilter::new();
    assert!(opened.store.deliveries("b", "w", &all).await.unwrap().is_empty());
    let other = opened.store.replay("b", "w", &sent.id).await;
    assert_eq!(other.unwrap_err().kind(), WebhookErrorKind::NotFound);
    assert_eq!(opened.store.webhooks(&WebhookFilter::new("a")).await.unwrap().len(), 1);
    let change = WebhookChange::new().with_title("changed");
    opened.store.change_webhook("a", "w", 1, change).await.unwrap();
    assert!(!opened.store.delete_webhook("c", "w").await.unwrap());
    let other = opened.store.webhook("b", "w").await.unwrap().unwrap();
    assert_eq!((other.revision, other.tenant()), (1, "b"));
    assert!(opened.store.delete_webhook("a", "w").await.unwrap());
    assert_eq!(opened.store.webhook("b", "w").await.unwrap(), Some(other));
}

/// Checks that no character of an id, a title or a name has a meaning.
pub async fn special_characters_are_data(subject: &dyn WebhookStoreSubject) {
    let opened = open(subject).await;
    let odd = "%_'\";--\\ 日本 😀";
    let owner = Actor::new(odd, odd).with_line(odd);
    let new = NewWebhook::new(
        odd,
        format!("https://example.com/日本?{}'\"\\", "x".repeat(1900)),
        secret(1),
    )
    .with_owner(owner.clone())
    .with_title(format!("{odd}\0\u{10}\n"));
    let created = opened.create(new.clone()).await;
    let found = opened.other.webhook(odd, odd).await.unwrap().unwrap();
    assert_eq!(found, created);
    assert_eq!((found.title, found.url), (new.title, new.url));
    opened.run(&owner, (odd, odd), RunStatus::Completed).await;
    let [message] = opened.claim("a", 10).await.try_into().unwrap();
    let run = message.delivery.event.run.unwrap();
    assert_eq!(
        (&*run.thread, &*run.run, message.delivery.event.owner),
        (odd, odd, owner)
    );
    let long = "x".repeat(2 << 20);
    for unknown in ["a\0", &*long] {
        assert_eq!(opened.store.webhook(unknown, odd).await.unwrap(), None);
        assert_eq!(opened.store.webhook(odd, unknown).await.unwrap(), None);
        assert!(!opened.store.delete_webhook(odd, unknown).await.unwrap());
        let filter = DeliveryFilter::new().with_id(unknown);
        assert_eq!(opened.store.deliveries(odd, odd, &filter).await.unwrap(), []);
    }
}

/// Checks that a list has the webhooks of a tenant or a user in the order of their ids, page by page.
pub async fn lists_pages_by_id(subject: &dyn WebhookStoreSubject) {
    let opened = open(subject).await;
    for (id, user) in [("c", "ann"), ("a", "bo"), ("B", "ann"), ("b", "ann")] {
        opened.create(hook(id).with_owner(Actor::new("acme", user))).await;
    }
    opened.create(hook("x").with_owner(Actor::new("other", "ann"))).await;
    let ids = async |filter: WebhookFilter| {
        let found = opened.store.webhooks(&filter).await.unwrap().into_iter();
        found.map(|webhook: Webhook| webhook.id).collect::<Vec<_>>()
    };
    let all = WebhookFilter::new("acme");
    assert_eq!(ids(all.clone()).await, ["B", "a", "b", "c"]);
    assert_eq!(ids(all.clone().with_limit(2)).await, ["B", "a"]);
    assert_eq!(ids(all.clone().after("a").with_limit(2)).await, ["b", "c"]);
    assert_eq!(ids(all.clone().after("aa")).await, ["b", "c"]);
    assert_eq!(ids(all.clone().with_user("ann")).await, ["B", "b", "c"]);
    assert_eq!(ids(all.with_user("an")).await, [""; 0]);
}

/// Checks that nothing of a deleted webhook is left, and that its messages are not sent any more.
pub async fn deletes_with_all_messages(subject: &dyn WebhookStoreSubject) {
    let opened = open(subject).await;
    opened.create(hook("w")).await;
    opened.create(hook("other")).await;
    opened.complete("r").await;
    assert!(opened.store.delete_webhook("acme", "w").await.unwrap());
    assert!(!opened.store.delete_webhook("acme", "w").await.unwrap());
    assert_eq!(opened.store.webhook("acme", "w").await.unwrap(), None);
    assert_eq!(opened.messages("w").await, []);
    opened.create(hook("w")).await;
    assert_eq!(opened.messages("w").await, []);
    assert_eq!(opened.claim_one("a").await.webhook.id, "other");
}

/// Checks that erasing a user deletes the webhooks of the user in all lines of business, and the messages about threads of the
/// user, and nothing else.
pub async fn erases_a_user(subject: &dyn WebhookStoreSubject) {
    let opened = open(subject).await;
    let (ann, bo) = (ann(), Actor::new("acme", "bo"));
    let sales = ann.clone().with_line("sales");
    let (an, other) = (Actor::new("acme", "an"), Actor::new("other", "ann"));
    let owners = [&ann, &sales, &an, &other];
    for (number, owner) in owners.into_iter().enumerate() {
        opened.create(hook(&number.to_string()).with_owner(owner.clone())).await;
    }
    let wide = hook("wide").with_owner(bo.clone()).with_scope(WebhookScope::Tenant);
    opened.create(wide).await;
    for (owner, run) in [(&ann, "plain"), (&bo, "of bo"), (&sales, "sales")] {
        opened.run(owner, (run, run), RunStatus::Completed).await;
    }
    opened.run(owners[3], ("other", "other"), RunStatus::Completed).await;
    assert_eq!(opened.messages("wide").await.len(), 3);
    assert_eq!(opened.store.erase_webhooks(&ann.with_line("unknown")).await.unwrap(), 2);
    let left = opened.store.webhooks(&WebhookFilter::new("acme")).await.unwrap();
    let ids: Vec<&str> = left.iter().map(|webhook| &*webhook.id).collect();
    assert_eq!(ids, ["2", "wide"]);
    assert_eq!(runs(&opened.messages("wide").await), ["of bo"]);
    let claimed = opened.claim("a", 10).await.into_iter();
    let mut claimed: Vec<String> = claimed.map(|claimed| claimed.webhook.id).collect();
    claimed.sort();
    assert_eq!(claimed, ["3", "wide"]);
}

//! Creating and changing webhooks.

use std::time::Duration;

use agcore_webhook::{
    Actor, EventKind, EventKinds, MAX_URL_BYTES, NewWebhook, PauseReason, Timestamp, Webhook, WebhookChange,
    WebhookError, WebhookErrorKind, WebhookScope,
};

use super::{secret, time};

fn to(url: &str) -> Result<Webhook, WebhookError> {
    NewWebhook::new("w", url, secret(1)).store(Timestamp::default())
}

#[test]
fn urls_of_servers_are_accepted() {
    let longest = format!("https://example.com/{}", "x".repeat(MAX_URL_BYTES - 20));
    for url in [
        "https://example.com",
        "http://127.0.0.1:8080/hook?a=1&b=2",
        "https://[::1]/",
        "https://例え.jp/フック?日=本",
        "HTTPS://EXAMPLE.COM/",
        &longest,
    ] {
        assert_eq!(to(url).unwrap().url, url, "the text stays as it was entered");
    }
}

#[test]
fn other_urls_are_refused_with_the_reason() {
    let long = format!("https://example.com/{}", "x".repeat(MAX_URL_BYTES));
    for (url, reason) in [
        ("", "not valid"),
        ("example.com/hook", "not valid"),
        ("/hook", "not valid"),
        ("https://", "not valid"),
        ("ftp://example.com/", "https://"),
        ("file:///etc/passwd", "https://"),
        ("mailto:ann@example.com", "https://"),
        ("https://ann@example.com/", "user name"),
        ("https://:pass@example.com/", "user name"),
        ("https://example.com/#part", "`#`"),
        ("https://example.com/a b", "space"),
        (" https://example.com/", "space"),
        ("https://exam\nple.com/", "control"),
        ("https://example.com/\0", "control"),
        (&long, "at most 2048"),
    ] {
        let error = to(url).unwrap_err();
        assert_eq!(error.kind(), WebhookErrorKind::InvalidInput, "{url}");
        assert!(error.message().contains(reason), "{url}: {error}");
    }
}

#[test]
fn a_webhook_wants_chosen_events_in_its_scope_unless_it_is_paused() {
    let sales = Actor::new("acme", "ann").with_line("sales");
    let new = NewWebhook::new("w", "https://example.com/", secret(1))
        .with_owner(sales.clone())
        .with_events(EventKind::RunFailed.into());
    let own = new.clone().store(Timestamp::default()).unwrap();
    let wide = new.clone().with_scope(WebhookScope::Tenant);
    let wide = wide.store(Timestamp::default()).unwrap();
    let paused = new.paused().store(Timestamp::default()).unwrap();
    let wants = |owner: &Actor| [&own, &wide, &paused].map(|webhook| webhook.wants(EventKind::RunFailed, owner));
    assert_eq!(wants(&sales), [true, true, false]);
    assert_eq!(wants(&Actor::new("acme", "ann")), [false, true, false]);
    assert_eq!(
        wants(&Actor::new("acme", "bo").with_line("sales")),
        [false, true, false]
    );
    assert_eq!(wants(&Actor::new("other", "ann").with_line("sales")), [false; 3]);
    assert!(!own.wants(EventKind::RunCompleted, &sales));
}

#[test]
fn a_change_keeps_what_it_does_not_name() {
    let now = time("2026-07-03T12:00:00Z");
    let before = NewWebhook::new("w", "https://example.com/", secret(1)).with_title("title");
    let before = before.store(now).unwrap();
    // The clock has gone backwards.
    let earlier = time("2026-07-03T11:00:00Z");
    let after = WebhookChange::new().apply(&before, earlier).unwrap();
    let mut expected = before.clone();
    expected.revision = 2;
    assert_eq!(after, expected);
    let later = now.after(Duration::from_secs(1));
    let paused = WebhookChange::new().paused().apply(&before, later).unwrap();
    assert_eq!(
        (paused.paused, paused.updated_at),
        (Some(PauseReason::Requested), later)
    );
    let none = WebhookChange::new().with_events(EventKinds::from_bits(0));
    assert_eq!(
        none.apply(&before, now).unwrap_err().kind(),
        WebhookErrorKind::InvalidInput
    );
}

#[test]
fn a_reason_to_pause_does_not_replace_another_one() {
    let now = time("2026-07-03T12:00:00Z");
    let webhook = NewWebhook::new("w", "https://example.com/", secret(1))
        .store(now)
        .unwrap();
    let gone = webhook.paused_for(PauseReason::Gone, now);
    assert_eq!((gone.paused, gone.revision), (Some(PauseReason::Gone), 2));
    assert_eq!(gone.paused_for(PauseReason::Failing, now), gone);
    let requested = WebhookChange::new().paused().apply(&gone, now).unwrap();
    assert_eq!(requested.paused, Some(PauseReason::Gone));
    let resumed = WebhookChange::new().resumed().apply(&gone, now).unwrap();
    assert_eq!(resumed.paused, None);
}

#[test]
fn webhooks_survive_json() {
    let new = NewWebhook::new("w", "https://example.com/", secret(1))
        .with_title("title")
        .paused();
    let mut webhook = new.store(time("2026-07-03T12:00:00Z")).unwrap();
    let change = WebhookChange::new().with_secret(secret(2), Duration::from_secs(60));
    for _ in 0..2 {
        let json = serde_json::to_string(&webhook).unwrap();
        assert_eq!(serde_json::from_str::<Webhook>(&json).unwrap(), webhook);
        webhook = change.clone().apply(&webhook, webhook.updated_at).unwrap();
    }
}

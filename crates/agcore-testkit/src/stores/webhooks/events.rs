//! Events that cause messages.

use agcore_session::{Actor, Commit, RunChange, RunStatus};
use agcore_webhook::{
    Delivery, DeliveryState, EventKind, EventKinds, EventRun, WebhookChange, WebhookEvent, WebhookScope,
};

use super::opened::{ann, hook, open, runs};
use crate::stores::WebhookStoreSubject;

/// Returns the kinds of messages, oldest first.
fn kinds(newest_first: &[Delivery]) -> Vec<EventKind> {
    let oldest_first = newest_first.iter().rev();
    oldest_first.map(|delivery| delivery.event.kind).collect()
}

/// Checks that a run causes one message when it ends, fails, is cancelled or waits for a person, and none otherwise, and that the
/// message contains which run it was, whose, and when.
pub async fn each_end_of_a_run_is_an_event(subject: &dyn WebhookStoreSubject) {
    let opened = open(subject).await;
    opened.create(hook("w")).await;
    let ends = [
        (RunStatus::Completed, EventKind::RunCompleted),
        (RunStatus::Failed, EventKind::RunFailed),
        (RunStatus::Cancelled, EventKind::RunCancelled),
        (RunStatus::Interrupted, EventKind::RunInterrupted),
    ];
    for (number, (status, kind)) in ends.into_iter().enumerate() {
        let (thread, run) = (format!("thread {number}"), format!("run {number}"));
        for status in [RunStatus::Queued, RunStatus::Running] {
            opened.run(&ann(), (&thread, &run), status).await;
            assert_eq!(opened.messages("w").await.len(), number, "{status}");
        }
        opened.run(&ann(), (&thread, &run), status).await;
        let messages = opened.messages("w").await;
        assert_eq!(messages.len(), number + 1, "{status}");
        let message = &messages[0];
        // The time is that of the store, which need not be the one that the run has got.
        let event = WebhookEvent::new(kind, message.event.at, ann(), EventRun::new(&*thread, &*run));
        assert_eq!(*message, Delivery::new(&*message.id, event));
    }
}

/// Checks that a status that is stored again causes no message, that one which a run gets again does, and that a run that is stored
/// with its end causes one.
pub async fn a_status_is_reported_once(subject: &dyn WebhookStoreSubject) {
    let opened = open(subject).await;
    opened.create(hook("w")).await;
    let waits = [RunStatus::Running, RunStatus::Interrupted, RunStatus::Interrupted];
    for status in waits.into_iter().chain(waits).chain([RunStatus::Cancelled; 2]) {
        opened.run(&ann(), ("t", "r"), status).await;
    }
    let interrupted = EventKind::RunInterrupted;
    let expected = [interrupted, interrupted, EventKind::RunCancelled];
    assert_eq!(kinds(&opened.messages("w").await), expected);

    opened.complete("new").await;
    let all_at_once = Commit::new()
        .with_run(RunChange::new("one", RunStatus::Running))
        .with_run(RunChange::new("two", RunStatus::Failed))
        .with_run(RunChange::new("one", RunStatus::Completed));
    opened.commit(&ann(), "t", all_at_once).await.unwrap();
    // A commit without a run causes none.
    opened
        .commit(&ann(), "t", Commit::new().with_title("title"))
        .await
        .unwrap();
    let messages = opened.messages("w").await;
    assert_eq!(messages.len(), 6);
    let mut last = runs(&messages[..3]);
    last.sort_unstable();
    assert_eq!(last, ["new", "one", "two"]);
}

/// Checks that a webhook is notified about the events that were chosen, also after the choice was changed.
pub async fn only_chosen_events_are_reported(subject: &dyn WebhookStoreSubject) {
    let opened = open(subject).await;
    let failed = EventKinds::from(EventKind::RunFailed);
    opened.create(hook("w").with_events(failed)).await;
    opened.create(hook("tests").with_events(EventKind::Test.into())).await;
    let all = [
        RunStatus::Completed,
        RunStatus::Failed,
        RunStatus::Cancelled,
        RunStatus::Interrupted,
    ];
    for status in all {
        opened.run(&ann(), (status.as_str(), "first"), status).await;
    }
    assert_eq!(kinds(&opened.messages("w").await), [EventKind::RunFailed]);
    let others = EventKinds::from(EventKind::RunCancelled) | EventKind::RunInterrupted.into();
    let change = WebhookChange::new().with_events(others);
    opened.store.change_webhook("acme", "w", 1, change).await.unwrap();
    for status in all {
        opened.run(&ann(), (status.as_str(), "second"), status).await;
    }
    let expected = [EventKind::RunFailed, EventKind::RunCancelled, EventKind::RunInterrupted];
    assert_eq!(kinds(&opened.messages("w").await), expected);
    assert_eq!(opened.messages("tests").await, []);
}

/// Checks that a webhook is notified about the runs of its owner in the same line of business, or about all of its tenant, and
/// never about those of another tenant.
pub async fn the_scope_decides_whose_runs_are_reported(subject: &dyn WebhookStoreSubject) {
    let opened = open(subject).await;
    let sales = ann().with_line("sales");
    opened.create(hook("ann")).await;
    opened.create(hook("sales").with_owner(sales.clone())).await;
    let wide = hook("wide").with_scope(WebhookScope::Tenant);
    opened.create(wide.clone()).await;
    let owner = Actor::new("other", "ann");
    opened.create(wide.with_owner(owner.clone())).await;
    let owners = [
        ("ann", ann()),
        ("sales", sales),
        ("support", ann().with_line("support")),
        ("bo", Actor::new("acme", "bo")),
        ("case", Actor::new("acme", "Ann")),
        ("other", owner),
    ];
    for (run, owner) in &owners {
        opened.run(owner, (run, run), RunStatus::Completed).await;
    }
    assert_eq!(runs(&opened.messages("ann").await), ["ann"]);
    assert_eq!(runs(&opened.messages("sales").await), ["sales"]);
    let messages = opened.messages("wide").await;
    assert_eq!(runs(&messages), ["case", "bo", "support", "sales", "ann"]);
    let found = messages.iter().rev().map(|message| &message.event.owner);
    assert!(found.eq(owners.iter().take(5).map(|(_, owner)| owner)));
    let other = opened
        .store
        .deliveries("other", "wide", &Default::default())
        .await
        .unwrap();
    assert_eq!(runs(&other), ["other"]);
}

/// Checks that each webhook that wants an event gets a message with an id of its own, which receivers cannot guess.
pub async fn each_webhook_gets_its_own_message(subject: &dyn WebhookStoreSubject) {
    let opened = open(subject).await;
    for id in ["a", "b", "c"] {
        opened.create(hook(id)).await;
    }
    opened.complete("one").await;
    opened.complete("two").await;
    let mut ids = Vec::new();
    for id in ["a", "b", "c"] {
        let messages = opened.messages(id).await;
        assert_eq!(runs(&messages), ["two", "one"], "{id}");
        assert!(messages.iter().all(|message| message.state == DeliveryState::Pending));
        ids.extend(messages.into_iter().map(|message| message.id));
    }
    for id in &ids {
        let digits = id.strip_prefix("msg_").unwrap();
        let is_lowercase_hex = |digit: u8| matches!(digit, b'0'..=b'9' | b'a'..=b'f');
        assert!(digits.len() == 32 && digits.bytes().all(is_lowercase_hex), "{id}");
    }
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 6);
}

//! Webhooks in a database: the death of a process, many messages, and rows that cannot be read.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use agcore_session::{Commit, NewSession, RunChange, RunFilter, RunStatus, SessionFilter, SessionStore};
use agcore_webhook::{
    Attempt, ClaimedDelivery, Delivery, DeliveryFilter, DeliveryState, KEPT_DELIVERIES, MAX_IN_FLIGHT, NewWebhook,
    SigningSecret, Webhook, WebhookChange, WebhookError, WebhookErrorKind, WebhookStore,
};

/// Longer than a test takes.
const LENGTH: Duration = Duration::from_secs(600);

/// Lets all claims expire.
pub(crate) const EXPIRE: &str = "UPDATE webhook_deliveries SET held_until = 0 WHERE holder IS NOT NULL";

/// Creates a webhook of the local user.
pub(crate) async fn create(store: &dyn WebhookStore, id: &str) -> Webhook {
    try_create(store, id).await.unwrap()
}

pub(crate) async fn try_create(store: &dyn WebhookStore, id: &str) -> Result<Webhook, WebhookError> {
    let secret = SigningSecret::new([7; 32]).unwrap();
    let new = NewWebhook::new(id, "https://example.com/hook", secret);
    store.create_webhook(new).await
}

/// Returns the statement that stores this many messages to a webhook, which have been due for long.
pub(crate) fn filling(webhook: &str, count: u64) -> String {
    format!(
        "WITH RECURSIVE numbers (number) AS (
             SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < {count}
         )
         INSERT INTO webhook_deliveries (webhook, id, kind, at, \"user\", thread, run, state, next_at)
         SELECT webhook, 'msg_' || number, 'run.completed', number, 'local', 't', 'run ' || number, 'pending', number
         FROM webhooks CROSS JOIN numbers WHERE id = '{webhook}' ORDER BY number"
    )
}

fn answered(status: u16) -> Attempt {
    Attempt::answered(status, Duration::from_millis(20))
}

async fn claim(store: &dyn WebhookStore, holder: &str, limit: u64) -> Vec<ClaimedDelivery> {
    store.claim_deliveries(holder, LENGTH, limit).await.unwrap()
}

async fn messages(store: &dyn WebhookStore, webhook: &str) -> Vec<Delivery> {
    let all = store.deliveries("local", webhook, &DeliveryFilter::new()).await;
    all.unwrap()
}

/// Ends a run in a session of its own.
pub(crate) async fn end_run(store: &dyn SessionStore, id: &str) {
    store.create(NewSession::new(id)).await.unwrap();
    let commit = Commit::new()
        .with_run(RunChange::new(id, RunStatus::Running))
        .with_run(RunChange::new(id, RunStatus::Completed));
    store.commit("local", id, 0, commit).await.unwrap();
}

/// Ends runs, and claims and records the messages about them, until the process is killed. Reports what was acknowledged.
pub(crate) async fn send_forever(
    sessions: &dyn SessionStore,
    webhooks: &dyn WebhookStore,
    generation: &str,
    report: impl Fn(&str),
) {
    for number in 1.. {
        let run = format!("{generation}-{number}");
        end_run(sessions, &run).await;
        report(&format!("ended {run}"));
        let claimed = claim(webhooks, &run, 2).await;
        // Some are left to others.
        for claimed in claimed.iter().filter(|_| number % 5 != 0) {
            assert!(webhooks.record_attempt(claimed, answered(200)).await.unwrap());
            report(&format!("delivered {}", claimed.delivery.id));
        }
    }
}

/// Checks what processes have left that were killed after these reports: each run that has ended has its message, no other has one,
/// and what a dead process has claimed is sent by others when the claims have expired, for which the argument is.
pub(crate) async fn check(
    sessions: &dyn SessionStore,
    webhooks: &dyn WebhookStore,
    reports: &BTreeSet<String>,
    expire: impl AsyncFn(),
) {
    let mut ended = BTreeSet::new();
    for session in sessions.sessions(&SessionFilter::new("local")).await.unwrap() {
        let runs = sessions.runs("local", &session.id, &RunFilter::new()).await.unwrap();
        ended.extend(runs.into_iter().map(|run| run.id));
    }
    let stored = messages(webhooks, "w").await;
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for message in &stored {
        *counts.entry(message.event.run.clone().unwrap().run).or_default() += 1;
    }
    assert!(
        counts.keys().eq(&ended),
        "{ended:?} have ended, {counts:?} have messages"
    );
    assert!(counts.values().all(|count| *count == 1), "{counts:?}");
    let is_delivered = |id: &str| {
        let mut of_id = stored.iter().filter(|message| message.id == id);
        of_id.all(|message| message.state == DeliveryState::Delivered)
    };
    for report in reports {
        match report.split_once(' ').unwrap() {
            ("ended", run) => assert!(ended.contains(run), "the end of {run} is lost"),
            (_, id) => assert!(is_delivered(id), "{id} is sent again"),
        }
    }
    expire().await;
    let mut claimed_ids = BTreeSet::new();
    loop {
        let claimed = claim(webhooks, "heir", 5).await;
        if claimed.is_empty() {
            break;
        }
        for claimed in claimed {
            assert!(claimed_ids.insert(claimed.delivery.id.clone()));
            assert!(webhooks.record_attempt(&claimed, answered(200)).await.unwrap());
        }
    }
    let waiting = stored.iter().filter(|message| message.state == DeliveryState::Pending);
    assert!(
        waiting
            .map(|message| &message.id)
            .collect::<BTreeSet<_>>()
            .into_iter()
            .eq(&claimed_ids)
    );
}

/// Checks that the messages of a webhook that does not answer, and those of one that is paused, keep none of another one back.
pub(crate) async fn waiting_messages_keep_no_others_back(
    sessions: &dyn SessionStore,
    webhooks: &dyn WebhookStore,
    run: impl AsyncFn(String),
) {
    for id in ["dead", "paused"] {
        create(webhooks, id).await;
        run(filling(id, 10_000)).await;
    }
    let pause = webhooks.change_webhook("local", "paused", 1, WebhookChange::new().paused());
    pause.await.unwrap();
    create(webhooks, "good").await;
    end_run(sessions, "r").await;
    let first = claim(webhooks, "a", 32).await;
    let of = |claimed: &[ClaimedDelivery], id: &str| {
        let of_webhook = claimed.iter().filter(|claimed| claimed.webhook.id == id);
        of_webhook.count() as u64
    };
    assert_eq!(
        (of(&first, "dead"), of(&first, "good"), first.len() as u64),
        (MAX_IN_FLIGHT, 1, MAX_IN_FLIGHT + 1)
    );
    // Nor do those that are in flight.
    end_run(sessions, "r2").await;
    let second = claim(webhooks, "b", 32).await;
    assert_eq!((of(&second, "good"), second.len()), (1, 1));
}

/// Checks that the last messages are kept, whatever their state.
pub(crate) async fn old_messages_are_deleted(webhooks: &dyn WebhookStore, run: impl AsyncFn(String)) {
    create(webhooks, "w").await;
    create(webhooks, "other").await;
    run(filling("other", 3)).await;
    run(filling("w", KEPT_DELIVERIES + 20)).await;
    // They are deleted now and then: when one was sent whose id ends with 0.
    let of_w = |claimed: Vec<ClaimedDelivery>| claimed.into_iter().filter(|claimed| claimed.webhook.id == "w");
    for claimed in of_w(claim(webhooks, "a", 20).await) {
        assert!(webhooks.record_attempt(&claimed, answered(500)).await.unwrap());
    }
    let mut second = of_w(claim(webhooks, "b", 20).await).skip_while(|claimed| claimed.delivery.id != "msg_10");
    let last = second.next().unwrap();
    assert!(webhooks.record_attempt(&last, answered(500)).await.unwrap());
    let kept = messages(webhooks, "w").await;
    assert_eq!(kept.len() as u64, KEPT_DELIVERIES);
    assert_eq!(kept[0].id, format!("msg_{}", KEPT_DELIVERIES + 20));
    assert_eq!(kept[kept.len() - 1].id, "msg_21");
    assert_eq!(messages(webhooks, "other").await.len(), 3);
    // There is nothing to record for a message that is gone.
    assert!(
        !webhooks
            .record_attempt(&second.next().unwrap(), answered(200))
            .await
            .unwrap()
    );
    // Tests of a webhook that is paused, so that nothing is recorded, do not pile up either.
    let pause = webhooks.change_webhook("local", "w", 1, WebhookChange::new().paused());
    pause.await.unwrap();
    let test = webhooks.test_webhook("local", "w").await.unwrap();
    let kept = messages(webhooks, "w").await;
    assert_eq!((kept.len() as u64, &kept[0]), (KEPT_DELIVERIES, &test));
}

/// Checks that rows that are damaged, or that a newer version has written, keep no others from being sent, and that errors do not
/// contain a secret.
pub(crate) async fn unreadable_rows_keep_no_others_back(webhooks: &dyn WebhookStore, run: impl AsyncFn(String)) {
    for id in ["damaged", "newer", "odd", "good"] {
        create(webhooks, id).await;
        run(filling(id, 20)).await;
    }
    for sql in [
        "UPDATE webhooks SET secret = 'whsec_LEAKED' WHERE id = 'damaged'",
        "UPDATE webhook_deliveries SET kind = 'run.paused'
         WHERE webhook = (SELECT webhook FROM webhooks WHERE id = 'newer') AND next_at < 20",
        "UPDATE webhook_deliveries SET last = '{\"at\":\"never\"}', next_at = 30
         WHERE webhook = (SELECT webhook FROM webhooks WHERE id = 'odd')",
        "UPDATE webhook_deliveries SET next_at = 40
         WHERE webhook = (SELECT webhook FROM webhooks WHERE id = 'good') AND id = 'msg_20'",
        "DELETE FROM webhook_deliveries
         WHERE webhook = (SELECT webhook FROM webhooks WHERE id = 'good') AND next_at < 40",
    ] {
        run(sql.to_owned()).await;
    }
    let mut claimed = Vec::new();
    for holder in ["a", "b", "c"] {
        claimed.extend(claim(webhooks, holder, 1).await);
    }
    claimed.extend(claim(webhooks, "d", 32).await);
    let of = |id: &str| claimed.iter().filter(|claimed| claimed.webhook.id == id).count() as u64;
    assert_eq!((of("damaged"), of("newer"), of("good")), (0, 1, 1));
    assert_eq!(of("odd"), MAX_IN_FLIGHT);
    // What became of a message can be recorded although its last attempt cannot be read.
    for claimed in claimed.iter().filter(|claimed| claimed.webhook.id == "odd") {
        assert!(webhooks.record_attempt(claimed, answered(200)).await.unwrap());
    }
    let error = webhooks.webhook("local", "damaged").await.unwrap_err();
    assert_eq!(error.kind(), WebhookErrorKind::Serialization);
    assert!(!format!("{error:?}").contains("LEAKED"), "{error:?}");
    let error = webhooks
        .deliveries("local", "newer", &DeliveryFilter::new())
        .await
        .unwrap_err();
    assert!(
        format!("{error:?}").contains("`run.paused` is not a known name"),
        "{error:?}"
    );
}

//! Claiming messages.

use std::{collections::BTreeMap, sync::Arc};

use agcore_session::{Actor, Commit, RunChange, RunStatus};
use agcore_webhook::{ClaimedDelivery, MAX_IN_FLIGHT, WebhookStore};
use futures_util::future::join_all;

use super::opened::{LENGTH, ann, answered, hook, open, runs};
use crate::stores::WebhookStoreSubject;

const PROCESSES: usize = 16;
const WEBHOOKS: usize = 40;
/// Fewer than may be in flight.
const MESSAGES: usize = 5;

/// Returns the ids of the runs of claimed messages, in their order.
fn runs_of(claimed: &[ClaimedDelivery]) -> Vec<String> {
    let deliveries: Vec<_> = claimed.iter().map(|claimed| claimed.delivery.clone()).collect();
    runs(&deliveries).into_iter().map(str::to_owned).collect()
}

/// Checks that the messages of all tenants that have been due for longest are claimed, as many as were asked for, with their
/// webhooks, and that no message is claimed twice.
pub async fn claims_what_has_been_due_for_longest(subject: &dyn WebhookStoreSubject) {
    let opened = open(subject).await;
    let other = Actor::new("other", "bo");
    let webhooks = [
        opened.create(hook("a")).await,
        opened.create(hook("z").with_owner(other.clone())).await,
    ];
    for run in ["1", "2", "3", "4", "5"] {
        let owner = if run == "2" || run == "4" { other.clone() } else { ann() };
        opened.run(&owner, (run, run), RunStatus::Completed).await;
        opened.pass(1).await;
    }
    assert!(opened.claim("a", 0).await.is_empty());
    let first = opened.claim("b", 2).await;
    assert_eq!(runs_of(&first), ["1", "2"]);
    for (claimed, webhook) in first.iter().zip(&webhooks) {
        assert_eq!((&claimed.webhook, &*claimed.holder), (webhook, "b"));
        let found = opened
            .other
            .deliveries(webhook.tenant(), &webhook.id, &Default::default())
            .await;
        assert_eq!(found.unwrap().last(), Some(&claimed.delivery));
    }
    let second = opened.other.claim_deliveries("c", LENGTH, u64::MAX).await.unwrap();
    assert_eq!(runs_of(&second), ["3", "4", "5"]);
    opened.claim_none("d").await;
}

/// Checks that a message whose claim has expired is claimed again, and one whose claim holds is not.
pub async fn an_expired_claim_is_claimed_again(subject: &dyn WebhookStoreSubject) {
    let opened = open(subject).await;
    opened.create(hook("w")).await;
    opened.complete("r").await;
    let first = opened.claim_one("a").await;
    opened.pass(LENGTH.as_secs() / 2).await;
    opened.claim_none("b").await;
    opened.pass(LENGTH.as_secs()).await;
    let second = opened.claim_one("c").await;
    assert_eq!(second.delivery.id, first.delivery.id);
    assert_eq!((second.delivery.attempts, &*second.holder), (0, "c"));
    opened.claim_none("d").await;
}

/// Checks that a webhook with many messages has no more in flight than allowed, so that they keep none of another webhook back.
pub async fn few_messages_of_a_webhook_are_in_flight(subject: &dyn WebhookStoreSubject) {
    let opened = open(subject).await;
    opened.create(hook("slow")).await;
    let bo = Actor::new("acme", "bo");
    opened.create(hook("other").with_owner(bo.clone())).await;
    let many = (0..3 * MAX_IN_FLIGHT).map(|number| RunChange::new(number.to_string(), RunStatus::Completed));
    let commit = many.fold(Commit::new(), Commit::with_run);
    opened.commit(&ann(), "many", commit).await.unwrap();
    opened.pass(60).await;
    opened.run(&bo, ("last", "last"), RunStatus::Completed).await;

    let first = opened.claim("a", 100).await;
    let slow = first.iter().filter(|claimed| claimed.webhook.id == "slow");
    assert_eq!(slow.count() as u64, MAX_IN_FLIGHT);
    assert_eq!(first.len() as u64, MAX_IN_FLIGHT + 1);
    opened.claim_none("b").await;
    // Others follow those that were answered.
    let slow = first.iter().filter(|claimed| claimed.webhook.id == "slow");
    for claimed in slow.take(3) {
        assert!(opened.record(claimed, answered(200)).await);
    }
    assert_eq!(opened.claim("c", 100).await.len(), 3);
    opened.claim_none("d").await;
    opened.pass(LENGTH.as_secs() + 1).await;
    let again = opened.claim("e", 100).await;
    assert_eq!(again.len() as u64, MAX_IN_FLIGHT + 1);
}

/// Checks that a user with many webhooks whose messages wait keeps those of another user back for no longer than it takes one place
/// to be free.
pub async fn many_webhooks_of_a_user_keep_none_of_another_back(subject: &dyn WebhookStoreSubject) {
    let opened = open(subject).await;
    for number in 0..20 {
        opened.create(hook(&format!("slow {number}"))).await;
    }
    let bo = Actor::new("acme", "bo");
    opened.create(hook("other").with_owner(bo.clone())).await;
    for run in 0..MAX_IN_FLIGHT {
        opened.complete(&run.to_string()).await;
    }
    opened.pass(60).await;
    let limit = 20 * (MAX_IN_FLIGHT - 2);
    assert_eq!(opened.claim("a", limit).await.len() as u64, limit);
    opened.run(&bo, ("last", "last"), RunStatus::Completed).await;
    let next = opened.claim("b", 1).await;
    assert_eq!(next[0].webhook.id, "other");
    let rest = opened.claim("c", 1_000).await;
    assert_eq!(rest.len() as u64, 20 * MAX_IN_FLIGHT - limit);
}

/// Checks that of sixteen processes that claim at once no two get the same message, and that all messages are claimed.
pub async fn sixteen_processes_claim_each_message_once(subject: &dyn WebhookStoreSubject) {
    let opened = open(subject).await;
    for number in 0..WEBHOOKS {
        opened.create(hook(&format!("{number:02}"))).await;
    }
    for number in 0..MESSAGES {
        opened.complete(&number.to_string()).await;
    }
    let claim_all = |process: usize, store: Arc<dyn WebhookStore>| async move {
        let mut claimed = Vec::new();
        loop {
            let holder = format!("{process}/{}", claimed.len());
            let found = store.claim_deliveries(&holder, LENGTH, 7).await.unwrap();
            if found.is_empty() {
                return claimed;
            }
            claimed.extend(found);
            assert!(claimed.len() <= WEBHOOKS * MESSAGES, "more were claimed than there are");
            tokio::task::yield_now().await;
        }
    };
    let processes = (0..PROCESSES).map(|process| {
        let store = Arc::clone(if process % 2 == 0 { &opened.store } else { &opened.other });
        claim_all(process, store)
    });
    let mut claimed = join_all(processes).await.concat();
    // A process may find nothing while others hold the rest.
    claimed.extend(claim_all(PROCESSES, Arc::clone(&opened.store)).await);
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for claimed in &claimed {
        *counts.entry(claimed.delivery.id.clone()).or_default() += 1;
    }
    assert_eq!(counts.len(), WEBHOOKS * MESSAGES);
    assert!(counts.values().all(|count| *count == 1), "{counts:?}");
}

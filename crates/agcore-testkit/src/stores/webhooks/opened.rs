//! [`Opened`]: stores of webhooks to check.

use std::{sync::Arc, time::Duration};

use agcore_session::{Actor, Commit, Committed, NewSession, RunChange, RunStatus, SessionError, SessionStore};
use agcore_webhook::{
    Attempt, ClaimedDelivery, Delivery, DeliveryFilter, NewWebhook, SigningSecret, Webhook, WebhookStore,
};

use crate::stores::WebhookStoreSubject;

/// The length of the claims of the checks. Long enough that none expires by itself on a slow machine.
pub(super) const LENGTH: Duration = Duration::from_secs(600);

/// Longer than any pause between two attempts.
pub(super) const DAYS: u64 = 3 * 24 * 3600;

/// Two handles of a store, the store of the runs, and what moves their time.
pub(super) struct Opened<'s> {
    subject: &'s dyn WebhookStoreSubject,
    pub(super) sessions: Arc<dyn SessionStore>,
    pub(super) store: Arc<dyn WebhookStore>,
    pub(super) other: Arc<dyn WebhookStore>,
}

pub(super) async fn open(subject: &dyn WebhookStoreSubject) -> Opened<'_> {
    let [(sessions, store), (_, other)] = subject.webhook_stores().await;
    Opened {
        subject,
        sessions,
        store,
        other,
    }
}

/// Returns the user to whom webhooks and threads of most checks belong.
pub(super) fn ann() -> Actor {
    Actor::new("acme", "ann")
}

pub(super) fn secret(byte: u8) -> SigningSecret {
    SigningSecret::new([byte; 32]).unwrap()
}

/// Returns a webhook of Ann.
pub(super) fn hook(id: &str) -> NewWebhook {
    NewWebhook::new(id, "https://example.com/hook", secret(7)).with_owner(ann())
}

/// Returns an attempt that got this status.
pub(super) fn answered(status: u16) -> Attempt {
    Attempt::answered(status, Duration::from_millis(20))
}

/// Returns the ids of the runs of messages, in their order.
pub(super) fn runs(deliveries: &[Delivery]) -> Vec<&str> {
    let runs = deliveries.iter().map(|delivery| delivery.event.run.as_ref());
    runs.map(|run| run.map_or("", |run| &run.run)).collect()
}

impl Opened<'_> {
    pub(super) async fn create(&self, new: NewWebhook) -> Webhook {
        self.store.create_webhook(new).await.unwrap()
    }

    /// Returns a webhook of the tenant `acme`.
    pub(super) async fn get(&self, id: &str) -> Webhook {
        self.other.webhook("acme", id).await.unwrap().unwrap()
    }

    /// Lets time pass.
    pub(super) async fn pass(&self, seconds: u64) {
        self.subject.pass(Duration::from_secs(seconds)).await;
    }

    /// Commits at the end of a thread, which is created if it does not exist.
    pub(super) async fn commit(&self, owner: &Actor, thread: &str, commit: Commit) -> Result<Committed, SessionError> {
        let found = self.sessions.get_session(&owner.tenant, thread).await.unwrap();
        let session = match found {
            Some(session) => session,
            None => {
                let new = NewSession::new(thread).with_owner(owner.clone());
                self.sessions.create(new).await.unwrap()
            }
        };
        self.sessions.commit(&owner.tenant, thread, session.end, commit).await
    }

    /// Gives a run of a thread a status.
    pub(super) async fn run(&self, owner: &Actor, (thread, run): (&str, &str), status: RunStatus) {
        let commit = Commit::new().with_run(RunChange::new(run, status));
        self.commit(owner, thread, commit).await.unwrap();
    }

    /// Completes a run of Ann, in a thread of its name.
    pub(super) async fn complete(&self, run: &str) {
        self.run(&ann(), (run, run), RunStatus::Completed).await;
    }

    /// Returns all messages to a webhook of the tenant `acme`, newest first.
    pub(super) async fn messages(&self, id: &str) -> Vec<Delivery> {
        let all = DeliveryFilter::new();
        self.other.deliveries("acme", id, &all).await.unwrap()
    }

    /// Returns the only message to a webhook of the tenant `acme`.
    pub(super) async fn message(&self, id: &str) -> Delivery {
        let [message] = self.messages(id).await.try_into().unwrap();
        message
    }

    /// Claims messages. The holder must be new.
    pub(super) async fn claim(&self, holder: &str, limit: u64) -> Vec<ClaimedDelivery> {
        self.store.claim_deliveries(holder, LENGTH, limit).await.unwrap()
    }

    /// Claims the only message that is due.
    pub(super) async fn claim_one(&self, holder: &str) -> ClaimedDelivery {
        let [claimed] = self.claim(holder, 10).await.try_into().unwrap();
        claimed
    }

    /// Checks that no message is due.
    pub(super) async fn claim_none(&self, holder: &str) {
        assert_eq!(self.claim(holder, 10).await, []);
    }

    /// Records an attempt with the other handle.
    pub(super) async fn record(&self, claimed: &ClaimedDelivery, attempt: Attempt) -> bool {
        self.other.record_attempt(claimed, attempt).await.unwrap()
    }
}

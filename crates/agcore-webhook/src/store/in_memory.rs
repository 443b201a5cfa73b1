//! [`InMemoryWebhooks`].

mod random;
mod stored;

use std::{
    collections::{BTreeMap, btree_map::Entry},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use agcore_chat::{Actor, Clock, Timestamp};
use async_trait::async_trait;

use self::{
    random::Random,
    stored::{Message, Stored},
};
use super::{DeliveryFilter, WebhookFilter, WebhookStore};
use crate::{
    delivery::{Attempt, ClaimedDelivery, Delivery},
    error::WebhookError,
    event::{EventKind, EventRun, WebhookEvent},
    webhook::{NewWebhook, Webhook, WebhookChange},
};

/// A [`WebhookStore`] in the memory of the process: for tests, for short-lived programs, and as the reference for other stores.
/// Nothing survives the process.
///
/// The runs are in another store, which has to call [`run_changed`](Self::run_changed) where it stores the status of one. That of
/// `agcore-session` does so with `InMemorySessionStore::with_run_observer`.
///
/// ```
/// use std::{sync::Arc, time::Duration};
///
/// use agcore_chat::{Actor, Clock, SystemClock};
/// use agcore_webhook::{InMemoryWebhooks, NewWebhook, SigningSecret, WebhookStore};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let clock = Arc::new(SystemClock::new());
/// let store = InMemoryWebhooks::new(Arc::clone(&clock) as _);
/// let secret = SigningSecret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")?;
/// store.create_webhook(NewWebhook::new("w1", "https://example.com/hook", secret)).await?;
///
/// store.run_changed(&Actor::local(), "thread", "run", "completed", clock.now().into());
/// let claimed = store.claim_deliveries("worker 1", Duration::from_secs(60), 10).await?;
/// assert_eq!(claimed[0].webhook.id, "w1");
/// # Ok::<(), agcore_webhook::WebhookError>(())
/// # }).unwrap();
/// ```
#[derive(Debug)]
pub struct InMemoryWebhooks {
    clock: Arc<dyn Clock>,
    random: Random,
    stored: Mutex<BTreeMap<Key, Stored>>,
}

/// The tenant and the id of a webhook.
type Key = (String, String);

impl InMemoryWebhooks {
    /// Creates an empty store.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            random: Random::default(),
            stored: Mutex::default(),
        }
    }

    /// Stores a message to each webhook that [wants](Webhook::wants) to know that a run has got a status at a time. `status` is its
    /// name in `agcore-session`; those that cause no event do nothing.
    ///
    /// The owner is that of the thread. Call this exactly when the status is stored.
    pub fn run_changed(&self, owner: &Actor, thread: &str, run: &str, status: &str, at: Timestamp) {
        let Some(kind) = EventKind::of_run(status) else {
            return;
        };
        let mut stored = self.stored();
        for stored in stored.values_mut().filter(|stored| stored.webhook.wants(kind, owner)) {
            let event = WebhookEvent::new(kind, at, owner.clone(), EventRun::new(thread, run));
            stored.add(self.message(event));
        }
    }

    fn now(&self) -> Timestamp {
        self.clock.now().into()
    }

    fn stored(&self) -> MutexGuard<'_, BTreeMap<Key, Stored>> {
        self.stored.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Creates a message. The store must be locked, so that messages are numbered in the order in which they are stored.
    fn message(&self, event: WebhookEvent) -> Message {
        let (number, id) = self.random.message();
        Message::new(number, Delivery::new(id, event))
    }
}

#[async_trait]
impl WebhookStore for InMemoryWebhooks {
    async fn create_webhook(&self, webhook: NewWebhook) -> Result<Webhook, WebhookError> {
        let mut stored = self.stored();
        let webhook = webhook.store(self.now())?;
        match stored.entry(key(webhook.tenant(), &webhook.id)) {
            Entry::Occupied(_) => Err(WebhookError::already_exists(&webhook.id)),
            Entry::Vacant(place) => Ok(place.insert(Stored::new(webhook)).webhook.clone()),
        }
    }

    async fn webhook(&self, tenant: &str, id: &str) -> Result<Option<Webhook>, WebhookError> {
        let found = self.stored().get(&key(tenant, id)).map(|found| found.webhook.clone());
        Ok(found)
    }

    async fn webhooks(&self, filter: &WebhookFilter) -> Result<Vec<Webhook>, WebhookError> {
        let stored = self.stored();
        let webhooks = stored.values().map(|stored| &stored.webhook);
        let selected = webhooks.filter(|webhook| filter.matches(webhook));
        Ok(selected.take(limit(filter.limit)).cloned().collect())
    }

    async fn change_webhook(
        &self,
        tenant: &str,
        id: &str,
        revision: u64,
        change: WebhookChange,
    ) -> Result<Webhook, WebhookError> {
        let mut stored = self.stored();
        let found = stored.get_mut(&key(tenant, id));
        let webhook = &mut found.ok_or_else(|| WebhookError::not_found(id))?.webhook;
        webhook.check_revision(revision)?;
        *webhook = change.apply(webhook, self.now())?;
        Ok(webhook.clone())
    }

    async fn delete_webhook(&self, tenant: &str, id: &str) -> Result<bool, WebhookError> {
        Ok(self.stored().remove(&key(tenant, id)).is_some())
    }

    async fn test_webhook(&self, tenant: &str, id: &str) -> Result<Delivery, WebhookError> {
        let mut stored = self.stored();
        let found = stored.get_mut(&key(tenant, id));
        let found = found.ok_or_else(|| WebhookError::not_found(id))?;
        let message = self.message(WebhookEvent::test(self.now(), found.webhook.owner.clone()));
        let delivery = message.delivery.clone();
        found.add(message);
        Ok(delivery)
    }

    async fn claim_deliveries(
        &self,
        holder: &str,
        length: Duration,
        count: u64,
    ) -> Result<Vec<ClaimedDelivery>, WebhookError> {
        let mut stored = self.stored();
        let now = self.now();
        let mut due: Vec<((u64, Timestamp, u64), &Key)> = stored
            .iter()
            .flat_map(|(key, stored)| stored.due(now).map(move |message| (message, key)))
            .collect();
        due.sort_unstable();
        let chosen = due.into_iter().take(limit(Some(count)));
        let chosen: Vec<(u64, Key)> = chosen.map(|((.., number), key)| (number, key.clone())).collect();
        let claims = chosen.into_iter().filter_map(|(number, key)| {
            let stored = stored.get_mut(&key)?;
            let delivery = stored.claim(number, holder, now.after(length))?;
            Some(ClaimedDelivery::new(stored.webhook.clone(), delivery, holder))
        });
        Ok(claims.collect())
    }

    async fn record_attempt(&self, claimed: &ClaimedDelivery, attempt: Attempt) -> Result<bool, WebhookError> {
        let mut stored = self.stored();
        let found = stored.get_mut(&key(claimed.webhook.tenant(), &claimed.webhook.id));
        let recorded = found.is_some_and(|found| found.record(claimed, attempt, self.now(), self.random.jitter()));
        Ok(recorded)
    }

    async fn deliveries(
        &self,
        tenant: &str,
        webhook: &str,
        filter: &DeliveryFilter,
    ) -> Result<Vec<Delivery>, WebhookError> {
        let stored = self.stored();
        let found = stored.get(&key(tenant, webhook)).into_iter();
        let selected = found.flat_map(|found| found.deliveries(filter));
        Ok(selected.take(limit(filter.limit)).cloned().collect())
    }

    async fn replay(&self, tenant: &str, webhook: &str, delivery: &str) -> Result<Delivery, WebhookError> {
        let mut stored = self.stored();
        let found = stored.get_mut(&key(tenant, webhook));
        let replayed = found.and_then(|found| found.replay(delivery, self.now()));
        replayed.ok_or_else(|| WebhookError::delivery_not_found(delivery))
    }

    async fn erase_webhooks(&self, owner: &Actor) -> Result<u64, WebhookError> {
        let mut stored = self.stored();
        let before = stored.len();
        let of_user = |found: &Actor| (&found.tenant, &found.user) == (&owner.tenant, &owner.user);
        stored.retain(|_, stored| !of_user(&stored.webhook.owner));
        for stored in stored.values_mut() {
            stored
                .messages
                .retain(|message| !of_user(&message.delivery.event.owner));
        }
        Ok((before - stored.len()) as u64)
    }
}

fn key(tenant: &str, id: &str) -> Key {
    (tenant.to_owned(), id.to_owned())
}

fn limit(limit: Option<u64>) -> usize {
    limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX))
}

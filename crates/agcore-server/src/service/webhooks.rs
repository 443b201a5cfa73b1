//! The webhooks of users: their access to them, and the messages that are sent.

mod sending;

use std::{sync::atomic::Ordering, time::Duration};

use agcore_chat::{Actor, id};
use agcore_webhook::{
    Delivery, DeliveryFilter, NewWebhook, SigningSecret, Webhook, WebhookChange, WebhookError, WebhookErrorKind,
    WebhookFilter, WebhookScope,
};

use super::state::{Service, Webhooks, check_id};
use crate::{
    auth::secret_bytes,
    problem::{Problem, ProblemCode},
};

/// The time for which a secret that was replaced signs messages as well.
const OVERLAP: Duration = Duration::from_secs(24 * 3600);

/// The number of attempts to change a webhook whose revision the client does not know.
const ATTEMPTS: u32 = 5;

/// A webhook of the actor who has asked for it.
pub(crate) struct OwnedWebhook<'a> {
    webhooks: &'a Webhooks,
    webhook: Webhook,
}

impl Webhooks {
    /// Checks a URL that a user has chosen.
    fn check_url(&self, url: &str) -> Result<(), Problem> {
        self.sender.check(url).map_err(Problem::invalid)
    }
}

/// Returns whether a webhook belongs to an actor. One for all runs of the tenant was created by the operator, also if it names a
/// user: that user must not have it sent elsewhere.
fn is_own(webhook: &Webhook, actor: &Actor) -> bool {
    webhook.owner == *actor && webhook.scope == WebhookScope::Owner
}

impl Service {
    /// # Errors
    /// `not_found` if the server keeps no webhooks.
    fn kept_webhooks(&self) -> Result<&Webhooks, Problem> {
        self.webhooks
            .as_ref()
            .ok_or_else(|| Problem::new(ProblemCode::NotFound, "this server keeps no webhooks"))
    }

    /// Has this process look for messages, because a run has stored one.
    pub(super) fn wake_webhooks(&self) {
        if let Some(webhooks) = &self.webhooks {
            webhooks.changed.notify_one();
        }
    }

    /// Returns whether messages are being sent.
    pub(crate) fn is_sending(&self) -> bool {
        self.webhooks
            .as_ref()
            .is_some_and(|webhooks| webhooks.in_flight.load(Ordering::Acquire) > 0)
    }

    /// Returns a webhook of the actor.
    ///
    /// # Errors
    /// `not_found` if there is none, also if the webhook belongs to someone else.
    pub(crate) async fn own_webhook(&self, actor: &Actor, id: &str) -> Result<OwnedWebhook<'_>, Problem> {
        let found = self.tenant_webhook(&actor.tenant, id).await?;
        match is_own(&found.webhook, actor) {
            true => Ok(found),
            false => Err(Problem::unknown("webhook")),
        }
    }

    /// Returns a webhook of any user of a tenant, or of the tenant, for its administrators.
    ///
    /// # Errors
    /// `not_found` if there is none.
    pub(crate) async fn tenant_webhook(&self, tenant: &str, id: &str) -> Result<OwnedWebhook<'_>, Problem> {
        let webhooks = self.kept_webhooks()?;
        check_id("webhook", id).map_err(|_| Problem::unknown("webhook"))?;
        let found = webhooks.store.webhook(tenant, id).await?;
        found
            .map(|webhook| OwnedWebhook { webhooks, webhook })
            .ok_or_else(|| Problem::unknown("webhook"))
    }

    /// Returns webhooks of the actor after one, in the order of their ids, and the id after which the next page begins. A page may
    /// have fewer than the limit, because the user may have webhooks in other lines of business.
    ///
    /// # Errors
    /// When the server keeps no webhooks, or the store fails.
    pub(crate) async fn own_webhooks(
        &self,
        actor: &Actor,
        after: Option<String>,
        limit: u64,
    ) -> Result<(Vec<Webhook>, Option<String>), Problem> {
        let user = Some(actor.user.to_string());
        let (mut found, next) = self.tenant_webhooks(&actor.tenant, user, after, limit).await?;
        found.retain(|webhook| is_own(webhook, actor));
        Ok((found, next))
    }

    /// Returns webhooks of a tenant, or of one of its users, after one, in the order of their ids, and the id after which the next
    /// page begins.
    ///
    /// # Errors
    /// When the server keeps no webhooks, or the store fails.
    pub(crate) async fn tenant_webhooks(
        &self,
        tenant: &str,
        user: Option<String>,
        after: Option<String>,
        limit: u64,
    ) -> Result<(Vec<Webhook>, Option<String>), Problem> {
        let webhooks = self.kept_webhooks()?;
        let mut filter = WebhookFilter::new(tenant).with_limit(limit);
        filter.user = user.map(Into::into);
        filter.after = after;
        let found = webhooks.store.webhooks(&filter).await?;
        let is_full = found.len() as u64 >= limit;
        let next = found.last().filter(|_| is_full).map(|webhook| webhook.id.clone());
        Ok((found, next))
    }

    /// Creates a webhook of the actor with a new id and a new secret, if it has not as many as allowed.
    ///
    /// # Errors
    /// `invalid_request` if the webhook is not acceptable, and `too_many_webhooks`.
    pub(crate) async fn create_webhook(
        &self,
        actor: &Actor,
        url: String,
        describe: impl FnOnce(NewWebhook) -> NewWebhook,
    ) -> Result<Webhook, Problem> {
        let webhooks = self.kept_webhooks()?;
        webhooks.check_url(&url)?;
        let new = NewWebhook::new(self.new_id("webhook"), url, new_secret()?).with_owner(actor.clone());
        // No id of a thread has control characters.
        let name = format!("\0webhooks\0{}", actor.user);
        let lock = self.admission.of(actor, &name);
        let _guard = lock.lock().await;
        let _hold = self.admission_to(actor, &id::join(["webhooks", &actor.user])).await?;
        let limit = self.limits.max_webhooks_per_user as u64;
        let filter = WebhookFilter::new(actor.tenant.clone()).with_user(actor.user.clone());
        let known = webhooks.store.webhooks(&filter).await?;
        let own = known.iter().filter(|webhook| webhook.scope == WebhookScope::Owner);
        if own.count() as u64 >= limit {
            let detail = format!("there are as many webhooks as allowed, which is {limit}; delete one of them");
            return Err(Problem::new(ProblemCode::TooManyWebhooks, detail));
        }
        Ok(webhooks.store.create_webhook(describe(new)).await?)
    }
}

impl OwnedWebhook<'_> {
    pub(crate) fn webhook(&self) -> &Webhook {
        &self.webhook
    }

    /// Changes the webhook, if it still has the revision that the client knows.
    ///
    /// # Errors
    /// `invalid_request`, or `webhook_changed` if it has another revision.
    pub(crate) async fn change(&mut self, revision: Option<u64>, change: WebhookChange) -> Result<(), Problem> {
        if let Some(url) = &change.url {
            self.webhooks.check_url(url)?;
        }
        let store = &self.webhooks.store;
        let mut attempt = 1;
        loop {
            let webhook = &self.webhook;
            let known = revision.unwrap_or(webhook.revision);
            let changed = store.change_webhook(webhook.tenant(), &webhook.id, known, change.clone());
            match changed.await {
                Ok(changed) => self.webhook = changed,
                Err(error)
                    if matches!(error.kind(), WebhookErrorKind::Conflict { .. })
                        && revision.is_none()
                        && attempt < ATTEMPTS =>
                {
                    attempt += 1;
                    let found = store.webhook(webhook.tenant(), &webhook.id).await?;
                    self.webhook = found.ok_or_else(|| Problem::unknown("webhook"))?;
                    continue;
                }
                Err(error) => return Err(error.into()),
            }
            // Messages may have waited for it to be resumed.
            self.webhooks.changed.notify_one();
            return Ok(());
        }
    }

    /// Replaces the secret. The present one signs messages as well for a day.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn renew_secret(&mut self) -> Result<(), Problem> {
        let change = WebhookChange::new().with_secret(new_secret()?, OVERLAP);
        self.change(None, change).await
    }

    /// Deletes the webhook with its messages.
    ///
    /// # Errors
    /// `not_found` if it was deleted meanwhile.
    pub(crate) async fn delete(self) -> Result<(), Problem> {
        let webhook = &self.webhook;
        match self
            .webhooks
            .store
            .delete_webhook(webhook.tenant(), &webhook.id)
            .await?
        {
            true => Ok(()),
            false => Err(Problem::unknown("webhook")),
        }
    }

    /// Has a message sent that is about no run.
    ///
    /// # Errors
    /// `not_found` if the webhook was deleted meanwhile.
    pub(crate) async fn test(&self) -> Result<Delivery, Problem> {
        let webhook = &self.webhook;
        let delivery = self.webhooks.store.test_webhook(webhook.tenant(), &webhook.id).await?;
        self.webhooks.changed.notify_one();
        Ok(delivery)
    }

    /// Returns messages, newest first.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn deliveries(&self, filter: &DeliveryFilter) -> Result<Vec<Delivery>, Problem> {
        let webhook = &self.webhook;
        let found = self.webhooks.store.deliveries(webhook.tenant(), &webhook.id, filter);
        Ok(found.await?)
    }

    /// Has a message sent again.
    ///
    /// # Errors
    /// `not_found` if the webhook has no such message.
    pub(crate) async fn replay(&self, delivery: &str) -> Result<Delivery, Problem> {
        check_id("message", delivery).map_err(|_| Problem::unknown("message"))?;
        let webhook = &self.webhook;
        let replayed = self.webhooks.store.replay(webhook.tenant(), &webhook.id, delivery);
        let replayed = replayed.await.map_err(|error| match error.kind() {
            WebhookErrorKind::NotFound => Problem::unknown("message"),
            _ => error.into(),
        })?;
        self.webhooks.changed.notify_one();
        Ok(replayed)
    }
}

fn new_secret() -> Result<SigningSecret, Problem> {
    Ok(SigningSecret::new(secret_bytes("a webhook")?)?)
}

impl From<WebhookError> for Problem {
    fn from(error: WebhookError) -> Self {
        match error.kind() {
            WebhookErrorKind::NotFound => Self::unknown("webhook"),
            WebhookErrorKind::InvalidInput => Self::invalid(error.message()),
            WebhookErrorKind::Conflict { .. } => Self::new(
                ProblemCode::WebhookChanged,
                "the webhook has changed since it was read; read it again and repeat the change",
            ),
            WebhookErrorKind::Unavailable | WebhookErrorKind::Storage => {
                tracing::warn!(?error, "the store of webhooks failed");
                Self::new(
                    ProblemCode::StoreUnavailable,
                    "the database cannot be used at the moment; try again later",
                )
            }
            _ => {
                tracing::error!(?error, "a request about a webhook failed");
                Self::new(
                    ProblemCode::Internal,
                    "the request failed; the log of the server has the reason",
                )
            }
        }
    }
}

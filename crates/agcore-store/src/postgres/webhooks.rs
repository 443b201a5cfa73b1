//! The store of webhooks. All times are those of the server.
//!
//! Code that changes a webhook together with its messages, or several of these, locks the webhook first.

mod claim;
mod outbox;
mod record;
mod write;

use std::time::Duration;

use agcore_chat::Actor;
use agcore_webhook::{
    Attempt, ClaimedDelivery, Delivery, DeliveryFilter, NewWebhook, Webhook, WebhookChange, WebhookError,
    WebhookFilter, WebhookStore,
};
use async_trait::async_trait;

pub(super) use self::outbox::notify;
use super::{
    PostgresStore,
    error::convert,
    query::{bind_all, number, numbered, statement},
    text::lookup,
};
use crate::sql::{
    Conditions,
    webhooks::{DELIVERY_COLUMNS, WEBHOOK_COLUMNS, read_delivery, read_webhook},
};

#[async_trait]
impl WebhookStore for PostgresStore {
    async fn create_webhook(&self, webhook: NewWebhook) -> Result<Webhook, WebhookError> {
        let webhook = webhook.store(self.time().await?)?;
        let inserting = write::inserting(&webhook);
        match self
            .statements()
            .execute("cannot create the webhook", inserting)
            .await?
        {
            0 => Err(WebhookError::already_exists(&webhook.id)),
            _ => Ok(webhook),
        }
    }

    async fn webhook(&self, tenant: &str, id: &str) -> Result<Option<Webhook>, WebhookError> {
        let attempt = "cannot read the webhook";
        let sql = format!("SELECT {WEBHOOK_COLUMNS} FROM webhooks WHERE tenant = $1 AND id = $2");
        let statement = statement(sql).bind(lookup(tenant)).bind(lookup(id));
        let row = self.statements().row(attempt, statement).await?;
        let read = row.as_ref().map(read_webhook).transpose();
        Ok(read.map_err(|error| convert(attempt, error))?)
    }

    async fn webhooks(&self, filter: &WebhookFilter) -> Result<Vec<Webhook>, WebhookError> {
        let conditions = Conditions::webhooks(filter);
        let sql = format!(
            "SELECT {WEBHOOK_COLUMNS} FROM webhooks WHERE {} ORDER BY id LIMIT ${}",
            numbered(conditions.sql(), 1),
            conditions.values().len() + 1
        );
        let listing = bind_all(statement(sql), &conditions).bind(filter.limit.map(number));
        Ok(self.select("cannot list the webhooks", listing, read_webhook).await?)
    }

    async fn change_webhook(
        &self,
        tenant: &str,
        id: &str,
        revision: u64,
        change: WebhookChange,
    ) -> Result<Webhook, WebhookError> {
        let found = self.webhook(tenant, id).await?;
        let webhook = found.ok_or_else(|| WebhookError::not_found(id))?;
        webhook.check_revision(revision)?;
        let changed = change.apply(&webhook, self.time().await?)?;
        let updating = write::updating(&webhook, &changed);
        let written = self.statements().execute("cannot write the webhook", updating).await?;
        if written > 0 {
            return Ok(changed);
        }
        // Another writer was faster, or has deleted the webhook.
        let found = self.webhook(tenant, id).await?;
        let found = found.ok_or_else(|| WebhookError::not_found(id))?;
        Err(WebhookError::conflict(id, revision, found.revision))
    }

    async fn delete_webhook(&self, tenant: &str, id: &str) -> Result<bool, WebhookError> {
        let sql = "DELETE FROM webhooks WHERE tenant = $1 AND id = $2";
        let statement = sqlx::query(sql).bind(lookup(tenant)).bind(lookup(id));
        let deleted = self
            .statements()
            .execute("cannot delete the webhook", statement)
            .await?;
        Ok(deleted > 0)
    }

    async fn test_webhook(&self, tenant: &str, id: &str) -> Result<Delivery, WebhookError> {
        let attempt = "cannot store the test";
        let mut transaction = self.statements().begin(attempt).await?;
        let stored = record::insert_test(&mut transaction, attempt, (tenant, id)).await;
        Ok(transaction.end(attempt, stored).await?)
    }

    async fn claim_deliveries(
        &self,
        holder: &str,
        length: Duration,
        limit: u64,
    ) -> Result<Vec<ClaimedDelivery>, WebhookError> {
        Ok(self.claim_messages(holder, (length, limit)).await?)
    }

    async fn record_attempt(&self, claimed: &ClaimedDelivery, attempt: Attempt) -> Result<bool, WebhookError> {
        let recording = "cannot record the attempt";
        let mut transaction = self.statements().begin(recording).await?;
        let recorded = record::record(&mut transaction, recording, claimed, attempt).await;
        Ok(transaction.end(recording, recorded).await?)
    }

    async fn deliveries(
        &self,
        tenant: &str,
        webhook: &str,
        filter: &DeliveryFilter,
    ) -> Result<Vec<Delivery>, WebhookError> {
        let conditions = Conditions::deliveries((tenant, webhook), filter);
        let sql = format!(
            "SELECT {DELIVERY_COLUMNS} FROM webhook_deliveries WHERE {} ORDER BY delivery DESC LIMIT ${}",
            numbered(conditions.sql(), 1),
            conditions.values().len() + 1
        );
        let listing = bind_all(statement(sql), &conditions).bind(filter.limit.map(number));
        let attempt = "cannot list the messages of the webhook";
        Ok(self.select(attempt, listing, |row| read_delivery(row, tenant)).await?)
    }

    async fn replay(&self, tenant: &str, webhook: &str, delivery: &str) -> Result<Delivery, WebhookError> {
        let attempt = "cannot send the message again";
        let mut transaction = self.statements().begin(attempt).await?;
        let replayed = record::replay(&mut transaction, attempt, [tenant, webhook, delivery]).await;
        Ok(transaction.end(attempt, replayed).await?)
    }

    async fn erase_webhooks(&self, owner: &Actor) -> Result<u64, WebhookError> {
        let attempt = "cannot erase the webhooks";
        let mut transaction = self.statements().begin(attempt).await?;
        let erased = record::erase(&mut transaction, attempt, owner).await;
        Ok(transaction.end(attempt, erased).await?)
    }
}

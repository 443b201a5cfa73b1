//! The store of webhooks.

mod claim;
mod outbox;
mod write;

use std::time::Duration;

use agcore_chat::Actor;
use agcore_webhook::{
    Attempt, ClaimedDelivery, Delivery, DeliveryFilter, NewWebhook, Webhook, WebhookChange, WebhookError,
    WebhookFilter, WebhookStore,
};
use async_trait::async_trait;
use rusqlite::{Connection, params_from_iter};

pub(super) use self::outbox::notify;
use super::{
    SqliteStore,
    rows::{execute, limit, select, select_one},
};
use crate::{
    error::StoreError,
    sql::{
        Conditions, Value,
        webhooks::{DELIVERY_COLUMNS, WEBHOOK_COLUMNS, read_delivery, read_webhook},
    },
};

#[async_trait]
impl WebhookStore for SqliteStore {
    async fn create_webhook(&self, webhook: NewWebhook) -> Result<Webhook, WebhookError> {
        let clock = self.clock();
        self.write(move |connection| write::insert(connection, webhook.store(clock.now().into())?))
            .await
    }

    async fn webhook(&self, tenant: &str, id: &str) -> Result<Option<Webhook>, WebhookError> {
        let (tenant, id) = (tenant.to_owned(), id.to_owned());
        self.read(move |connection| find(connection, &tenant, &id)).await
    }

    async fn webhooks(&self, filter: &WebhookFilter) -> Result<Vec<Webhook>, WebhookError> {
        let conditions = Conditions::webhooks(filter);
        let count = Value::Integer(limit(filter.limit));
        self.read(move |connection| {
            let condition = conditions.sql();
            let sql = format!("SELECT {WEBHOOK_COLUMNS} FROM webhooks WHERE {condition} ORDER BY id LIMIT ?");
            let params = params_from_iter(conditions.values().iter().chain([&count]));
            select(connection, "cannot list the webhooks", &sql, params, |row| {
                read_webhook(row)
            })
        })
        .await
    }

    async fn change_webhook(
        &self,
        tenant: &str,
        id: &str,
        revision: u64,
        change: WebhookChange,
    ) -> Result<Webhook, WebhookError> {
        let (tenant, id, clock) = (tenant.to_owned(), id.to_owned(), self.clock());
        self.write(move |connection| {
            let found = find(connection, &tenant, &id)?;
            let webhook = found.ok_or_else(|| WebhookError::not_found(&id))?;
            webhook.check_revision(revision)?;
            let changed = change.apply(&webhook, clock.now().into())?;
            write::update(connection, &changed)?;
            Ok(changed)
        })
        .await
    }

    async fn delete_webhook(&self, tenant: &str, id: &str) -> Result<bool, WebhookError> {
        let (tenant, id) = (tenant.to_owned(), id.to_owned());
        self.write(move |connection| {
            let sql = "DELETE FROM webhooks WHERE tenant = ?1 AND id = ?2";
            let deleted = execute(connection, "cannot delete the webhook", sql, [tenant, id])?;
            Ok(deleted > 0)
        })
        .await
    }

    async fn test_webhook(&self, tenant: &str, id: &str) -> Result<Delivery, WebhookError> {
        let (tenant, id, clock) = (tenant.to_owned(), id.to_owned(), self.clock());
        self.write(move |connection| write::insert_test(connection, (&tenant, &id), clock.now().into()))
            .await
    }

    async fn claim_deliveries(
        &self,
        holder: &str,
        length: Duration,
        limit: u64,
    ) -> Result<Vec<ClaimedDelivery>, WebhookError> {
        let clock = self.clock();
        let is_due = move |connection: &Connection| claim::is_due(connection, clock.now().into());
        // Mostly nothing is: then the writer is left alone.
        if limit == 0 || !self.read::<_, StoreError>(is_due).await? {
            return Ok(Vec::new());
        }
        let (holder, clock) = (holder.to_owned(), self.clock());
        self.write(move |connection| claim::claim(connection, &holder, (length, limit), clock.now().into()))
            .await
    }

    async fn record_attempt(&self, claimed: &ClaimedDelivery, attempt: Attempt) -> Result<bool, WebhookError> {
        let (claimed, clock) = (claimed.clone(), self.clock());
        self.write(move |connection| write::record(connection, &claimed, attempt, clock.now().into()))
            .await
    }

    async fn deliveries(
        &self,
        tenant: &str,
        webhook: &str,
        filter: &DeliveryFilter,
    ) -> Result<Vec<Delivery>, WebhookError> {
        let conditions = Conditions::deliveries((tenant, webhook), filter);
        let (tenant, count) = (tenant.to_owned(), Value::Integer(limit(filter.limit)));
        self.read(move |connection| {
            let sql = format!(
                "SELECT {DELIVERY_COLUMNS} FROM webhook_deliveries WHERE {} ORDER BY delivery DESC LIMIT ?",
                conditions.sql()
            );
            let params = params_from_iter(conditions.values().iter().chain([&count]));
            select(
                connection,
                "cannot list the messages of the webhook",
                &sql,
                params,
                |row| read_delivery(row, &tenant),
            )
        })
        .await
    }

    async fn replay(&self, tenant: &str, webhook: &str, delivery: &str) -> Result<Delivery, WebhookError> {
        let (key, clock) = ([tenant, webhook, delivery].map(str::to_owned), self.clock());
        self.write(move |connection| write::replay(connection, &key, clock.now().into()))
            .await
    }

    async fn erase_webhooks(&self, owner: &Actor) -> Result<u64, WebhookError> {
        let owner = [owner.tenant.to_string(), owner.user.to_string()];
        let erase = move |connection: &Connection| write::erase(connection, &owner);
        let erased = self.write::<_, StoreError>(erase).await?;
        self.truncate_log().await?;
        Ok(erased)
    }
}

fn find(connection: &Connection, tenant: &str, id: &str) -> Result<Option<Webhook>, StoreError> {
    let sql = format!("SELECT {WEBHOOK_COLUMNS} FROM webhooks WHERE tenant = ?1 AND id = ?2");
    let read = "cannot read the webhook";
    select_one(connection, read, &sql, [tenant, id], |row| read_webhook(row))
}

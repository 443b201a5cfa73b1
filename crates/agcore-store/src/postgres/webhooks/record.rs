//! Records what becomes of messages.

use agcore_chat::{Actor, Timestamp};
use agcore_webhook::{Attempt, ClaimedDelivery, Delivery, PauseReason, WebhookError};
use sqlx::{Row, postgres::PgRow};

use super::{outbox::RANDOM, write};
use crate::{
    error::StoreError,
    postgres::{
        connection::{statement::FetchRow, transaction::Transaction},
        error::convert,
        query::{NOW, statement},
        text::{self, lookup},
    },
    sql::{
        row::SqlRow,
        webhooks::{DELIVERY_COLUMNS, read_delivery, read_to_send, storing_test, trims},
    },
};

/// Inserts a message with which the owner of a webhook tries it out.
pub(super) async fn insert_test(
    transaction: &mut Transaction<'_>,
    attempt: &str,
    (tenant, id): (&str, &str),
) -> Result<Delivery, StoreError> {
    let missing = || WebhookError::not_found(id);
    let webhook = write::lock(transaction, attempt, (tenant, id)).await?;
    let webhook = webhook.ok_or_else(missing)?;
    let storing = statement(storing_test(RANDOM, NOW, "$1")).bind(webhook);
    let stored = transaction.row(attempt, storing).await?.ok_or_else(missing)?;
    // A paused webhook gets no messages by which older ones would be deleted.
    write::trim(transaction, attempt, webhook).await?;
    read_delivery(&stored, tenant).map_err(|error| convert(attempt, error))
}

/// Writes what has become of a message. Returns whether the claim was the last one.
pub(super) async fn record(
    transaction: &mut Transaction<'_>,
    recording: &str,
    claimed: &ClaimedDelivery,
    attempt: Attempt,
) -> Result<bool, StoreError> {
    let (tenant, id) = (claimed.webhook.tenant(), &*claimed.webhook.id);
    let Some(webhook) = write::lock(transaction, recording, (tenant, id)).await? else {
        return Ok(false);
    };
    let sql = format!(
        "SELECT delivery, {DELIVERY_COLUMNS}, random() AS jitter, {NOW} AS now FROM webhook_deliveries
         WHERE webhook = $1 AND id = $2 AND holder = $3 FOR NO KEY UPDATE"
    );
    let finding = statement(sql)
        .bind(webhook)
        .bind(lookup(&claimed.delivery.id))
        .bind(lookup(&claimed.holder));
    let Some(row) = transaction.row(recording, finding).await? else {
        return Ok(false);
    };
    let read = || {
        let (message, jitter) = (read_to_send(&row, tenant)?, row.try_get::<f64, _>("jitter")?);
        Ok((row.try_get("delivery")?, message, jitter, row.time("now")?))
    };
    let (key, message, jitter, now) = read().map_err(|error| convert(recording, error))?;
    let (message, pause) = message.after(attempt, now, jitter);
    write::delivery(transaction, recording, (key, &message)).await?;
    if let Some(reason) = pause {
        self::pause(
            transaction,
            recording,
            (webhook, &claimed.webhook.url, key),
            (reason, now),
        )
        .await?;
    }
    if trims(&message.id) {
        write::trim(transaction, recording, webhook).await?;
    }
    Ok(true)
}

/// Pauses a webhook because of a message, unless it has another URL by now, or the receiver has accepted later messages and the
/// reason is not about them.
async fn pause(
    transaction: &mut Transaction<'_>,
    attempt: &str,
    (webhook, url, delivery): (i64, &str, i64),
    (reason, now): (PauseReason, Timestamp),
) -> Result<(), StoreError> {
    let sql = "UPDATE webhooks SET paused = $2, revision = revision + 1, updated_at = greatest(updated_at, $3)
               WHERE webhook = $1 AND paused IS NULL AND url = $4 AND ($5 OR NOT EXISTS (
                   SELECT 1 FROM webhook_deliveries WHERE webhook = $1 AND delivery > $6 AND state = 'delivered'))";
    let pausing = sqlx::query(sql)
        .bind(webhook)
        .bind(reason.as_str())
        .bind(now.as_millis())
        .bind(text::encode(url))
        .bind(reason.applies(true))
        .bind(delivery);
    transaction.execute(attempt, pausing).await.map(drop)
}

/// Has a message sent again, unless a process is sending it.
pub(super) async fn replay(
    transaction: &mut Transaction<'_>,
    attempt: &str,
    [tenant, webhook, id]: [&str; 3],
) -> Result<Delivery, StoreError> {
    let missing = || WebhookError::delivery_not_found(id);
    let webhook = write::lock(transaction, attempt, (tenant, webhook)).await?;
    let sql = format!(
        "SELECT delivery, {DELIVERY_COLUMNS}, held_until, {NOW} AS now FROM webhook_deliveries
         WHERE webhook = $1 AND id = $2 FOR NO KEY UPDATE"
    );
    let finding = statement(sql).bind(webhook.ok_or_else(missing)?).bind(lookup(id));
    let row = transaction.row(attempt, finding).await?.ok_or_else(missing)?;
    let read = |row: &PgRow| {
        let (until, now) = (row.optional_time("held_until")?, row.time("now")?);
        Ok((row.try_get("delivery")?, read_delivery(row, tenant)?, until, now))
    };
    let (key, message, until, now) = read(&row).map_err(|error| convert(attempt, error))?;
    if until.is_some_and(|until| until > now) {
        return Ok(message);
    }
    let message = message.replayed(now);
    write::delivery(transaction, attempt, (key, &message)).await?;
    Ok(message)
}

/// Deletes the webhooks of a user and the messages about the threads of the user. Returns the number of webhooks.
pub(super) async fn erase(transaction: &mut Transaction<'_>, attempt: &str, owner: &Actor) -> Result<u64, StoreError> {
    // Others lock several webhooks in this order as well. Those of other users are notified about the user only if they are about
    // more than their owner. What follows concerns only the webhooks that are locked here: one that was created meanwhile may be
    // locked by another erasure, which waits for this one.
    let lock = "SELECT webhook, \"user\" = $2 AS is_own FROM webhooks
                WHERE tenant = $1 AND (\"user\" = $2 OR scope <> 'owner') ORDER BY webhook FOR UPDATE";
    let user = lookup(&owner.user);
    let locking = sqlx::query(lock).bind(lookup(&owner.tenant)).bind(user);
    let (mut own, mut others) = (Vec::<i64>::new(), Vec::<i64>::new());
    for row in transaction.rows(attempt, locking).await? {
        let read = || Ok((row.try_get("is_own")?, row.try_get("webhook")?));
        let (is_own, webhook) = read().map_err(|error| convert(attempt, error))?;
        match is_own {
            true => own.push(webhook),
            false => others.push(webhook),
        }
    }
    let delete = sqlx::query("DELETE FROM webhooks WHERE webhook = ANY($1)").bind(own);
    let erased = transaction.execute(attempt, delete).await?;
    let forget = sqlx::query("DELETE FROM webhook_deliveries WHERE webhook = ANY($1) AND \"user\" = $2");
    transaction.execute(attempt, forget.bind(others).bind(user)).await?;
    Ok(erased)
}

//! Writes webhooks, and what becomes of the messages to them.

use std::sync::LazyLock;

use agcore_chat::Timestamp;
use agcore_webhook::{Attempt, ClaimedDelivery, Delivery, KEPT_DELIVERIES, PauseReason, Webhook, WebhookError};
use rusqlite::{Connection, Row, params};

use super::outbox::RANDOM;
use crate::{
    error::StoreError,
    sql::{
        row::SqlRow,
        webhooks::{DELIVERY_COLUMNS, attempt_json, read_delivery, read_to_send, storing_test, trimming, trims},
    },
    sqlite::rows::{execute, number, select_one},
};

static STORE_TEST: LazyLock<String> = LazyLock::new(|| storing_test(RANDOM, "?2", "?1"));
static TRIM: LazyLock<String> = LazyLock::new(|| trimming(["?1", "?2"]));

/// Inserts a webhook.
pub(super) fn insert(connection: &Connection, webhook: Webhook) -> Result<Webhook, StoreError> {
    let sql =
        "INSERT INTO webhooks (tenant, id, user, line, scope, title, url, events, secret, paused, revision, created_at,
                   updated_at)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?12)
               ON CONFLICT (tenant, id) DO NOTHING";
    let params = params![
        webhook.tenant(),
        webhook.id,
        &*webhook.owner.user,
        webhook.owner.line.as_deref(),
        webhook.scope.as_str(),
        webhook.title,
        webhook.url,
        webhook.events.bits(),
        webhook.secret.expose(),
        webhook.paused.map(PauseReason::as_str),
        number(webhook.revision),
        webhook.created_at.as_millis(),
    ];
    match execute(connection, "cannot create the webhook", sql, params)? {
        0 => Err(WebhookError::already_exists(&webhook.id).into()),
        _ => Ok(webhook),
    }
}

/// Writes a webhook that was read in the same transaction.
pub(super) fn update(connection: &Connection, webhook: &Webhook) -> Result<(), StoreError> {
    let sql =
        "UPDATE webhooks SET title = ?3, url = ?4, events = ?5, secret = ?6, previous_secret = ?7, previous_until = ?8,
                   paused = ?9, revision = ?10, updated_at = ?11
               WHERE tenant = ?1 AND id = ?2";
    let previous = webhook.previous_secret.as_ref();
    let params = params![
        webhook.tenant(),
        webhook.id,
        webhook.title,
        webhook.url,
        webhook.events.bits(),
        webhook.secret.expose(),
        previous.map(|previous| previous.secret.expose()),
        previous.map(|previous| previous.until.as_millis()),
        webhook.paused.map(PauseReason::as_str),
        number(webhook.revision),
        webhook.updated_at.as_millis(),
    ];
    execute(connection, "cannot write the webhook", sql, params).map(drop)
}

/// Inserts a message with which the owner of a webhook tries it out.
pub(super) fn insert_test(
    connection: &Connection,
    (tenant, id): (&str, &str),
    now: Timestamp,
) -> Result<Delivery, StoreError> {
    let attempt = "cannot store the test";
    let webhook = find_key(connection, tenant, id)?.ok_or_else(|| WebhookError::not_found(id))?;
    let params = params![webhook, now.as_millis()];
    let stored = select_one(connection, attempt, &STORE_TEST, params, |row| {
        read_delivery(row, tenant)
    })?;
    // A paused webhook gets no messages by which older ones would be deleted.
    trim(connection, attempt, webhook)?;
    stored.ok_or_else(|| WebhookError::not_found(id).into())
}

/// Writes what has become of a message. Returns whether the claim was the last one.
pub(super) fn record(
    connection: &Connection,
    claimed: &ClaimedDelivery,
    attempt: Attempt,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let recording = "cannot record the attempt";
    let Some(webhook) = find_key(connection, claimed.webhook.tenant(), &claimed.webhook.id)? else {
        return Ok(false);
    };
    let sql = format!(
        "SELECT delivery, {DELIVERY_COLUMNS}, abs(random() % 1000000) / 1000000.0 AS jitter FROM webhook_deliveries
         WHERE webhook = ?1 AND id = ?2 AND holder = ?3"
    );
    let read = |row: &Row<'_>| {
        let message = read_to_send(row, claimed.webhook.tenant())?;
        Ok((row.get::<_, i64>("delivery")?, message, row.get::<_, f64>("jitter")?))
    };
    let params = params![webhook, claimed.delivery.id, claimed.holder];
    let Some((key, message, jitter)) = select_one(connection, recording, &sql, params, read)? else {
        return Ok(false);
    };
    let (message, pause) = message.after(attempt, now, jitter);
    update_delivery(connection, recording, (key, &message))?;
    if let Some(reason) = pause {
        let sql = "UPDATE webhooks SET paused = ?2, revision = revision + 1, updated_at = max(updated_at, ?3)
                   WHERE webhook = ?1 AND paused IS NULL AND url = ?4 AND (?5 OR NOT EXISTS (
                       SELECT 1 FROM webhook_deliveries WHERE webhook = ?1 AND delivery > ?6 AND state = 'delivered'))";
        let (url, always) = (&claimed.webhook.url, reason.applies(true));
        let params = params![webhook, reason.as_str(), now.as_millis(), url, always, key];
        execute(connection, recording, sql, params)?;
    }
    if trims(&message.id) {
        trim(connection, recording, webhook)?;
    }
    Ok(true)
}

/// Has a message sent again, unless a process is sending it.
pub(super) fn replay(connection: &Connection, key: &[String; 3], now: Timestamp) -> Result<Delivery, StoreError> {
    let attempt = "cannot send the message again";
    let [tenant, webhook, id] = key;
    let missing = || WebhookError::delivery_not_found(id);
    let webhook = find_key(connection, tenant, webhook)?.ok_or_else(missing)?;
    let sql = format!(
        "SELECT delivery, {DELIVERY_COLUMNS}, held_until FROM webhook_deliveries WHERE webhook = ?1 AND id = ?2"
    );
    let read = |row: &Row<'_>| {
        let until = row.optional_time("held_until")?;
        Ok((row.get("delivery")?, read_delivery(row, tenant)?, until))
    };
    let found = select_one(connection, attempt, &sql, params![webhook, id], read)?;
    let (key, message, until) = found.ok_or_else(missing)?;
    if until.is_some_and(|until| until > now) {
        return Ok(message);
    }
    let message = message.replayed(now);
    update_delivery(connection, attempt, (key, &message))?;
    Ok(message)
}

/// Deletes the webhooks of a user and the messages about the threads of the user. Returns the number of webhooks.
pub(super) fn erase(connection: &Connection, owner: &[String; 2]) -> Result<u64, StoreError> {
    let attempt = "cannot erase the webhooks";
    let sql = "DELETE FROM webhooks WHERE tenant = ?1 AND user = ?2";
    let [tenant, user] = owner;
    let erased = execute(connection, attempt, sql, [tenant, user])?;
    // Those of other users get messages about the user only if they are about more than their owner.
    let sql = "DELETE FROM webhook_deliveries
               WHERE webhook IN (SELECT webhook FROM webhooks WHERE tenant = ?1 AND scope <> 'owner') AND user = ?2";
    execute(connection, attempt, sql, [tenant, user])?;
    Ok(erased)
}

fn find_key(connection: &Connection, tenant: &str, id: &str) -> Result<Option<i64>, StoreError> {
    let sql = "SELECT webhook FROM webhooks WHERE tenant = ?1 AND id = ?2";
    select_one(connection, "cannot read the webhook", sql, [tenant, id], |row| {
        row.get(0)
    })
}

/// Writes a message with its key. It is not claimed any more.
fn update_delivery(connection: &Connection, attempt: &str, (key, message): (i64, &Delivery)) -> Result<(), StoreError> {
    let sql = "UPDATE webhook_deliveries
               SET state = ?2, attempts = ?3, next_at = ?4, last = ?5, holder = NULL, held_until = NULL
               WHERE delivery = ?1";
    let params = params![
        key,
        message.state.as_str(),
        message.attempts,
        message.next_at.map(Timestamp::as_millis),
        attempt_json(message)?,
    ];
    execute(connection, attempt, sql, params).map(drop)
}

/// Deletes the messages of a webhook that are too many.
fn trim(connection: &Connection, attempt: &str, webhook: i64) -> Result<(), StoreError> {
    execute(connection, attempt, &TRIM, params![webhook, number(KEPT_DELIVERIES)]).map(drop)
}

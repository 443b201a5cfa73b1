//! Writes webhooks and messages.

use agcore_chat::Timestamp;
use agcore_webhook::{Delivery, KEPT_DELIVERIES, PauseReason, Webhook};
use sqlx::Row;

use crate::{
    error::StoreError,
    postgres::{
        connection::{
            statement::{FetchRow, Statement},
            transaction::Transaction,
        },
        error::convert,
        query::{number, statement},
        text::{self, lookup},
    },
    sql::webhooks::{attempt_json, trimming},
};

/// Returns the statement that creates a webhook. It changes no row if there is one with this id.
pub(super) fn inserting(webhook: &Webhook) -> Statement<'_> {
    let sql = "INSERT INTO webhooks
               (tenant, id, \"user\", line, scope, title, url, events, secret, paused, revision, created_at, updated_at)
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12)
               ON CONFLICT (tenant, id) DO NOTHING";
    sqlx::query(sql)
        .bind(webhook.tenant())
        .bind(&webhook.id)
        .bind(&*webhook.owner.user)
        .bind(webhook.owner.line.as_deref())
        .bind(webhook.scope.as_str())
        .bind(webhook.title.as_deref().map(text::encode))
        .bind(text::encode(&webhook.url))
        .bind(i64::from(webhook.events.bits()))
        .bind(webhook.secret.expose())
        .bind(webhook.paused.map(PauseReason::as_str))
        .bind(number(webhook.revision))
        .bind(webhook.created_at.as_millis())
}

/// Returns the statement that writes a version of a webhook over the one before. It changes no row if that version is not stored
/// any more.
pub(super) fn updating<'q>(before: &'q Webhook, after: &'q Webhook) -> Statement<'q> {
    let sql = "UPDATE webhooks SET title = $5, url = $6, events = $7, secret = $8, previous_secret = $9, previous_until = $10,
                   paused = $11, revision = $12, updated_at = $13
               WHERE tenant = $1 AND id = $2 AND revision = $3 AND created_at = $4";
    let previous = after.previous_secret.as_ref();
    sqlx::query(sql)
        .bind(before.tenant())
        .bind(&before.id)
        .bind(number(before.revision))
        .bind(before.created_at.as_millis())
        .bind(after.title.as_deref().map(text::encode))
        .bind(text::encode(&after.url))
        .bind(i64::from(after.events.bits()))
        .bind(after.secret.expose())
        .bind(previous.map(|previous| previous.secret.expose()))
        .bind(previous.map(|previous| previous.until.as_millis()))
        .bind(after.paused.map(PauseReason::as_str))
        .bind(number(after.revision))
        .bind(after.updated_at.as_millis())
}

/// Locks a webhook, so that others who change its messages wait. Returns its key, if it exists. Runs that end do not wait.
pub(super) async fn lock(
    transaction: &mut Transaction<'_>,
    attempt: &str,
    (tenant, id): (&str, &str),
) -> Result<Option<i64>, StoreError> {
    let sql = "SELECT webhook FROM webhooks WHERE tenant = $1 AND id = $2 FOR NO KEY UPDATE";
    let locking = sqlx::query(sql).bind(lookup(tenant)).bind(lookup(id));
    let row = transaction.row(attempt, locking).await?;
    let key = row.map(|row| row.try_get("webhook")).transpose();
    key.map_err(|error| convert(attempt, error))
}

/// Writes a message with its key. It is not claimed any more.
pub(super) async fn delivery(
    transaction: &mut Transaction<'_>,
    attempt: &str,
    (key, message): (i64, &Delivery),
) -> Result<(), StoreError> {
    let sql = "UPDATE webhook_deliveries
               SET state = $2, attempts = $3, next_at = $4, last = $5::json, holder = NULL, held_until = NULL
               WHERE delivery = $1";
    let updating = sqlx::query(sql)
        .bind(key)
        .bind(message.state.as_str())
        .bind(i64::from(message.attempts))
        .bind(message.next_at.map(Timestamp::as_millis))
        .bind(attempt_json(message)?);
    transaction.execute(attempt, updating).await.map(drop)
}

/// Deletes the messages of a webhook that are too many.
pub(super) async fn trim(transaction: &mut Transaction<'_>, attempt: &str, webhook: i64) -> Result<(), StoreError> {
    let trim = statement(trimming(["$1", "$2"]))
        .bind(webhook)
        .bind(number(KEPT_DELIVERIES));
    transaction.execute(attempt, trim).await.map(drop)
}

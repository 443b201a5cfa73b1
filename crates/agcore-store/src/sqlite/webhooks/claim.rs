//! Claims. Only one transaction writes at a time, so that it can read the messages and choose.

use std::time::Duration;

use agcore_chat::Timestamp;
use agcore_webhook::{ClaimedDelivery, MAX_IN_FLIGHT};
use rusqlite::{Connection, Row, params};

use crate::{
    error::StoreError,
    sql::webhooks::{DELIVERY_COLUMNS, WEBHOOK_COLUMNS, due, read_claimed, waiting_webhooks},
    sqlite::rows::{execute, number, select, select_one},
};

const ATTEMPT: &str = "cannot claim the messages";

/// A message that can be claimed, in the order of claims.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Choice {
    /// The place of the message among those that are sent to its webhook at the same time.
    place: i64,
    next_at: i64,
    delivery: i64,
}

/// Returns whether there is a message to claim.
pub(super) fn is_due(connection: &Connection, now: Timestamp) -> Result<bool, StoreError> {
    Ok(!choices(connection, now)?.is_empty())
}

/// Claims messages.
pub(super) fn claim(
    connection: &Connection,
    holder: &str,
    (length, limit): (Duration, u64),
    now: Timestamp,
) -> Result<Vec<ClaimedDelivery>, StoreError> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let until = now.after(length);
    loop {
        let mut choices = choices(connection, now)?;
        choices.sort_unstable();
        choices.truncate(limit);
        let mut claimed = Vec::with_capacity(choices.len());
        for choice in &choices {
            claimed.extend(take(connection, choice, (holder, until))?);
        }
        // Messages that cannot be read are claimed as well, and then it is the turn of others.
        if !claimed.is_empty() || choices.is_empty() || until <= now {
            return Ok(claimed);
        }
    }
}

/// Returns the messages that can be claimed: of each webhook, as many as may be sent at the same time.
fn choices(connection: &Connection, now: Timestamp) -> Result<Vec<Choice>, StoreError> {
    let now = now.as_millis();
    let sql = format!(
        "WITH RECURSIVE {}
         SELECT webhook, (
             SELECT count(*) FROM webhook_deliveries AS held
             WHERE held.webhook = webhooks.webhook AND held.holder IS NOT NULL AND held.held_until > ?1
         ) FROM waiting JOIN webhooks USING (webhook) WHERE paused IS NULL",
        waiting_webhooks()
    );
    let read = |row: &Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?));
    let waiting = select(connection, ATTEMPT, &sql, [now], read)?;
    let sql = format!(
        "SELECT next_at, delivery FROM webhook_deliveries WHERE webhook = ?1 AND {} ORDER BY next_at, delivery LIMIT ?3",
        due("?2")
    );
    let mut choices = Vec::new();
    for (webhook, held) in waiting {
        let free = number(MAX_IN_FLIGHT).saturating_sub(held).max(0);
        let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let found = select(connection, ATTEMPT, &sql, params![webhook, now, free], read)?;
        choices.extend((held..).zip(found).map(|(place, (next_at, delivery))| Choice {
            place,
            next_at,
            delivery,
        }));
    }
    Ok(choices)
}

/// Claims a message. Returns `None` if it cannot be read.
fn take(
    connection: &Connection,
    choice: &Choice,
    (holder, until): (&str, Timestamp),
) -> Result<Option<ClaimedDelivery>, StoreError> {
    let sql = "UPDATE webhook_deliveries SET holder = ?2, held_until = ?3 WHERE delivery = ?1";
    let params = params![choice.delivery, holder, until.as_millis()];
    execute(connection, ATTEMPT, sql, params)?;
    let sql = format!(
        "SELECT {WEBHOOK_COLUMNS}, {DELIVERY_COLUMNS} FROM webhook_deliveries JOIN webhooks USING (webhook)
         WHERE delivery = ?1"
    );
    let read = |row: &Row<'_>| Ok(read_claimed(row, holder));
    let read = select_one(connection, ATTEMPT, &sql, [choice.delivery], read)?;
    Ok(read.flatten())
}

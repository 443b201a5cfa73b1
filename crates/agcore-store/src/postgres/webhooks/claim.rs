//! Claims.

use std::{sync::LazyLock, time::Duration};

use agcore_webhook::{ClaimedDelivery, MAX_IN_FLIGHT};

use crate::{
    error::StoreError,
    postgres::{
        PostgresStore,
        query::{NOW, number},
    },
    sql::webhooks::{DELIVERY_COLUMNS, WEBHOOK_COLUMNS, due, read_claimed, waiting_webhooks},
};

const ATTEMPT: &str = "cannot claim the messages";

/// The number of times that a claim is tried when it finds only messages that cannot be read.
const TRIES: u32 = 100;

/// The number of messages that a claim reads beyond those that it wants, because other claims have locked some.
const SPARE: u64 = 32;

/// Values: the holder, the length of the claim, the number of messages, the number that is read, and the number that is sent to a
/// webhook at the same time.
static CLAIM: LazyLock<String> = LazyLock::new(|| {
    let (waiting, due) = (waiting_webhooks(), due("now"));
    format!(
        "WITH RECURSIVE clock AS MATERIALIZED (SELECT {NOW} AS now),
         {waiting},
         candidates AS MATERIALIZED (
             SELECT next.delivery, next.next_at, flying.held + row_number() OVER (
                 PARTITION BY webhooks.webhook ORDER BY next.next_at, next.delivery
             ) AS place
             FROM clock CROSS JOIN waiting JOIN webhooks USING (webhook)
             CROSS JOIN LATERAL (
                 SELECT count(*) AS held FROM webhook_deliveries AS held
                 WHERE held.webhook = webhooks.webhook AND held.holder IS NOT NULL AND held.held_until > now
             ) AS flying
             CROSS JOIN LATERAL (
                 SELECT delivery, next_at FROM webhook_deliveries AS message
                 WHERE message.webhook = webhooks.webhook AND {due}
                 ORDER BY next_at, delivery LIMIT greatest($5 - flying.held, 0)
             ) AS next
             WHERE webhooks.paused IS NULL ORDER BY 3, 2, 1 LIMIT $4
         ),
         picked AS MATERIALIZED (
             SELECT message.delivery
             FROM clock, candidates JOIN webhook_deliveries AS message ON message.delivery = candidates.delivery
             WHERE message.next_at <= now AND (message.holder IS NULL OR message.held_until <= now)
             ORDER BY candidates.place, candidates.next_at, candidates.delivery LIMIT $3
             FOR NO KEY UPDATE OF message SKIP LOCKED
         ),
         claimed AS (
             UPDATE webhook_deliveries AS message SET holder = $1, held_until = now + $2
             FROM picked, clock WHERE message.delivery = picked.delivery RETURNING message.*
         )
         SELECT {WEBHOOK_COLUMNS}, {DELIVERY_COLUMNS}
         FROM claimed AS webhook_deliveries JOIN webhooks USING (webhook) ORDER BY next_at, delivery"
    )
});

impl PostgresStore {
    /// Claims messages.
    pub(super) async fn claim_messages(
        &self,
        holder: &str,
        (length, limit): (Duration, u64),
    ) -> Result<Vec<ClaimedDelivery>, StoreError> {
        let sql: &'static str = &CLAIM;
        let length = i64::try_from(length.as_millis()).unwrap_or(i64::MAX);
        for _ in 0..TRIES {
            let claiming = sqlx::query(sql)
                .bind(holder)
                .bind(length)
                .bind(number(limit))
                .bind(number(limit.saturating_add(SPARE)))
                .bind(number(MAX_IN_FLIGHT));
            let found = self
                .select(ATTEMPT, claiming, |row| Ok(read_claimed(row, holder)))
                .await?;
            // Messages that cannot be read are claimed as well, and then it is the turn of others.
            if found.is_empty() || found.iter().any(Option::is_some) {
                return Ok(found.into_iter().flatten().collect());
            }
        }
        Ok(Vec::new())
    }
}

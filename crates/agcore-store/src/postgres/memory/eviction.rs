//! Eviction: policies that the store applies by itself.

use std::collections::HashMap;

use agcore_chat::Timestamp;
use agcore_memory::{EvictionCandidate, EvictionPolicy};
use sqlx::{Row, postgres::PgRow};

use crate::{
    error::StoreError,
    eviction,
    postgres::{
        PostgresStore,
        error::convert,
        query::{bind_all, number, numbered, statement},
    },
    sql::Conditions,
};

const ATTEMPT: &str = "cannot evict items";

impl PostgresStore {
    /// Counts writes, and applies the policies when it is time to.
    pub(super) async fn count_writes(&self, written: usize) {
        if !self.0.writes.is_due(self.eviction(), written) {
            return;
        }
        // The items are saved; that others could not be removed must not look as if they were not.
        if let Err(error) = self.evict_now().await {
            tracing::warn!(%error, "items could not be evicted");
        }
    }

    /// Applies the policies.
    pub(super) async fn evict_now(&self) -> Result<u64, StoreError> {
        let now = self.now();
        let mut evicted = 0;
        let expired = Conditions::expired(self.eviction(), now);
        if !expired.is_never() {
            let sql = format!("DELETE FROM memory_items WHERE {}", numbered(expired.sql(), 1));
            let statement = bind_all(statement(sql), &expired);
            evicted += self.statements().execute(ATTEMPT, statement).await?;
        }
        for (prefix, policy) in self.eviction().rules() {
            let Some(max) = policy.max_items() else {
                continue;
            };
            for tenant in self.tenants_above(prefix, max).await? {
                evicted += self.evict_of(&tenant, (prefix, policy), now).await?;
            }
        }
        Ok(evicted)
    }

    /// Returns the tenants that have more items below a prefix than this.
    async fn tenants_above(&self, prefix: &str, max: u64) -> Result<Vec<String>, StoreError> {
        let conditions = Conditions::prefix(prefix);
        let sql = format!(
            "SELECT tenant FROM memory_items WHERE {} GROUP BY tenant HAVING count(*) > ${}",
            numbered(conditions.sql(), 1),
            conditions.values().len() + 1,
        );
        let statement = bind_all(statement(sql), &conditions).bind(number(max));
        let rows = self.statements().rows(ATTEMPT, statement).await?;
        let tenants = rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>();
        tenants.map_err(|error| convert(ATTEMPT, error))
    }

    /// Applies a policy to the items of a tenant.
    async fn evict_of(&self, tenant: &str, rule: (&str, &EvictionPolicy), now: Timestamp) -> Result<u64, StoreError> {
        let conditions = Conditions::tenant(tenant).and(Conditions::prefix(rule.0));
        let sql = format!(
            "SELECT id, created_at, updated_at, recalls, score_sum, recalled_at FROM memory_items WHERE {}",
            numbered(conditions.sql(), 1)
        );
        let rows = self
            .statements()
            .rows(ATTEMPT, bind_all(statement(sql), &conditions))
            .await?;
        let candidates = rows.iter().map(candidate).collect::<Result<Vec<_>, _>>();
        let candidates = candidates.map_err(|error| convert(ATTEMPT, error))?;
        let saved: HashMap<String, i64> = candidates
            .iter()
            .map(|item| (item.id.clone(), item.updated_at.as_millis()))
            .collect();
        let victims = eviction::victims(self.eviction(), rule, candidates, now);
        if victims.is_empty() {
            return Ok(0);
        }
        let saved: Vec<i64> = victims.iter().filter_map(|id| saved.get(id).copied()).collect();
        // What others have saved again since then is kept.
        let sql = "DELETE FROM memory_items USING unnest($2::text[], $3::bigint[]) AS victim (id, saved)
                   WHERE tenant = $1 AND memory_items.id = victim.id AND updated_at = saved";
        let statement = sqlx::query(sql).bind(tenant).bind(victims).bind(saved);
        self.statements().execute(ATTEMPT, statement).await
    }
}

fn candidate(row: &PgRow) -> Result<EvictionCandidate, sqlx::Error> {
    let created_at = Timestamp::from_millis(row.try_get(1)?);
    let updated_at = Timestamp::from_millis(row.try_get(2)?);
    let recalls: i64 = row.try_get(3)?;
    let recalled_at: Option<i64> = row.try_get(5)?;
    let candidate = EvictionCandidate::new(row.try_get::<String, _>(0)?, created_at, updated_at);
    Ok(candidate.with_recalls(
        recalls.unsigned_abs(),
        row.try_get(4)?,
        recalled_at.map(Timestamp::from_millis),
    ))
}

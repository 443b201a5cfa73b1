//! Eviction: policies that the store applies by itself.

use agcore_chat::Timestamp;
use agcore_memory::{EvictionCandidate, EvictionConfig, EvictionPolicy};
use rusqlite::Connection;

use super::query::{count, params_of};
use crate::{
    error::StoreError,
    eviction,
    sql::Conditions,
    sqlite::{SqliteStore, error::convert},
};

impl SqliteStore {
    /// Counts writes, and applies the policies when it is time to.
    pub(super) async fn count_writes(&self, written: usize) {
        if !self.0.writes.is_due(&self.0.eviction, written) {
            return;
        }
        // The items are saved; that others could not be removed must not look as if they were not.
        if let Err(error) = self.evict_now().await {
            tracing::warn!(%error, "items could not be evicted");
        }
    }

    /// Applies the policies.
    pub(super) async fn evict_now(&self) -> Result<u64, StoreError> {
        let (eviction, now) = (self.0.eviction.clone(), self.now());
        self.write(move |connection| {
            evict(connection, &eviction, now).map_err(|error| convert("cannot evict items", error))
        })
        .await
    }
}

fn evict(connection: &Connection, eviction: &EvictionConfig, now: Timestamp) -> rusqlite::Result<u64> {
    let mut evicted = 0;
    let expired = Conditions::expired(eviction, now);
    if !expired.is_never() {
        let sql = format!("DELETE FROM memory_items WHERE {}", expired.sql());
        evicted += connection.execute(&sql, params_of(&expired))?;
    }
    for (prefix, policy) in eviction.rules().filter(|(_, policy)| policy.max_items().is_some()) {
        for tenant in tenants(connection)? {
            for victim in victims(connection, &tenant, prefix, policy, eviction, now)? {
                let mut statement =
                    connection.prepare_cached("DELETE FROM memory_items WHERE tenant = ?1 AND id = ?2")?;
                evicted += statement.execute([&tenant, &victim])?;
            }
        }
    }
    Ok(evicted as u64)
}

fn tenants(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare_cached("SELECT DISTINCT tenant FROM memory_items")?;
    let tenants = statement.query_map([], |row| row.get(0))?;
    tenants.collect()
}

fn victims(
    connection: &Connection,
    tenant: &str,
    prefix: &str,
    policy: &EvictionPolicy,
    eviction: &EvictionConfig,
    now: Timestamp,
) -> rusqlite::Result<Vec<String>> {
    let conditions = Conditions::tenant(tenant).and(Conditions::prefix(prefix));
    let found = count(connection, &conditions)?;
    if policy.max_items().is_none_or(|max| found <= max) {
        return Ok(Vec::new());
    }
    let sql = format!(
        "SELECT id, created_at, updated_at, recalls, score_sum, recalled_at FROM memory_items WHERE {}",
        conditions.sql()
    );
    let mut statement = connection.prepare(&sql)?;
    let candidates = statement.query_map(params_of(&conditions), |row| {
        let time = |index| row.get(index).map(Timestamp::from_millis);
        let recalled_at = row.get::<_, Option<i64>>(5)?.map(Timestamp::from_millis);
        let recalls = row.get::<_, i64>(3)?.unsigned_abs();
        let candidate = EvictionCandidate::new(row.get::<_, String>(0)?, time(1)?, time(2)?);
        Ok(candidate.with_recalls(recalls, row.get(4)?, recalled_at))
    })?;
    let candidates = candidates.collect::<Result<_, _>>()?;
    Ok(eviction::victims(eviction, (prefix, policy), candidates, now))
}

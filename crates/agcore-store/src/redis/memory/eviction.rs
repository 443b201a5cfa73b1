//! Eviction: policies that the store applies by itself.

use agcore_chat::Timestamp;
use agcore_memory::{EvictionCandidate, EvictionPolicy};

use super::arguments::{add_range, add_rules, optional};
use crate::{
    error::StoreError,
    eviction::victims,
    redis::{RedisStore, connection::Call, error::decoded, scripts},
};

const ATTEMPT: &str = "cannot evict items";

/// The id, the times of the first and the last save, the number of recalls, the sum of their scores, the time of the last.
type Row = (String, i64, i64, Option<u64>, Option<f64>, Option<i64>);

impl RedisStore {
    /// Counts writes, and applies the policies when it is time to.
    pub(super) async fn count_writes(&self, written: usize) -> Result<(), StoreError> {
        if !self.0.writes.is_due(&self.0.eviction, written) {
            return Ok(());
        }
        // The items are saved; that others could not be removed must not look as if they were not.
        if let Err(error) = self.evict_now().await {
            tracing::warn!(%error, "items could not be evicted");
        }
        Ok(())
    }

    /// Applies the policies.
    pub(super) async fn evict_now(&self) -> Result<u64, StoreError> {
        if self.0.eviction.rules().next().is_none() {
            return Ok(0);
        }
        let mut evicted = 0;
        let mut call = Call::read(ATTEMPT, redis::cmd("SMEMBERS"));
        call.arg(self.0.keys.tenants());
        let tenants: Vec<String> = decoded(ATTEMPT, self.run(&call).await?)?;
        for tenant in tenants {
            evicted += self.remove_expired(&tenant).await?;
            for (prefix, policy) in self.0.eviction.rules() {
                evicted += self.remove_excess(&tenant, prefix, policy).await?;
            }
        }
        Ok(evicted)
    }

    async fn remove_expired(&self, tenant: &str) -> Result<u64, StoreError> {
        let now = self.now();
        let rules = self.0.eviction.expiry_rules(now);
        let Some(latest) = rules.iter().filter_map(|(_, cutoff)| *cutoff).max() else {
            return Ok(0);
        };
        let mut call = Call::write_script(ATTEMPT, &scripts::EXPIRE, &self.keys_of(&[tenant]));
        call.arg(tenant);
        add_rules(&mut call, &self.0.eviction, now);
        call.arg(optional(Some(latest)));
        decoded(ATTEMPT, self.run(&call).await?)
    }

    /// Removes the items of a policy that are too many. Items that change in the meantime are kept.
    async fn remove_excess(&self, tenant: &str, prefix: &str, policy: &EvictionPolicy) -> Result<u64, StoreError> {
        let Some(max_items) = policy.max_items() else {
            return Ok(0);
        };
        let mut call = Call::read_script(ATTEMPT, &scripts::CANDIDATES, &self.keys_of(&[tenant]));
        add_range(&mut call, prefix);
        call.arg(max_items);
        let rows: Vec<Row> = decoded(ATTEMPT, self.run(&call).await?)?;
        let candidates: Vec<EvictionCandidate> = rows.into_iter().map(candidate).collect();
        let victims = victims(&self.0.eviction, (prefix, policy), candidates.clone(), self.now());
        if victims.is_empty() {
            return Ok(0);
        }
        let mut call = Call::write_script(ATTEMPT, &scripts::EVICT, &self.keys_of(&[tenant]));
        call.arg(tenant).arg(victims.len());
        for id in victims {
            // The candidates are in the order of their ids.
            let place = candidates.binary_search_by(|candidate| candidate.id.cmp(&id));
            let candidate = place.ok().and_then(|place| candidates.get(place));
            let judged = candidate.map_or((Timestamp::default(), 0), |item| (item.updated_at, item.recalls));
            call.arg(id).arg(judged.0.as_millis()).arg(judged.1);
        }
        decoded(ATTEMPT, self.run(&call).await?)
    }
}

fn candidate((id, created, updated, recalls, score, recalled): Row) -> EvictionCandidate {
    let candidate = EvictionCandidate::new(id, Timestamp::from_millis(created), Timestamp::from_millis(updated));
    let recalled = recalled.map(Timestamp::from_millis);
    candidate.with_recalls(recalls.unwrap_or(0), score.unwrap_or(0.0), recalled)
}

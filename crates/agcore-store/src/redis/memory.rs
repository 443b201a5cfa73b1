//! The memory store. An item is a hash; sorted sets of ids, times and users lead to it.

mod arguments;
mod stored;
mod eviction;

use agcore_chat::{Actor, id};
use agcore_memory::{MemoryError, MemoryFilter, MemoryItem, MemoryStore};
use async_trait::async_trait;

use self::{
    arguments::{add_items, add_range, add_rules, add_selection, without_repetitions},
    stored::{FIELDS, ListedRow, Row, item_of, listed_item},
};
use super::{RedisStore, connection::Call, error::decoded, scripts};
use crate::error::StoreError;

#[async_trait]
impl MemoryStore for RedisStore {
    async fn save_many(&self, items: Vec<MemoryItem>) -> Result<(), MemoryError> {
        items.iter().try_for_each(MemoryItem::check)?;
        if items.is_empty() {
            return Ok(());
        }
        let written = items.len();
        let (items, now) = (without_repetitions(items), self.now());
        let mut tenants: Vec<&str> = items.iter().map(|item| &**item.tenant()).collect();
        tenants.sort_unstable();
        tenants.dedup();
        let mut call = Call::write_script("cannot save the items", &scripts::SAVE, &self.keys_of(&tenants));
        call.arg(now.as_millis());
        add_rules(&mut call, &self.0.eviction, now);
        call.arg(tenants.len()).arg(&tenants[..]);
        add_items(&mut call, &items, &tenants, now);
        self.run(&call).await?;
        Ok(self.count_writes(written).await?)
    }

    async fn get(&self, tenant: &str, id: &str) -> Result<Option<MemoryItem>, MemoryError> {
        const ATTEMPT: &str = "cannot read the item";
        let mut call = Call::read(ATTEMPT, redis::cmd("HMGET"));
        call.arg(self.0.keys.item(tenant, id)).arg(&FIELDS);
        let row: Row = decoded(ATTEMPT, self.run(&call).await?)?;
        if row.iter().all(Option::is_none) {
            return Ok(None);
        }
        let item = item_of(tenant, id, row)?;
        let is_expired = self.0.eviction.is_expired(id, item.updated_at, self.now());
        Ok((!is_expired).then_some(item))
    }

    async fn delete(&self, tenant: &str, id: &str) -> Result<bool, MemoryError> {
        const ATTEMPT: &str = "cannot delete the item";
        let mut call = Call::write_script(ATTEMPT, &scripts::DELETE, &self.keys_of(&[tenant]));
        call.arg(tenant);
        add_rules(&mut call, &self.0.eviction, self.now());
        call.arg(id);
        Ok(decoded(ATTEMPT, self.run(&call).await?)?)
    }

    async fn delete_prefix(&self, tenant: &str, prefix: &str) -> Result<u64, MemoryError> {
        const ATTEMPT: &str = "cannot delete the items";
        if prefix.is_empty() {
            return Err(StoreError::invalid("the prefix is empty").into());
        }
        id::check(prefix)?;
        let mut call = Call::write_script(ATTEMPT, &scripts::DELETE_PREFIX, &self.keys_of(&[tenant]));
        call.arg(tenant);
        add_rules(&mut call, &self.0.eviction, self.now());
        add_range(&mut call, prefix);
        Ok(decoded(ATTEMPT, self.run(&call).await?)?)
    }

    async fn list(&self, filter: &MemoryFilter) -> Result<Vec<MemoryItem>, MemoryError> {
        const ATTEMPT: &str = "cannot list the items";
        let mut call = self.select(ATTEMPT, "list", filter)?;
        let order = match filter.order {
            agcore_memory::Order::OldestFirst => "oldest",
            agcore_memory::Order::NewestFirst => "newest",
        };
        let limit = filter.limit.map_or(String::new(), |limit| limit.to_string());
        call.arg(order).arg(filter.offset).arg(limit);
        let rows: Vec<ListedRow> = decoded(ATTEMPT, self.run(&call).await?)?;
        let items = rows.into_iter().map(|row| Ok(listed_item(&filter.tenant, row)?));
        items.collect()
    }

    async fn count(&self, filter: &MemoryFilter) -> Result<u64, MemoryError> {
        const ATTEMPT: &str = "cannot count the items";
        let call = self.select(ATTEMPT, "count", filter)?;
        Ok(decoded(ATTEMPT, self.run(&call).await?)?)
    }

    async fn erase(&self, owner: &Actor) -> Result<u64, MemoryError> {
        const ATTEMPT: &str = "cannot erase the items";
        MemoryItem::new("-", "").with_owner(owner.clone()).check()?;
        let mut call = Call::write_script(ATTEMPT, &scripts::ERASE, &self.keys_of(&[&owner.tenant]));
        call.arg(&*owner.tenant).arg(&*owner.user);
        add_range(&mut call, &format!("{}\0", owner.user));
        Ok(decoded(ATTEMPT, self.run(&call).await?)?)
    }

    async fn record_recall(&self, tenant: &str, id: &str, score: f64) -> Result<(), MemoryError> {
        let mut call = Call::write_script("cannot record the recall", &scripts::RECALL, &self.keys_of(&[tenant]));
        call.arg(id).arg(score.clamp(0.0, 1.0)).arg(self.now().as_millis());
        Ok(self.run(&call).await.map(drop)?)
    }

    async fn evict(&self) -> Result<u64, MemoryError> {
        Ok(self.evict_now().await?)
    }
}

impl RedisStore {
    /// Returns the keys that the scripts for items expect.
    fn keys_of(&self, tenants: &[&str]) -> Vec<String> {
        let items = tenants.iter().flat_map(|tenant| self.0.keys.items(tenant));
        std::iter::once(self.0.keys.tenants()).chain(items).collect()
    }

    fn select(&self, attempt: &'static str, what: &str, filter: &MemoryFilter) -> Result<Call, StoreError> {
        filter.check()?;
        let mut call = Call::read_script(attempt, &scripts::SELECT, &self.keys_of(&[&filter.tenant]));
        call.arg(what);
        add_rules(&mut call, &self.0.eviction, self.now());
        add_selection(&mut call, filter);
        Ok(call)
    }
}

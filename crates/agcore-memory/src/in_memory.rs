//! [`InMemoryStore`]: a store that keeps its items in the memory of the process.

use std::{
    collections::BTreeMap,
    ops::Bound,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use agcore_chat::{Actor, Clock, Timestamp, id};
use async_trait::async_trait;

use crate::{
    error::MemoryError,
    eviction::{EvictionCandidate, EvictionConfig, EvictionPolicy},
    filter::{MemoryFilter, Order},
    item::MemoryItem,
    store::MemoryStore,
};

/// A [`MemoryStore`] in the memory of the process: for tests, for short-lived programs, and as the reference for other
/// stores. Nothing survives the process.
///
/// Items are ordered by id, so that a prefix is a range and not a scan.
#[derive(Debug)]
pub struct InMemoryStore {
    clock: Arc<dyn Clock>,
    eviction: EvictionConfig,
    state: Mutex<State>,
}

/// The items of each tenant by id.
type Tenants = BTreeMap<String, BTreeMap<String, Stored>>;

#[derive(Debug, Default)]
struct State {
    tenants: Tenants,
    writes_since_eviction: u32,
}

#[derive(Debug)]
struct Stored {
    item: MemoryItem,
    recalls: u64,
    score_sum: f64,
    recalled_at: Option<Timestamp>,
}

impl InMemoryStore {
    /// Creates an empty store without eviction.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            eviction: EvictionConfig::default(),
            state: Mutex::default(),
        }
    }

    /// Sets the eviction policies.
    #[must_use]
    pub fn with_eviction(mut self, eviction: EvictionConfig) -> Self {
        self.eviction = eviction;
        self
    }

    fn now(&self) -> Timestamp {
        self.clock.now().into()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls a function with each item that the filter selects.
    fn select<'s>(&self, state: &'s State, filter: &MemoryFilter) -> Vec<&'s MemoryItem> {
        let now = self.now();
        let Some(items) = state.tenants.get(&*filter.tenant) else {
            return Vec::new();
        };
        let below = with_prefix(items, &filter.prefix).map(|stored| &stored.item);
        below
            .filter(|item| filter.matches(item) && !self.eviction.is_expired(&item.id, item.updated_at, now))
            .collect()
    }
}

#[async_trait]
impl MemoryStore for InMemoryStore {
    async fn save_many(&self, items: Vec<MemoryItem>) -> Result<(), MemoryError> {
        items.iter().try_for_each(MemoryItem::check)?;
        let now = self.now();
        let mut state = self.state();
        let written = u32::try_from(items.len()).unwrap_or(u32::MAX);
        for item in items {
            state.save(item, now, &self.eviction);
        }
        state.writes_since_eviction = state.writes_since_eviction.saturating_add(written);
        if state.writes_since_eviction >= self.eviction.check_interval {
            state.evict(&self.eviction, now);
        }
        Ok(())
    }

    async fn get(&self, tenant: &str, id: &str) -> Result<Option<MemoryItem>, MemoryError> {
        let now = self.now();
        let state = self.state();
        let stored = state.tenants.get(tenant).and_then(|items| items.get(id));
        let item = stored.map(|stored| &stored.item);
        Ok(item
            .filter(|item| !self.eviction.is_expired(id, item.updated_at, now))
            .cloned())
    }

    async fn delete(&self, tenant: &str, id: &str) -> Result<bool, MemoryError> {
        let now = self.now();
        let mut state = self.state();
        let removed = state.tenants.get_mut(tenant).and_then(|items| items.remove(id));
        Ok(removed.is_some_and(|stored| !self.eviction.is_expired(id, stored.item.updated_at, now)))
    }

    async fn delete_prefix(&self, tenant: &str, prefix: &str) -> Result<u64, MemoryError> {
        id::check_named("the prefix", prefix)?;
        let now = self.now();
        let mut state = self.state();
        let Some(items) = state.tenants.get_mut(tenant) else {
            return Ok(0);
        };
        let below: Vec<(String, Timestamp)> = with_prefix(items, prefix)
            .map(|stored| (stored.item.id.clone(), stored.item.updated_at))
            .collect();
        let mut deleted = 0;
        for (id, updated_at) in below {
            items.remove(&id);
            deleted += u64::from(!self.eviction.is_expired(&id, updated_at, now));
        }
        Ok(deleted)
    }

    async fn list(&self, filter: &MemoryFilter) -> Result<Vec<MemoryItem>, MemoryError> {
        filter.check()?;
        let state = self.state();
        let mut items = self.select(&state, filter);
        items.sort_by(|one, other| (one.created_at, &one.id).cmp(&(other.created_at, &other.id)));
        if filter.order == Order::NewestFirst {
            items.reverse();
        }
        let offset = usize::try_from(filter.offset).unwrap_or(usize::MAX);
        let limit = filter.limit.and_then(|limit| usize::try_from(limit).ok());
        let page = items.into_iter().skip(offset).take(limit.unwrap_or(usize::MAX));
        Ok(page.cloned().collect())
    }

    async fn count(&self, filter: &MemoryFilter) -> Result<u64, MemoryError> {
        filter.check()?;
        let state = self.state();
        Ok(self.select(&state, filter).len() as u64)
    }

    async fn erase(&self, owner: &Actor) -> Result<u64, MemoryError> {
        owner.check()?;
        let mut state = self.state();
        let Some(items) = state.tenants.get_mut(&*owner.tenant) else {
            return Ok(0);
        };
        let before = items.len();
        items.retain(|_, stored| stored.item.owner.user != owner.user);
        Ok((before - items.len()) as u64)
    }

    async fn record_recall(&self, tenant: &str, id: &str, score: f64) -> Result<(), MemoryError> {
        let now = self.now();
        let mut state = self.state();
        let stored = state.tenants.get_mut(tenant).and_then(|items| items.get_mut(id));
        if let Some(stored) = stored {
            stored.recalls += 1;
            stored.score_sum += score.clamp(0.0, 1.0);
            stored.recalled_at = Some(now);
        }
        Ok(())
    }

    async fn evict(&self) -> Result<u64, MemoryError> {
        let now = self.now();
        Ok(self.state().evict(&self.eviction, now))
    }
}

impl State {
    fn save(&mut self, mut item: MemoryItem, now: Timestamp, eviction: &EvictionConfig) {
        let items = self.tenants.entry(item.owner.tenant.to_string()).or_default();
        // An item that has expired does not exist any more.
        let known = items
            .remove(&item.id)
            .filter(|stored| !eviction.is_expired(&item.id, stored.item.updated_at, now));
        item.updated_at = now;
        let stored = match known {
            Some(known) => {
                item.created_at = known.item.created_at;
                Stored { item, ..known }
            }
            None => {
                if item.created_at == Timestamp::default() {
                    item.created_at = now;
                }
                Stored {
                    item,
                    recalls: 0,
                    score_sum: 0.0,
                    recalled_at: None,
                }
            }
        };
        items.insert(stored.item.id.clone(), stored);
    }

    fn evict(&mut self, eviction: &EvictionConfig, now: Timestamp) -> u64 {
        self.writes_since_eviction = 0;
        let mut evicted = 0;
        for items in self.tenants.values_mut() {
            for (prefix, policy) in eviction.rules() {
                for victim in victims(items, prefix, policy, eviction, now) {
                    evicted += u64::from(items.remove(&victim).is_some());
                }
            }
        }
        evicted
    }
}

fn victims(
    items: &BTreeMap<String, Stored>,
    prefix: &str,
    policy: &EvictionPolicy,
    eviction: &EvictionConfig,
    now: Timestamp,
) -> Vec<String> {
    let applies = |stored: &&Stored| eviction.rule(&stored.item.id).is_some_and(|(known, _)| known == prefix);
    let candidates = with_prefix(items, prefix).filter(applies).map(|stored| {
        let item = &stored.item;
        EvictionCandidate::new(item.id.as_str(), item.created_at, item.updated_at).with_recalls(
            stored.recalls,
            stored.score_sum,
            stored.recalled_at,
        )
    });
    policy.victims(candidates.collect(), now)
}

fn with_prefix<'i, 'p>(
    items: &'i BTreeMap<String, Stored>,
    prefix: &'p str,
) -> impl Iterator<Item = &'i Stored> + use<'i, 'p> {
    let from = items.range::<str, _>((Bound::Included(prefix), Bound::Unbounded));
    from.take_while(move |(id, _)| id.starts_with(prefix))
        .map(|(_, stored)| stored)
}

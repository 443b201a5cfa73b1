//! Memory stores with a defect.

use std::sync::{Arc, Mutex, PoisonError};

use agcore_memory::{
    Actor, Clock, EvictionConfig, InMemoryStore, MemoryError, MemoryFilter, MemoryItem, MemoryStore, RESERVED_PREFIXES,
    Timestamp, id::MAX_ID_BYTES,
};
use async_trait::async_trait;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum StoreDefect {
    ReplacingChangesCreation,
    SavesOneByOne,
    LosesSource,
    HasOneTenant,
    KeepsDeleted,
    DeletesTooMuch,
    /// `_` and `%` of a prefix stand for other characters, as in SQL.
    PrefixIsPattern,
    /// Ids that are not acceptable are changed until they are.
    RepairsInput,
    CutsContent,
    ListsById,
    CountsThePage,
    SinceIsInclusive,
    /// The number 1 equals the text `1`.
    ComparesTexts,
    IgnoresLine,
    EndIsValid,
    ErasesOneLine,
    NeverEvicts,
    IgnoresRecalls,
    EvictsReserved,
    /// Items from the future are not known when they are replaced.
    DropsTheFuture,
    LosesConcurrentSaves,
    /// A save adds to the content instead of replacing it.
    AddsToContent,
}

/// An [`InMemoryStore`] with a defect.
#[derive(Debug)]
pub(super) struct MutantStore {
    inner: InMemoryStore,
    clock: Arc<dyn Clock>,
    defect: StoreDefect,
    /// The item that the next save saves, no matter which call put it there.
    slot: Mutex<Option<MemoryItem>>,
}

impl MutantStore {
    pub(super) fn new(defect: StoreDefect, clock: Arc<dyn Clock>, mut eviction: EvictionConfig) -> Self {
        match defect {
            StoreDefect::NeverEvicts => eviction = EvictionConfig::new(),
            StoreDefect::EvictsReserved => {
                if let Some(policy) = eviction.policy("").copied() {
                    for prefix in RESERVED_PREFIXES {
                        eviction = eviction.with_policy(prefix, policy);
                    }
                }
            }
            _ => {}
        }
        Self {
            inner: InMemoryStore::new(Arc::clone(&clock)).with_eviction(eviction),
            clock,
            defect,
            slot: Mutex::default(),
        }
    }

    fn has(&self, defect: StoreDefect) -> bool {
        self.defect == defect
    }

    fn tenant<'t>(&self, tenant: &'t str) -> &'t str {
        if self.has(StoreDefect::HasOneTenant) {
            "local"
        } else {
            tenant
        }
    }

    /// Forgets the stored item, so that a save does not find it.
    async fn forget(&self, item: &MemoryItem) -> Result<(), MemoryError> {
        let stored = self.inner.get(item.tenant(), &item.id).await?;
        let now: Timestamp = self.clock.now().into();
        let is_forgotten = match self.defect {
            StoreDefect::ReplacingChangesCreation => true,
            StoreDefect::DropsTheFuture => stored.is_some_and(|stored| stored.updated_at > now),
            _ => false,
        };
        if is_forgotten {
            self.inner.delete(item.tenant(), &item.id).await?;
        }
        Ok(())
    }

    async fn added(&self, mut items: Vec<MemoryItem>) -> Result<Vec<MemoryItem>, MemoryError> {
        if self.has(StoreDefect::AddsToContent) {
            for item in &mut items {
                let stored = self.inner.get(item.tenant(), &item.id).await?;
                item.content += &stored.map_or(String::new(), |stored| stored.content);
            }
        }
        Ok(items)
    }

    fn changed(&self, mut item: MemoryItem) -> MemoryItem {
        match self.defect {
            StoreDefect::LosesSource => item.source = None,
            StoreDefect::HasOneTenant => item.owner.tenant = "local".into(),
            StoreDefect::RepairsInput => item.id = repaired(&item.id),
            StoreDefect::CutsContent => item.content = item.content.chars().take(1 << 20).collect(),
            _ => {}
        }
        item
    }

    /// Returns the filter, with conditions left out that `keeps` evaluates differently.
    fn loosened(&self, filter: &MemoryFilter) -> MemoryFilter {
        let mut loose = filter.clone();
        loose.tenant = self.tenant(&filter.tenant).into();
        match self.defect {
            StoreDefect::PrefixIsPattern => loose.prefix = String::new(),
            StoreDefect::SinceIsInclusive => {
                loose.since = filter.since.map(|since| Timestamp::from_millis(since.as_millis() - 1));
            }
            StoreDefect::ComparesTexts => loose.metadata.clear(),
            StoreDefect::IgnoresLine => loose.owner = None,
            StoreDefect::EndIsValid => loose.valid_at = None,
            _ => {}
        }
        loose
    }

    fn keeps(&self, filter: &MemoryFilter, item: &MemoryItem) -> bool {
        match self.defect {
            StoreDefect::PrefixIsPattern => is_like(&item.id, &filter.prefix),
            StoreDefect::ComparesTexts => filter.metadata.iter().all(|(name, value)| {
                let text = |value: &serde_json::Value| value.to_string().replace('"', "");
                item.metadata.get(name).is_some_and(|known| text(known) == text(value))
            }),
            StoreDefect::IgnoresLine => filter.owner.as_ref().is_none_or(|owner| owner.user == item.owner.user),
            StoreDefect::EndIsValid => filter
                .valid_at
                .is_none_or(|time| item.is_valid_at(time) || item.valid_until == Some(time)),
            _ => true,
        }
    }
}

/// Returns whether a text begins with a pattern, in which `%` stands for any characters and `_` for one.
fn is_like(text: &str, pattern: &str) -> bool {
    let mut characters = pattern.chars();
    match characters.next() {
        None => true,
        Some('%') => text
            .char_indices()
            .map(|(place, _)| &text[place..])
            .chain([""])
            .any(|rest| is_like(rest, characters.as_str())),
        Some(expected) => {
            let mut rest = text.chars();
            let found = rest.next();
            found.is_some_and(|found| expected == '_' || found == expected)
                && is_like(rest.as_str(), characters.as_str())
        }
    }
}

fn repaired(id: &str) -> String {
    let id: String = id
        .chars()
        .filter(|character| *character != '\0')
        .take(MAX_ID_BYTES)
        .collect();
    if id.is_empty() { "x".to_owned() } else { id }
}

#[async_trait]
impl MemoryStore for MutantStore {
    async fn save_many(&self, items: Vec<MemoryItem>) -> Result<(), MemoryError> {
        let items: Vec<MemoryItem> = items.into_iter().map(|item| self.changed(item)).collect();
        for item in &items {
            self.forget(item).await?;
        }
        let items = self.added(items).await?;
        match self.defect {
            StoreDefect::SavesOneByOne => {
                for item in items {
                    self.inner.save(item).await?;
                    tokio::task::yield_now().await;
                }
                Ok(())
            }
            StoreDefect::LosesConcurrentSaves => {
                *self.slot.lock().unwrap_or_else(PoisonError::into_inner) = items.into_iter().last();
                tokio::task::yield_now().await;
                let item = self.slot.lock().unwrap_or_else(PoisonError::into_inner).clone();
                self.inner.save_many(item.into_iter().collect()).await
            }
            _ => self.inner.save_many(items).await,
        }
    }

    async fn get(&self, tenant: &str, id: &str) -> Result<Option<MemoryItem>, MemoryError> {
        self.inner.get(self.tenant(tenant), id).await
    }

    async fn delete(&self, tenant: &str, id: &str) -> Result<bool, MemoryError> {
        if self.has(StoreDefect::KeepsDeleted) {
            return Ok(self.inner.get(tenant, id).await?.is_some());
        }
        self.inner.delete(self.tenant(tenant), id).await
    }

    async fn delete_prefix(&self, tenant: &str, prefix: &str) -> Result<u64, MemoryError> {
        if self.has(StoreDefect::PrefixIsPattern) {
            let mut deleted = 0;
            for item in self.list(&MemoryFilter::new(tenant).with_prefix(prefix)).await? {
                deleted += u64::from(self.inner.delete(tenant, &item.id).await?);
            }
            return Ok(deleted);
        }
        let prefix = if self.has(StoreDefect::DeletesTooMuch) {
            prefix.trim_end_matches('/')
        } else {
            prefix
        };
        self.inner.delete_prefix(self.tenant(tenant), prefix).await
    }

    async fn list(&self, filter: &MemoryFilter) -> Result<Vec<MemoryItem>, MemoryError> {
        filter.check()?;
        let mut items = self.inner.list(&self.loosened(filter)).await?;
        items.retain(|item| self.keeps(filter, item));
        if self.has(StoreDefect::ListsById) {
            items.sort_by(|one, other| one.id.cmp(&other.id));
        }
        Ok(items)
    }

    async fn count(&self, filter: &MemoryFilter) -> Result<u64, MemoryError> {
        let mut whole = filter.clone();
        if !self.has(StoreDefect::CountsThePage) {
            (whole.offset, whole.limit) = (0, None);
        }
        Ok(self.list(&whole).await?.len() as u64)
    }

    async fn erase(&self, owner: &Actor) -> Result<u64, MemoryError> {
        if self.has(StoreDefect::ErasesOneLine) {
            let mut erased = 0;
            for item in self.inner.list(&MemoryFilter::owned_by(owner.clone())).await? {
                erased += u64::from(self.inner.delete(&owner.tenant, &item.id).await?);
            }
            return Ok(erased);
        }
        let mut owner = owner.clone();
        owner.tenant = self.tenant(&owner.tenant).into();
        self.inner.erase(&owner).await
    }

    async fn record_recall(&self, tenant: &str, id: &str, score: f64) -> Result<(), MemoryError> {
        if self.has(StoreDefect::IgnoresRecalls) {
            return Ok(());
        }
        self.inner.record_recall(self.tenant(tenant), id, score).await
    }

    async fn evict(&self) -> Result<u64, MemoryError> {
        self.inner.evict().await
    }
}

//! [`InMemoryKnowledgeStore`]: a store that keeps its pages in the memory of the process.

mod sources;

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Bound,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use agcore_chat::{Actor, Clock, Timestamp};
use async_trait::async_trait;

use super::{
    changes::{Changes, Position},
    filter::PageFilter,
    page::{KnowledgePage, PageSummary, TagCount},
    recall::RecallStatistics,
    source::{KnowledgeSource, SourceChanges, SourceUpdate},
    source_store::SourceStore,
    store::KnowledgeStore,
};
use crate::{
    error::{MemoryError, MemoryErrorKind},
    filter::Order,
};

/// A [`KnowledgeStore`] in the memory of the process: for tests, for short-lived programs, and as the reference for other
/// stores. Nothing survives the process.
#[derive(Debug)]
pub struct InMemoryKnowledgeStore {
    clock: Arc<dyn Clock>,
    tenants: Mutex<BTreeMap<String, Wiki>>,
}

/// The pages of a tenant.
#[derive(Debug)]
struct Wiki {
    pages: BTreeMap<String, Stored>,
    /// Each page that exists or was deleted, by the number of its last change.
    log: BTreeMap<u64, String>,
    /// The number of the deletion of each page that was deleted.
    deleted: BTreeMap<String, u64>,
    generation: u64,
    last_change: u64,
    /// The pages that refer to a page.
    backlinks: BTreeMap<String, BTreeSet<String>>,
    sources: BTreeMap<String, KnowledgeSource>,
}

#[derive(Debug)]
struct Stored {
    /// Its version is the number of its last change.
    page: KnowledgePage,
    recalls: u64,
    score_sum: f64,
    recalled_at: Timestamp,
}

impl InMemoryKnowledgeStore {
    /// Creates an empty store.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            tenants: Mutex::default(),
        }
    }

    fn now(&self) -> Timestamp {
        self.clock.now().into()
    }

    fn tenants(&self) -> MutexGuard<'_, BTreeMap<String, Wiki>> {
        self.tenants.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the pages of a tenant, which may have none.
    fn read<T>(&self, tenant: &str, absent: T, read: impl FnOnce(&Wiki) -> T) -> T {
        self.tenants().get(tenant).map_or(absent, read)
    }
}

fn wiki<'t>(tenants: &'t mut BTreeMap<String, Wiki>, tenant: &str, now: Timestamp) -> &'t mut Wiki {
    tenants.entry(tenant.to_owned()).or_insert_with(|| Wiki::new(now))
}

#[async_trait]
impl KnowledgeStore for InMemoryKnowledgeStore {
    async fn upsert_many(&self, pages: Vec<KnowledgePage>) -> Result<(), MemoryError> {
        pages.iter().try_for_each(KnowledgePage::check)?;
        let now = self.now();
        let mut tenants = self.tenants();
        for page in pages {
            wiki(&mut tenants, &page.owner.tenant, now).save(page, now);
        }
        Ok(())
    }

    async fn add(&self, page: KnowledgePage) -> Result<(), MemoryError> {
        page.check()?;
        let now = self.now();
        let mut tenants = self.tenants();
        let wiki = wiki(&mut tenants, &page.owner.tenant, now);
        if wiki.pages.contains_key(&page.id) {
            return Err(MemoryError::new(
                MemoryErrorKind::AlreadyExists,
                format!("there is a page `{}` already", page.id),
            ));
        }
        wiki.save(page, now);
        Ok(())
    }

    async fn update(&self, page: KnowledgePage) -> Result<(), MemoryError> {
        page.check()?;
        let now = self.now();
        let mut tenants = self.tenants();
        let wiki = tenants.get_mut(&*page.owner.tenant);
        match wiki.filter(|wiki| wiki.pages.contains_key(&page.id)) {
            Some(wiki) => {
                wiki.save(page, now);
                Ok(())
            }
            None => Err(MemoryError::not_found(format!("there is no page `{}`", page.id))),
        }
    }

    async fn put_if_version(&self, page: KnowledgePage, version: u64) -> Result<u64, MemoryError> {
        page.check()?;
        let now = self.now();
        let mut tenants = self.tenants();
        let stored = tenants
            .get(&*page.owner.tenant)
            .and_then(|wiki| wiki.pages.get(&page.id));
        page.check_version(version, stored.map_or(0, |stored| stored.page.version))?;
        Ok(wiki(&mut tenants, &page.owner.tenant, now).save(page, now))
    }

    async fn get(&self, tenant: &str, id: &str) -> Result<Option<KnowledgePage>, MemoryError> {
        Ok(self.read(tenant, None, |wiki| {
            wiki.pages.get(id).map(|stored| stored.page.clone())
        }))
    }

    async fn get_many(&self, tenant: &str, ids: &[String]) -> Result<Vec<KnowledgePage>, MemoryError> {
        Ok(self.read(tenant, Vec::new(), |wiki| {
            let stored = ids.iter().filter_map(|id| wiki.pages.get(id));
            stored.map(|stored| stored.page.clone()).collect()
        }))
    }

    async fn delete(&self, tenant: &str, id: &str) -> Result<bool, MemoryError> {
        let mut tenants = self.tenants();
        Ok(tenants.get_mut(tenant).is_some_and(|wiki| wiki.delete(id)))
    }

    async fn list(&self, filter: &PageFilter) -> Result<Vec<PageSummary>, MemoryError> {
        filter.check()?;
        Ok(self.read(&filter.tenant, Vec::new(), |wiki| {
            let mut pages = wiki.select(filter);
            pages.sort_by(|one, other| (one.created_at, &one.id).cmp(&(other.created_at, &other.id)));
            if filter.order == Order::NewestFirst {
                pages.reverse();
            }
            let offset = usize::try_from(filter.offset).unwrap_or(usize::MAX);
            let limit = filter.limit.and_then(|limit| usize::try_from(limit).ok());
            let page = pages.into_iter().skip(offset).take(limit.unwrap_or(usize::MAX));
            page.map(|page| page.clone().into()).collect()
        }))
    }

    async fn count(&self, filter: &PageFilter) -> Result<u64, MemoryError> {
        filter.check()?;
        Ok(self.read(&filter.tenant, 0, |wiki| wiki.select(filter).len() as u64))
    }

    async fn tags(&self, tenant: &str, prefix: &str, limit: u64) -> Result<Vec<TagCount>, MemoryError> {
        Ok(self.read(tenant, Vec::new(), |wiki| {
            let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
            for stored in wiki.pages.values() {
                for tag in stored.page.tags.iter().filter(|tag| tag.starts_with(prefix)) {
                    *counts.entry(tag).or_default() += 1;
                }
            }
            let mut tags: Vec<TagCount> = counts
                .into_iter()
                .map(|(tag, count)| TagCount::new(tag, count))
                .collect();
            tags.sort_by(|one, other| other.count.cmp(&one.count).then_with(|| one.tag.cmp(&other.tag)));
            tags.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
            tags
        }))
    }

    async fn backlinks(&self, tenant: &str, id: &str) -> Result<Vec<String>, MemoryError> {
        Ok(self.read(tenant, Vec::new(), |wiki| {
            let pages = wiki.backlinks.get(id).into_iter().flatten();
            pages.cloned().collect()
        }))
    }

    async fn count_backlinks(&self, tenant: &str, ids: &[String]) -> Result<Vec<u64>, MemoryError> {
        let none = vec![0; ids.len()];
        Ok(self.read(tenant, none, |wiki| {
            let count = |id: &String| wiki.backlinks.get(id).map_or(0, |pages| pages.len() as u64);
            ids.iter().map(count).collect()
        }))
    }

    async fn erase(&self, owner: &Actor) -> Result<u64, MemoryError> {
        owner.check()?;
        let mut tenants = self.tenants();
        Ok(tenants.get_mut(&*owner.tenant).map_or(0, |wiki| wiki.erase(owner)))
    }

    async fn changes(&self, tenant: &str, since: Option<Position>, limit: u64) -> Result<Changes, MemoryError> {
        let limit = usize::try_from(limit.max(1)).unwrap_or(usize::MAX);
        Ok(self.read(tenant, absent(since), |wiki| wiki.changes(since, limit)))
    }

    async fn record_recalls(&self, tenant: &str, recalls: &[(String, f64)]) -> Result<(), MemoryError> {
        let now = self.now();
        let mut tenants = self.tenants();
        if let Some(wiki) = tenants.get_mut(tenant) {
            for (id, score) in recalls {
                if let Some(stored) = wiki.pages.get_mut(id) {
                    stored.recalls += 1;
                    // A score that is not a number would make the sum useless for ever.
                    stored.score_sum += if score.is_nan() { 0.0 } else { score.clamp(0.0, 1.0) };
                    stored.recalled_at = now;
                }
            }
        }
        Ok(())
    }

    async fn recall_statistics(&self, tenant: &str, limit: u64) -> Result<Vec<RecallStatistics>, MemoryError> {
        Ok(self.read(tenant, Vec::new(), |wiki| {
            let recalled = wiki.pages.values().filter(|stored| stored.recalls > 0);
            let mut statistics: Vec<RecallStatistics> = recalled
                .map(|stored| {
                    RecallStatistics::new(&*stored.page.id, stored.recalls, stored.score_sum, stored.recalled_at)
                })
                .collect();
            statistics.sort_by(|one, other| other.recalls.cmp(&one.recalls).then_with(|| one.id.cmp(&other.id)));
            statistics.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
            statistics
        }))
    }
}

/// Returns the changes of a tenant that has never had a page.
fn absent(since: Option<Position>) -> Changes {
    let mut changes = Changes::new(None);
    changes.is_reset = since.is_some();
    changes
}

impl Wiki {
    fn new(now: Timestamp) -> Self {
        Self {
            pages: BTreeMap::new(),
            log: BTreeMap::new(),
            deleted: BTreeMap::new(),
            generation: now.as_millis().unsigned_abs(),
            last_change: 0,
            backlinks: BTreeMap::new(),
            sources: BTreeMap::new(),
        }
    }

    /// Saves a page. Returns its version.
    fn save(&mut self, mut page: KnowledgePage, now: Timestamp) -> u64 {
        let change = self.log_change(&page.id);
        let known = self.remove(&page.id);
        page.updated_at = now;
        page.version = change;
        let stored = match known {
            Some(known) => {
                page.created_at = known.page.created_at;
                Stored { page, ..known }
            }
            None => {
                if page.created_at == Timestamp::default() {
                    page.created_at = now;
                }
                Stored {
                    page,
                    recalls: 0,
                    score_sum: 0.0,
                    recalled_at: Timestamp::default(),
                }
            }
        };
        let id = stored.page.id.clone();
        self.deleted.remove(&id);
        for reference in &stored.page.references {
            self.backlinks.entry(reference.clone()).or_default().insert(id.clone());
        }
        self.pages.insert(id, stored);
        change
    }

    fn delete(&mut self, id: &str) -> bool {
        if !self.pages.contains_key(id) {
            return false;
        }
        let change = self.log_change(id);
        self.remove(id);
        self.deleted.insert(id.to_owned(), change);
        true
    }

    fn erase(&mut self, owner: &Actor) -> u64 {
        let of_user = self
            .pages
            .values()
            .filter(|stored| stored.page.owner.user == owner.user);
        let ids: Vec<String> = of_user.map(|stored| stored.page.id.clone()).collect();
        for id in &ids {
            if let Some(stored) = self.remove(id) {
                self.log.remove(&stored.page.version);
            }
        }
        // The ids of deleted pages may be personal as well, and the store does not know whose they were.
        for change in std::mem::take(&mut self.deleted).into_values() {
            self.log.remove(&change);
        }
        self.sources.retain(|_, source| source.owner.user != owner.user);
        self.generation += 1;
        ids.len() as u64
    }

    /// Removes a page and its links.
    fn remove(&mut self, id: &str) -> Option<Stored> {
        let stored = self.pages.remove(id)?;
        for reference in &stored.page.references {
            if let Some(pages) = self.backlinks.get_mut(reference) {
                pages.remove(id);
                if pages.is_empty() {
                    self.backlinks.remove(reference);
                }
            }
        }
        Some(stored)
    }

    /// Assigns the next number to a change of a page, and forgets its earlier one.
    fn log_change(&mut self, id: &str) -> u64 {
        let earlier = self.pages.get(id).map(|stored| stored.page.version);
        if let Some(earlier) = earlier.or_else(|| self.deleted.get(id).copied()) {
            self.log.remove(&earlier);
        }
        self.last_change += 1;
        self.log.insert(self.last_change, id.to_owned());
        self.last_change
    }

    fn select(&self, filter: &PageFilter) -> Vec<&KnowledgePage> {
        let from = self
            .pages
            .range::<str, _>((Bound::Included(filter.prefix.as_str()), Bound::Unbounded));
        let below = from.take_while(|(id, _)| id.starts_with(&filter.prefix));
        let pages = below.map(|(_, stored)| &stored.page);
        pages.filter(|page| filter.matches(page)).collect()
    }

    fn changes(&self, since: Option<Position>, limit: usize) -> Changes {
        let (mut changes, after) = Changes::starting(since, self.generation, self.last_change);
        let mut log = self.log.range(after + 1..);
        for (change, id) in log.by_ref().take(limit) {
            match self.pages.get(id) {
                Some(stored) => changes.saved.push(stored.page.clone()),
                None => changes.deleted.push(id.clone()),
            }
            changes.position = Some(Position::new(self.generation, *change));
        }
        changes.has_more = log.next().is_some();
        changes
    }
}

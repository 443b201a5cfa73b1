//! Knowledge stores with a defect.

use std::sync::{Arc, Mutex, PoisonError};

use agcore_memory::{
    Actor, Clock, MemoryError, Order,
    knowledge::{
        Changes, InMemoryKnowledgeStore, KnowledgePage, KnowledgeStore, MAX_PAGE_BYTES, PageFilter, PageSummary,
        Position, RecallStatistics, TagCount,
    },
};
use async_trait::async_trait;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum KnowledgeDefect {
    ReplacingChangesCreation,
    SavesOneByOne,
    AddReplaces,
    UpdateCreates,
    IgnoresVersions,
    LosesReferences,
    HasOneTenant,
    KeepsDeleted,
    PrefixIsPattern,
    RepairsInput,
    CutsContent,
    ErasesOneLine,
    ListsById,
    CountsThePage,
    AnyTagIsEnough,
    SortsTagsByName,
    LinksNeedATarget,
    CountsRecallsOnce,
    ChangesSkipOne,
    IgnoresTheLimit,
    ForgetsDeletions,
    TrustsEveryPosition,
    ErasureIsSilent,
    LosesConcurrentSaves,
}

use KnowledgeDefect as D;

/// An [`InMemoryKnowledgeStore`] with a defect.
#[derive(Debug)]
pub(super) struct MutantKnowledge {
    inner: InMemoryKnowledgeStore,
    defect: KnowledgeDefect,
    /// The page that the next save saves, no matter which call put it there.
    slot: Mutex<Option<KnowledgePage>>,
}

impl MutantKnowledge {
    pub(super) fn new(defect: KnowledgeDefect, clock: Arc<dyn Clock>) -> Self {
        Self {
            inner: InMemoryKnowledgeStore::new(clock),
            defect,
            slot: Mutex::default(),
        }
    }

    fn has(&self, defect: KnowledgeDefect) -> bool {
        self.defect == defect
    }

    fn tenant<'t>(&self, tenant: &'t str) -> &'t str {
        if self.has(D::HasOneTenant) { "local" } else { tenant }
    }

    fn filter(&self, filter: &PageFilter) -> PageFilter {
        let mut filter = filter.clone();
        filter.tenant = self.tenant(&filter.tenant).into();
        if self.has(D::PrefixIsPattern) {
            filter.prefix = filter.prefix.replace(['_', '%'], "");
        }
        filter
    }

    fn changed(&self, mut page: KnowledgePage) -> KnowledgePage {
        match self.defect {
            D::LosesReferences => page.references.clear(),
            D::HasOneTenant => page.owner.tenant = "local".into(),
            D::RepairsInput if page.id.is_empty() => page.id = "repaired".to_owned(),
            D::CutsContent if page.content.len() == MAX_PAGE_BYTES => page.content.truncate(MAX_PAGE_BYTES / 2),
            _ => {}
        }
        page
    }

    async fn save(&self, page: KnowledgePage) -> Result<(), MemoryError> {
        let page = self.changed(page);
        if self.has(D::ReplacingChangesCreation) {
            self.inner.delete(page.tenant(), &page.id).await?;
        }
        if self.has(D::LosesConcurrentSaves) {
            *self.slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(page);
            tokio::task::yield_now().await;
            let page = self.slot.lock().unwrap_or_else(PoisonError::into_inner).take();
            return self.inner.upsert_many(page.into_iter().collect()).await;
        }
        self.inner.upsert(page).await
    }
}

#[async_trait]
impl KnowledgeStore for MutantKnowledge {
    async fn upsert_many(&self, pages: Vec<KnowledgePage>) -> Result<(), MemoryError> {
        if !self.has(D::SavesOneByOne) {
            let mut checked = pages.iter().map(|page| self.changed(page.clone()));
            checked.try_for_each(|page| page.check())?;
        }
        for page in pages {
            self.save(page).await?;
        }
        Ok(())
    }

    async fn add(&self, page: KnowledgePage) -> Result<(), MemoryError> {
        match self.defect {
            D::AddReplaces => self.inner.upsert(page).await,
            _ => self.inner.add(self.changed(page)).await,
        }
    }

    async fn update(&self, page: KnowledgePage) -> Result<(), MemoryError> {
        match self.defect {
            D::UpdateCreates => self.inner.upsert(page).await,
            _ => self.inner.update(self.changed(page)).await,
        }
    }

    async fn put_if_version(&self, page: KnowledgePage, version: u64) -> Result<u64, MemoryError> {
        let page = self.changed(page);
        if self.has(D::IgnoresVersions) {
            let (tenant, id) = (page.tenant().clone(), page.id.clone());
            // Others write meanwhile.
            tokio::task::yield_now().await;
            self.inner.upsert(page).await?;
            let stored = self.inner.get(&tenant, &id).await?;
            return Ok(stored.map_or(0, |page| page.version));
        }
        self.inner.put_if_version(page, version).await
    }

    async fn get(&self, tenant: &str, id: &str) -> Result<Option<KnowledgePage>, MemoryError> {
        self.inner.get(self.tenant(tenant), id).await
    }

    async fn get_many(&self, tenant: &str, ids: &[String]) -> Result<Vec<KnowledgePage>, MemoryError> {
        self.inner.get_many(self.tenant(tenant), ids).await
    }

    async fn delete(&self, tenant: &str, id: &str) -> Result<bool, MemoryError> {
        if self.has(D::KeepsDeleted) {
            return Ok(self.inner.get(tenant, id).await?.is_some());
        }
        self.inner.delete(self.tenant(tenant), id).await
    }

    async fn list(&self, filter: &PageFilter) -> Result<Vec<PageSummary>, MemoryError> {
        let mut filter = self.filter(filter);
        if self.has(D::AnyTagIsEnough) {
            filter.tags.truncate(1);
        }
        let mut pages = self.inner.list(&filter).await?;
        if self.has(D::ListsById) {
            pages.sort_by(|one, other| one.id.cmp(&other.id));
            if filter.order == Order::NewestFirst {
                pages.reverse();
            }
        }
        Ok(pages)
    }

    async fn count(&self, filter: &PageFilter) -> Result<u64, MemoryError> {
        let count = self.inner.count(&self.filter(filter)).await?;
        match filter.limit {
            Some(limit) if self.has(D::CountsThePage) => Ok(count.min(limit)),
            _ => Ok(count),
        }
    }

    async fn tags(&self, tenant: &str, prefix: &str, limit: u64) -> Result<Vec<TagCount>, MemoryError> {
        let mut tags = self.inner.tags(self.tenant(tenant), prefix, limit).await?;
        if self.has(D::SortsTagsByName) {
            tags.sort_by(|one, other| one.tag.cmp(&other.tag));
        }
        Ok(tags)
    }

    async fn backlinks(&self, tenant: &str, id: &str) -> Result<Vec<String>, MemoryError> {
        if self.has(D::LinksNeedATarget) && self.inner.get(tenant, id).await?.is_none() {
            return Ok(Vec::new());
        }
        self.inner.backlinks(self.tenant(tenant), id).await
    }

    async fn count_backlinks(&self, tenant: &str, ids: &[String]) -> Result<Vec<u64>, MemoryError> {
        self.inner.count_backlinks(self.tenant(tenant), ids).await
    }

    async fn erase(&self, owner: &Actor) -> Result<u64, MemoryError> {
        match self.defect {
            D::ErasesOneLine | D::ErasureIsSilent => {
                let mut filter = PageFilter::new(owner.tenant.clone());
                if self.has(D::ErasesOneLine) {
                    filter = filter.with_owner(owner.clone());
                }
                let pages = self.inner.list(&filter).await?;
                let mut erased = 0;
                for page in pages.iter().filter(|page| page.owner.user == owner.user) {
                    erased += u64::from(self.inner.delete(&owner.tenant, &page.id).await?);
                }
                Ok(erased)
            }
            _ => self.inner.erase(owner).await,
        }
    }

    async fn changes(&self, tenant: &str, since: Option<Position>, limit: u64) -> Result<Changes, MemoryError> {
        let limit = if self.has(D::IgnoresTheLimit) { 1000 } else { limit };
        let mut changes = self.inner.changes(self.tenant(tenant), since, limit).await?;
        match self.defect {
            D::ChangesSkipOne if changes.saved.len() > 1 => drop(changes.saved.pop()),
            D::ForgetsDeletions => changes.deleted.clear(),
            D::TrustsEveryPosition if since.is_some() => changes.is_reset = false,
            _ => {}
        }
        Ok(changes)
    }

    async fn record_recalls(&self, tenant: &str, recalls: &[(String, f64)]) -> Result<(), MemoryError> {
        if self.has(D::CountsRecallsOnce) {
            let known = self.inner.recall_statistics(tenant, 100).await?;
            if recalls.iter().any(|(id, _)| known.iter().any(|page| page.id == *id)) {
                return Ok(());
            }
        }
        self.inner.record_recalls(self.tenant(tenant), recalls).await
    }

    async fn recall_statistics(&self, tenant: &str, limit: u64) -> Result<Vec<RecallStatistics>, MemoryError> {
        self.inner.recall_statistics(self.tenant(tenant), limit).await
    }
}

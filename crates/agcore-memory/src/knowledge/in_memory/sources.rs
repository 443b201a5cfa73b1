//! Sources in the memory of the process.

use std::ops::Bound;

use agcore_chat::Timestamp;
use async_trait::async_trait;

use super::{
    InMemoryKnowledgeStore, KnowledgePage, KnowledgeSource, SourceChanges, SourceStore, SourceUpdate, Wiki, wiki,
};
use crate::error::MemoryError;

#[async_trait]
impl SourceStore for InMemoryKnowledgeStore {
    async fn put_source(
        &self,
        source: KnowledgeSource,
        pages: Vec<KnowledgePage>,
    ) -> Result<SourceChanges, MemoryError> {
        // Before a tenant is created for it.
        SourceUpdate::new(&source, pages.clone(), Vec::new())?;
        let now = self.now();
        let mut tenants = self.tenants();
        wiki(&mut tenants, &source.owner.tenant, now).put_source(source, pages, now)
    }

    async fn source(&self, tenant: &str, id: &str) -> Result<Option<KnowledgeSource>, MemoryError> {
        Ok(self.read(tenant, None, |wiki| wiki.sources.get(id).cloned()))
    }

    async fn sources(
        &self,
        tenant: &str,
        prefix: &str,
        after: Option<&str>,
        limit: u64,
    ) -> Result<Vec<KnowledgeSource>, MemoryError> {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let start = match after {
            Some(after) if after >= prefix => Bound::Excluded(after),
            _ => Bound::Included(prefix),
        };
        Ok(self.read(tenant, Vec::new(), |wiki| {
            let from = wiki.sources.range::<str, _>((start, Bound::Unbounded));
            let below = from.take_while(|(id, _)| id.starts_with(prefix));
            below.take(limit).map(|(_, source)| source.clone()).collect()
        }))
    }

    async fn delete_source(&self, tenant: &str, id: &str) -> Result<Option<u64>, MemoryError> {
        Ok(self.tenants().get_mut(tenant).and_then(|wiki| wiki.delete_source(id)))
    }
}

impl Wiki {
    fn put_source(
        &mut self,
        mut source: KnowledgeSource,
        pages: Vec<KnowledgePage>,
        now: Timestamp,
    ) -> Result<SourceChanges, MemoryError> {
        let mut known = self.pages_of(&source.id);
        for page in &pages {
            let others = self.pages.get(&page.id).map(|stored| &stored.page);
            known.extend(others.filter(|page| !is_of(page, &source.id)).cloned());
        }
        let update = SourceUpdate::new(&source, pages, known)?;
        source.pages = update.changes.total();
        for page in update.save {
            self.save(page, now);
        }
        for id in &update.delete {
            self.delete(id);
        }
        let earlier = self.sources.get(&source.id);
        source.added_at = earlier.map_or(now, |earlier| earlier.added_at);
        source.updated_at = now;
        self.sources.insert(source.id.clone(), source);
        Ok(update.changes)
    }

    fn delete_source(&mut self, id: &str) -> Option<u64> {
        self.sources.remove(id)?;
        let pages = self.pages_of(id);
        for page in &pages {
            self.delete(&page.id);
        }
        Some(pages.len() as u64)
    }

    fn pages_of(&self, source: &str) -> Vec<KnowledgePage> {
        let pages = self.pages.values().map(|stored| &stored.page);
        pages.filter(|page| is_of(page, source)).cloned().collect()
    }
}

fn is_of(page: &KnowledgePage, source: &str) -> bool {
    page.source.as_ref().is_some_and(|of| of.id == source)
}

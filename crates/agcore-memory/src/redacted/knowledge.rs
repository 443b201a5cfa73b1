//! Pages without secrets.

use agcore_chat::{
    Actor,
    redact::{Redacted, Redactor, redact_text},
};
use async_trait::async_trait;

use crate::{
    error::MemoryError,
    knowledge::{
        Changes, KnowledgePage, KnowledgeSource, KnowledgeStore, PageFilter, PageSummary, Position, RecallStatistics,
        SourceChanges, SourceStore, TagCount, normalized_tag,
    },
};

#[async_trait]
impl<S: KnowledgeStore> KnowledgeStore for Redacted<S> {
    async fn upsert_many(&self, pages: Vec<KnowledgePage>) -> Result<(), MemoryError> {
        let pages: Result<_, _> = pages
            .into_iter()
            .map(|page| redacted_page(self.redactor(), page))
            .collect();
        self.inner().upsert_many(pages?).await
    }

    async fn add(&self, page: KnowledgePage) -> Result<(), MemoryError> {
        self.inner().add(redacted_page(self.redactor(), page)?).await
    }

    async fn update(&self, page: KnowledgePage) -> Result<(), MemoryError> {
        self.inner().update(redacted_page(self.redactor(), page)?).await
    }

    async fn put_if_version(&self, page: KnowledgePage, version: u64) -> Result<u64, MemoryError> {
        self.inner()
            .put_if_version(redacted_page(self.redactor(), page)?, version)
            .await
    }

    async fn get(&self, tenant: &str, id: &str) -> Result<Option<KnowledgePage>, MemoryError> {
        self.inner().get(tenant, id).await
    }

    async fn get_many(&self, tenant: &str, ids: &[String]) -> Result<Vec<KnowledgePage>, MemoryError> {
        self.inner().get_many(tenant, ids).await
    }

    async fn delete(&self, tenant: &str, id: &str) -> Result<bool, MemoryError> {
        self.inner().delete(tenant, id).await
    }

    async fn list(&self, filter: &PageFilter) -> Result<Vec<PageSummary>, MemoryError> {
        self.inner().list(&redacted_filter(self.redactor(), filter)).await
    }

    async fn count(&self, filter: &PageFilter) -> Result<u64, MemoryError> {
        self.inner().count(&redacted_filter(self.redactor(), filter)).await
    }

    async fn tags(&self, tenant: &str, prefix: &str, limit: u64) -> Result<Vec<TagCount>, MemoryError> {
        self.inner().tags(tenant, prefix, limit).await
    }

    async fn backlinks(&self, tenant: &str, id: &str) -> Result<Vec<String>, MemoryError> {
        self.inner().backlinks(tenant, id).await
    }

    async fn count_backlinks(&self, tenant: &str, ids: &[String]) -> Result<Vec<u64>, MemoryError> {
        self.inner().count_backlinks(tenant, ids).await
    }

    async fn erase(&self, owner: &Actor) -> Result<u64, MemoryError> {
        self.inner().erase(owner).await
    }

    async fn changes(&self, tenant: &str, since: Option<Position>, limit: u64) -> Result<Changes, MemoryError> {
        self.inner().changes(tenant, since, limit).await
    }

    async fn record_recalls(&self, tenant: &str, recalls: &[(String, f64)]) -> Result<(), MemoryError> {
        self.inner().record_recalls(tenant, recalls).await
    }

    async fn recall_statistics(&self, tenant: &str, limit: u64) -> Result<Vec<RecallStatistics>, MemoryError> {
        self.inner().recall_statistics(tenant, limit).await
    }
}

#[async_trait]
impl<S: SourceStore> SourceStore for Redacted<S> {
    async fn put_source(
        &self,
        mut source: KnowledgeSource,
        pages: Vec<KnowledgePage>,
    ) -> Result<SourceChanges, MemoryError> {
        let redactor = self.redactor();
        let texts = [&mut source.title, &mut source.problem].into_iter().flatten();
        for text in texts.chain(&mut source.warnings) {
            redact_text(redactor, text);
        }
        let pages: Result<_, _> = pages.into_iter().map(|page| redacted_page(redactor, page)).collect();
        self.inner().put_source(source, pages?).await
    }

    async fn source(&self, tenant: &str, id: &str) -> Result<Option<KnowledgeSource>, MemoryError> {
        self.inner().source(tenant, id).await
    }

    async fn sources(
        &self,
        tenant: &str,
        prefix: &str,
        after: Option<&str>,
        limit: u64,
    ) -> Result<Vec<KnowledgeSource>, MemoryError> {
        self.inner().sources(tenant, prefix, after, limit).await
    }

    async fn delete_source(&self, tenant: &str, id: &str) -> Result<Option<u64>, MemoryError> {
        self.inner().delete_source(tenant, id).await
    }
}

/// Removes secrets from the texts and tags of a page.
///
/// # Errors
/// When the page is not acceptable. This is checked before the tags are joined.
fn redacted_page(redactor: &dyn Redactor, mut page: KnowledgePage) -> Result<KnowledgePage, MemoryError> {
    page.check()?;
    for text in [&mut page.title, &mut page.summary, &mut page.content] {
        redact_text(redactor, text);
    }
    for heading in page.source.iter_mut().flat_map(|source| &mut source.position.headings) {
        redact_text(redactor, heading);
    }
    let tags = std::mem::take(&mut page.tags);
    for mut tag in tags {
        redact_text(redactor, &mut tag);
        page = page.with_tag(tag);
    }
    Ok(page)
}

/// Redacts the tags of a filter in the same way as those of pages.
fn redacted_filter(redactor: &dyn Redactor, filter: &PageFilter) -> PageFilter {
    let mut filter = filter.clone();
    for tag in &mut filter.tags {
        redact_text(redactor, tag);
        *tag = normalized_tag(tag);
    }
    filter
}

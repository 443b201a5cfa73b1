//! The knowledge store.

mod changes;
mod recalls;
mod row;
mod write;
mod sources;

use agcore_chat::Actor;
use agcore_memory::{
    MemoryError, Order,
    knowledge::{
        Changes, KnowledgePage, KnowledgeStore, PageFilter, PageSummary, Position, RecallStatistics, TagCount,
    },
};
use async_trait::async_trait;
use rusqlite::Connection;

use self::row::summary;
pub(super) use self::row::{COLUMNS, page};
use super::{
    SqliteStore,
    memory::params_of,
    rows::{count, limit, number, select, select_one},
};
use crate::{
    error::{StoreError, StoreErrorKind},
    sql::{Conditions, Value},
};

/// Selects what a filter selects.
fn selecting(filter: &PageFilter) -> Conditions {
    Conditions::pages(filter, |tag| {
        let sql = "page IN (SELECT page FROM knowledge_tags WHERE tenant = ? AND tag = ?)";
        let values = [filter.tenant.to_string(), tag.to_owned()];
        Conditions::new(sql, values.map(Value::Text))
    })
}

#[async_trait]
impl KnowledgeStore for SqliteStore {
    async fn upsert_many(&self, pages: Vec<KnowledgePage>) -> Result<(), MemoryError> {
        pages.iter().try_for_each(KnowledgePage::check)?;
        let now = self.now();
        let save = move |connection: &Connection| {
            let mut pages = pages.iter();
            pages.try_for_each(|page| write::save(connection, page, now).map(drop))
        };
        self.write(save).await
    }

    async fn add(&self, page: KnowledgePage) -> Result<(), MemoryError> {
        page.check()?;
        let now = self.now();
        let add = move |connection: &Connection| {
            if write::exists(connection, &page)? {
                return Err(StoreError::new(
                    StoreErrorKind::AlreadyExists,
                    format!("there is a page `{}` already", page.id),
                ));
            }
            write::save(connection, &page, now).map(drop)
        };
        self.write(add).await
    }

    async fn update(&self, page: KnowledgePage) -> Result<(), MemoryError> {
        page.check()?;
        let now = self.now();
        let update = move |connection: &Connection| {
            if !write::exists(connection, &page)? {
                return Err(StoreError::not_found(format!("there is no page `{}`", page.id)));
            }
            write::save(connection, &page, now).map(drop)
        };
        self.write(update).await
    }

    async fn put_if_version(&self, page: KnowledgePage, version: u64) -> Result<u64, MemoryError> {
        page.check()?;
        let now = self.now();
        let put = move |connection: &Connection| {
            page.check_version(version, write::version(connection, &page)?)?;
            write::save(connection, &page, now)
        };
        self.write(put).await
    }

    async fn get(&self, tenant: &str, id: &str) -> Result<Option<KnowledgePage>, MemoryError> {
        let key = [tenant.to_owned(), id.to_owned()];
        let get = move |connection: &Connection| {
            let sql = format!("SELECT {COLUMNS}, content FROM knowledge_pages WHERE tenant = ?1 AND id = ?2");
            select_one(connection, "cannot read the page", &sql, key, page)
        };
        self.read(get).await
    }

    async fn get_many(&self, tenant: &str, ids: &[String]) -> Result<Vec<KnowledgePage>, MemoryError> {
        let (tenant, ids) = (tenant.to_owned(), ids.to_vec());
        let get = move |connection: &Connection| {
            let sql = format!("SELECT {COLUMNS}, content FROM knowledge_pages WHERE tenant = ?1 AND id = ?2");
            let mut pages = Vec::with_capacity(ids.len());
            for id in &ids {
                pages.extend(select_one(
                    connection,
                    "cannot read the page",
                    &sql,
                    [&tenant, id],
                    page,
                )?);
            }
            Ok(pages)
        };
        self.read(get).await
    }

    async fn delete(&self, tenant: &str, id: &str) -> Result<bool, MemoryError> {
        let (tenant, id) = (tenant.to_owned(), id.to_owned());
        self.write(move |connection| write::delete(connection, &tenant, &id))
            .await
    }

    async fn list(&self, filter: &PageFilter) -> Result<Vec<PageSummary>, MemoryError> {
        filter.check()?;
        let conditions = selecting(filter);
        let direction = match filter.order {
            Order::OldestFirst => "ASC",
            Order::NewestFirst => "DESC",
        };
        let (limit, offset) = (limit(filter.limit), number(filter.offset));
        let list = move |connection: &Connection| {
            let sql = format!(
                "SELECT {COLUMNS} FROM knowledge_pages WHERE {} ORDER BY created_at {direction}, id {direction} \
                 LIMIT {limit} OFFSET {offset}",
                conditions.sql()
            );
            select(
                connection,
                "cannot list the pages",
                &sql,
                params_of(&conditions),
                summary,
            )
        };
        self.read(list).await
    }

    async fn count(&self, filter: &PageFilter) -> Result<u64, MemoryError> {
        filter.check()?;
        let conditions = selecting(filter);
        let query = move |connection: &Connection| {
            let sql = format!(
                "SELECT count(*) AS pages FROM knowledge_pages WHERE {}",
                conditions.sql()
            );
            let read = |row: &rusqlite::Row<'_>| count(row, "pages");
            let found = select_one(connection, "cannot count the pages", &sql, params_of(&conditions), read)?;
            Ok(found.unwrap_or(0))
        };
        self.read(query).await
    }

    async fn tags(&self, tenant: &str, prefix: &str, limit: u64) -> Result<Vec<TagCount>, MemoryError> {
        let conditions = Conditions::tenant(tenant).and(Conditions::column_with_prefix("tag", prefix));
        let limit = number(limit);
        let query = move |connection: &Connection| {
            let sql = format!(
                "SELECT tag, count(*) AS pages FROM knowledge_tags WHERE {} GROUP BY tag \
                 ORDER BY pages DESC, tag LIMIT {limit}",
                conditions.sql()
            );
            let read = |row: &rusqlite::Row<'_>| Ok(TagCount::new(row.get::<_, String>("tag")?, count(row, "pages")?));
            select(connection, "cannot list the tags", &sql, params_of(&conditions), read)
        };
        self.read(query).await
    }

    async fn backlinks(&self, tenant: &str, id: &str) -> Result<Vec<String>, MemoryError> {
        let key = [tenant.to_owned(), id.to_owned()];
        let query = move |connection: &Connection| {
            let sql = "SELECT knowledge_pages.id FROM knowledge_references JOIN knowledge_pages USING (page)
                       WHERE knowledge_references.tenant = ?1 AND target = ?2 ORDER BY knowledge_pages.id";
            select(connection, "cannot list the references", sql, key, |row| row.get(0))
        };
        self.read(query).await
    }

    async fn count_backlinks(&self, tenant: &str, ids: &[String]) -> Result<Vec<u64>, MemoryError> {
        let (tenant, ids) = (tenant.to_owned(), ids.to_vec());
        let query = move |connection: &Connection| {
            let sql = "SELECT count(*) AS pages FROM knowledge_references WHERE tenant = ?1 AND target = ?2";
            let read = |row: &rusqlite::Row<'_>| count(row, "pages");
            let mut counts = Vec::with_capacity(ids.len());
            for id in &ids {
                let found = select_one(connection, "cannot count the references", sql, [&tenant, id], read)?;
                counts.push(found.unwrap_or(0));
            }
            Ok(counts)
        };
        self.read(query).await
    }

    async fn erase(&self, owner: &Actor) -> Result<u64, MemoryError> {
        let owner = owner.clone();
        let erased = self
            .write::<_, StoreError>(move |connection| write::erase(connection, &owner))
            .await?;
        self.truncate_log().await?;
        Ok(erased)
    }

    async fn changes(&self, tenant: &str, since: Option<Position>, limit: u64) -> Result<Changes, MemoryError> {
        let tenant = tenant.to_owned();
        self.read(move |connection| changes::changes(connection, &tenant, since, limit))
            .await
    }

    async fn record_recalls(&self, tenant: &str, recalls: &[(String, f64)]) -> Result<(), MemoryError> {
        if recalls.is_empty() {
            return Ok(());
        }
        let (tenant, recalls, now) = (tenant.to_owned(), recalls.to_vec(), self.now());
        self.write(move |connection| recalls::record(connection, &tenant, &recalls, now))
            .await
    }

    async fn recall_statistics(&self, tenant: &str, limit: u64) -> Result<Vec<RecallStatistics>, MemoryError> {
        let tenant = tenant.to_owned();
        self.read(move |connection| recalls::statistics(connection, &tenant, limit))
            .await
    }
}

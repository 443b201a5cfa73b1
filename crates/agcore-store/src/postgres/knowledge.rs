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
use sqlx::Row;

use self::row::summary;
pub(super) use self::row::{COLUMNS, page};
use super::{
    PostgresStore,
    error::convert,
    query::{bind_all, number, numbered, statement},
    rows::count,
    text::lookup,
};
use crate::{
    error::{StoreError, StoreErrorKind},
    sql::{Conditions, Value},
};

/// Selects what a filter selects.
fn selecting(filter: &PageFilter) -> Conditions {
    Conditions::pages(filter, |tag| {
        Conditions::new("tags @> ARRAY[?]", [Value::Text(tag.to_owned())])
    })
}

/// The state of a page that a write needs.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Needs {
    Nothing,
    Absence,
    Presence,
    /// This version, 0 for absence.
    Version(u64),
}

#[async_trait]
impl KnowledgeStore for PostgresStore {
    async fn upsert_many(&self, pages: Vec<KnowledgePage>) -> Result<(), MemoryError> {
        Ok(self.save_pages(pages, Needs::Nothing).await.map(drop)?)
    }

    async fn add(&self, page: KnowledgePage) -> Result<(), MemoryError> {
        Ok(self.save_pages(vec![page], Needs::Absence).await.map(drop)?)
    }

    async fn update(&self, page: KnowledgePage) -> Result<(), MemoryError> {
        Ok(self.save_pages(vec![page], Needs::Presence).await.map(drop)?)
    }

    async fn put_if_version(&self, page: KnowledgePage, version: u64) -> Result<u64, MemoryError> {
        Ok(self.save_pages(vec![page], Needs::Version(version)).await?)
    }

    async fn get(&self, tenant: &str, id: &str) -> Result<Option<KnowledgePage>, MemoryError> {
        let sql = concat!(
            "SELECT ",
            COLUMNS!(),
            ", content FROM knowledge_pages WHERE tenant = $1 AND id = $2"
        );
        let statement = sqlx::query(sql).bind(lookup(tenant)).bind(lookup(id));
        let row = self.statements().row("cannot read the page", statement).await?;
        Ok(row.as_ref().map(page).transpose()?)
    }

    async fn get_many(&self, tenant: &str, ids: &[String]) -> Result<Vec<KnowledgePage>, MemoryError> {
        let sql = concat!(
            "SELECT ",
            COLUMNS!(),
            ", content FROM unnest($2::text[]) WITH ORDINALITY AS wanted (wanted_id, number)
             JOIN knowledge_pages ON tenant = $1 AND id = wanted_id ORDER BY number"
        );
        let statement = sqlx::query(sql).bind(lookup(tenant)).bind(lookups(ids));
        let rows = self.statements().rows("cannot read the pages", statement).await?;
        rows.iter().map(|row| Ok(page(row)?)).collect()
    }

    async fn delete(&self, tenant: &str, id: &str) -> Result<bool, MemoryError> {
        Ok(self.delete_page(tenant, id).await?)
    }

    async fn list(&self, filter: &PageFilter) -> Result<Vec<PageSummary>, MemoryError> {
        filter.check()?;
        let conditions = selecting(filter);
        let direction = match filter.order {
            Order::OldestFirst => "ASC",
            Order::NewestFirst => "DESC",
        };
        let next = conditions.values().len() + 1;
        let sql = format!(
            concat!(
                "SELECT ",
                COLUMNS!(),
                " FROM knowledge_pages WHERE {} ORDER BY created_at {}, id {} OFFSET ${} LIMIT ${}"
            ),
            numbered(conditions.sql(), 1),
            direction,
            direction,
            next,
            next + 1,
        );
        let statement = bind_all(statement(sql), &conditions)
            .bind(number(filter.offset))
            .bind(filter.limit.map(number));
        let rows = self.statements().rows("cannot list the pages", statement).await?;
        rows.iter().map(|row| Ok(summary(row)?)).collect()
    }

    async fn count(&self, filter: &PageFilter) -> Result<u64, MemoryError> {
        filter.check()?;
        let attempt = "cannot count the pages";
        let conditions = selecting(filter);
        let sql = numbered(conditions.sql(), 1);
        let statement = statement(format!("SELECT count(*) AS pages FROM knowledge_pages WHERE {sql}"));
        let row = self.statements().row(attempt, bind_all(statement, &conditions)).await?;
        let pages = row.map_or(Ok(0), |row| count(&row, "pages"));
        Ok(pages.map_err(|error| convert(attempt, error))?)
    }

    async fn tags(&self, tenant: &str, prefix: &str, limit: u64) -> Result<Vec<TagCount>, MemoryError> {
        let attempt = "cannot list the tags";
        let sql = "SELECT tag, count(*) AS pages FROM knowledge_pages, unnest(tags) AS tag
                   WHERE tenant = $1 AND starts_with(tag, $2)
                   GROUP BY tag ORDER BY pages DESC, tag COLLATE \"C\" LIMIT $3";
        let statement = sqlx::query(sql)
            .bind(lookup(tenant))
            .bind(lookup(prefix))
            .bind(number(limit));
        let rows = self.statements().rows(attempt, statement).await?;
        let read =
            |row: &sqlx::postgres::PgRow| Ok(TagCount::new(row.try_get::<String, _>("tag")?, count(row, "pages")?));
        let tags: Result<_, sqlx::Error> = rows.iter().map(read).collect();
        Ok(tags.map_err(|error| convert(attempt, error))?)
    }

    async fn backlinks(&self, tenant: &str, id: &str) -> Result<Vec<String>, MemoryError> {
        let attempt = "cannot list the references";
        let sql = "SELECT id FROM knowledge_pages WHERE tenant = $1 AND refs @> ARRAY[$2] ORDER BY id";
        let statement = sqlx::query(sql).bind(lookup(tenant)).bind(lookup(id));
        let rows = self.statements().rows(attempt, statement).await?;
        let ids: Result<_, sqlx::Error> = rows.iter().map(|row| row.try_get("id")).collect();
        Ok(ids.map_err(|error| convert(attempt, error))?)
    }

    async fn count_backlinks(&self, tenant: &str, ids: &[String]) -> Result<Vec<u64>, MemoryError> {
        let attempt = "cannot count the references";
        let sql = "SELECT (SELECT count(*) FROM knowledge_pages WHERE tenant = $1 AND refs @> ARRAY[wanted]) AS pages
                   FROM unnest($2::text[]) WITH ORDINALITY AS wanted (wanted, place) ORDER BY place";
        let statement = sqlx::query(sql).bind(lookup(tenant)).bind(lookups(ids));
        let rows = self.statements().rows(attempt, statement).await?;
        let counts: Result<_, sqlx::Error> = rows.iter().map(|row| count(row, "pages")).collect();
        Ok(counts.map_err(|error| convert(attempt, error))?)
    }

    async fn erase(&self, owner: &Actor) -> Result<u64, MemoryError> {
        Ok(self.erase_pages(owner).await?)
    }

    async fn changes(&self, tenant: &str, since: Option<Position>, limit: u64) -> Result<Changes, MemoryError> {
        Ok(self.page_changes(tenant, since, limit).await?)
    }

    async fn record_recalls(&self, tenant: &str, recalls: &[(String, f64)]) -> Result<(), MemoryError> {
        Ok(self.record_page_recalls(tenant, recalls).await?)
    }

    async fn recall_statistics(&self, tenant: &str, limit: u64) -> Result<Vec<RecallStatistics>, MemoryError> {
        Ok(self.page_recalls(tenant, limit).await?)
    }
}

/// Returns ids as the values of a lookup, in which one that cannot be stored is null.
fn lookups(ids: &[String]) -> Vec<Option<&str>> {
    ids.iter().map(|id| lookup(id)).collect()
}

fn exists_already(id: &str) -> StoreError {
    StoreError::new(StoreErrorKind::AlreadyExists, format!("there is a page `{id}` already"))
}

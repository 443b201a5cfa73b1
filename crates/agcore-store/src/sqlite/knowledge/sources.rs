//! The sources of pages.

use agcore_chat::Timestamp;
use agcore_memory::{
    MemoryError,
    knowledge::{KnowledgePage, KnowledgeSource, SourceChanges, SourceStore, SourceUpdate},
};
use async_trait::async_trait;
use rusqlite::{Connection, Row, params};

use super::{
    row::{COLUMNS, page},
    write,
};
use crate::{
    error::StoreError,
    sql::{Conditions, data_of},
    sqlite::{
        SqliteStore,
        memory::params_of,
        rows::{Json, execute, number, select, select_one},
    },
};

const WRITE: &str = "cannot save the source";
const READ: &str = "cannot read the sources";

#[async_trait]
impl SourceStore for SqliteStore {
    async fn put_source(
        &self,
        source: KnowledgeSource,
        pages: Vec<KnowledgePage>,
    ) -> Result<SourceChanges, MemoryError> {
        source.check()?;
        let now = self.now();
        self.write(move |connection| put(connection, source, pages, now)).await
    }

    async fn source(&self, tenant: &str, id: &str) -> Result<Option<KnowledgeSource>, MemoryError> {
        let (tenant, id) = (tenant.to_owned(), id.to_owned());
        self.read(move |connection| one(connection, &tenant, &id)).await
    }

    async fn sources(
        &self,
        tenant: &str,
        prefix: &str,
        after: Option<&str>,
        limit: u64,
    ) -> Result<Vec<KnowledgeSource>, MemoryError> {
        let conditions = Conditions::tenant(tenant).and(Conditions::column_with_prefix("id", prefix));
        let conditions = conditions.after("id", after);
        let limit = number(limit);
        let list = move |connection: &Connection| {
            let sql = format!(
                "SELECT data FROM knowledge_sources WHERE {} ORDER BY id LIMIT {limit}",
                conditions.sql()
            );
            select(connection, READ, &sql, params_of(&conditions), read)
        };
        self.read(list).await
    }

    async fn delete_source(&self, tenant: &str, id: &str) -> Result<Option<u64>, MemoryError> {
        let (tenant, id) = (tenant.to_owned(), id.to_owned());
        self.write(move |connection| delete(connection, &tenant, &id)).await
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<KnowledgeSource> {
    let Json(source) = row.get("data")?;
    Ok(source)
}

fn one(connection: &Connection, tenant: &str, id: &str) -> Result<Option<KnowledgeSource>, StoreError> {
    let sql = "SELECT data FROM knowledge_sources WHERE tenant = ?1 AND id = ?2";
    select_one(connection, READ, sql, [tenant, id], read)
}

fn put(
    connection: &Connection,
    mut source: KnowledgeSource,
    pages: Vec<KnowledgePage>,
    now: Timestamp,
) -> Result<SourceChanges, StoreError> {
    let tenant = source.owner.tenant.to_string();
    let mut known = pages_of(connection, &tenant, &source.id)?;
    let sql =
        format!("SELECT {COLUMNS}, content FROM knowledge_pages WHERE tenant = ?1 AND id = ?2 AND source IS NOT ?3");
    for new in &pages {
        known.extend(select_one(
            connection,
            READ,
            &sql,
            [&tenant, &new.id, &source.id],
            page,
        )?);
    }
    let update = SourceUpdate::new(&source, pages, known)?;
    source.pages = update.changes.total();
    for page in &update.save {
        write::save(connection, page, now)?;
    }
    for id in &update.delete {
        write::delete(connection, &tenant, id)?;
    }
    let earlier = one(connection, &tenant, &source.id)?;
    source.added_at = earlier.map_or(now, |earlier| earlier.added_at);
    source.updated_at = now;
    let sql = "INSERT INTO knowledge_sources (tenant, id, user, line, added_at, data) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
               ON CONFLICT (tenant, id) DO UPDATE SET user = excluded.user, line = excluded.line, data = excluded.data";
    let values = params![
        tenant,
        source.id,
        &*source.owner.user,
        source.owner.line.as_deref(),
        source.added_at.as_millis(),
        data_of(&source)?,
    ];
    execute(connection, WRITE, sql, values)?;
    Ok(update.changes)
}

fn delete(connection: &Connection, tenant: &str, id: &str) -> Result<Option<u64>, StoreError> {
    let sql = "DELETE FROM knowledge_sources WHERE tenant = ?1 AND id = ?2";
    if execute(connection, "cannot delete the source", sql, [tenant, id])? == 0 {
        return Ok(None);
    }
    let sql = "SELECT id FROM knowledge_pages WHERE tenant = ?1 AND source = ?2";
    let pages: Vec<String> = select(connection, READ, sql, [tenant, id], |row| row.get(0))?;
    for page in &pages {
        write::delete(connection, tenant, page)?;
    }
    Ok(Some(pages.len() as u64))
}

fn pages_of(connection: &Connection, tenant: &str, source: &str) -> Result<Vec<KnowledgePage>, StoreError> {
    let sql = format!("SELECT {COLUMNS}, content FROM knowledge_pages WHERE tenant = ?1 AND source = ?2");
    select(connection, READ, &sql, [tenant, source], page)
}

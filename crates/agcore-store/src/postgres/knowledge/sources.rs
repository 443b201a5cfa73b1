//! The sources of pages.

use std::collections::BTreeMap;

use agcore_chat::Timestamp;
use agcore_memory::{
    MemoryError,
    knowledge::{KnowledgePage, KnowledgeSource, SourceChanges, SourceStore, SourceUpdate},
};
use async_trait::async_trait;
use sqlx::{Error, Row, postgres::PgRow};

use super::{
    Needs,
    row::{COLUMNS, page},
    write::{delete, reserve, save},
};
use crate::{
    error::StoreError,
    postgres::{
        PostgresStore,
        connection::{statement::FetchRow, transaction::Transaction},
        error::convert,
        query::{bind_all, number, numbered, statement},
        text::lookup,
    },
    sql::{Conditions, data_of},
};

const WRITE: &str = "cannot save the source";
const DELETE: &str = "cannot delete the source";
const READ: &str = "cannot read the sources";

#[async_trait]
impl SourceStore for PostgresStore {
    async fn put_source(
        &self,
        source: KnowledgeSource,
        pages: Vec<KnowledgePage>,
    ) -> Result<SourceChanges, MemoryError> {
        SourceUpdate::new(&source, pages.clone(), Vec::new())?;
        let mut transaction = self.statements().begin(WRITE).await?;
        let put = put(&mut transaction, source, pages, self.now()).await;
        Ok(transaction.end(WRITE, put).await?)
    }

    async fn source(&self, tenant: &str, id: &str) -> Result<Option<KnowledgeSource>, MemoryError> {
        let sql = "SELECT data FROM knowledge_sources WHERE tenant = $1 AND id = $2";
        let statement = sqlx::query(sql).bind(lookup(tenant)).bind(lookup(id));
        let row = self.statements().row(READ, statement).await?;
        Ok(row.as_ref().map(read).transpose()?)
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
        let sql = format!(
            "SELECT data FROM knowledge_sources WHERE {} ORDER BY id LIMIT ${}",
            numbered(conditions.sql(), 1),
            conditions.values().len() + 1
        );
        let listing = bind_all(statement(sql), &conditions).bind(number(limit));
        let rows = self.statements().rows(READ, listing).await?;
        rows.iter().map(|row| Ok(read(row)?)).collect()
    }

    async fn delete_source(&self, tenant: &str, id: &str) -> Result<Option<u64>, MemoryError> {
        let mut transaction = self.statements().begin(DELETE).await?;
        let deleted = delete_with_pages(&mut transaction, tenant, id).await;
        Ok(transaction.end(DELETE, deleted).await?)
    }
}

fn read(row: &PgRow) -> Result<KnowledgeSource, StoreError> {
    let data: Result<&str, Error> = row.try_get("data");
    let data = data.map_err(|error| convert(READ, error))?;
    serde_json::from_str(data).map_err(|error| convert(READ, Error::Decode(Box::new(error))))
}

async fn put(
    transaction: &mut Transaction<'_>,
    mut source: KnowledgeSource,
    pages: Vec<KnowledgePage>,
    now: Timestamp,
) -> Result<SourceChanges, StoreError> {
    let tenant = source.owner.tenant.to_string();
    // Other writers of the tenant wait from here on.
    reserve(transaction, WRITE, &tenant, 0, now).await?;
    let sql = concat!(
        "SELECT ",
        COLUMNS!(),
        ", content FROM knowledge_pages WHERE tenant = $1 AND (source = $2 OR id = ANY($3))"
    );
    let ids: Vec<&str> = pages.iter().map(|page| page.id.as_str()).collect();
    let statement = sqlx::query(sql).bind(&tenant).bind(&source.id).bind(ids);
    let known = transaction.rows(READ, statement).await?;
    let known: Vec<KnowledgePage> = known.iter().map(page).collect::<Result<_, _>>()?;
    let update = SourceUpdate::new(&source, pages, known)?;
    source.pages = update.changes.total();
    let to_save: BTreeMap<String, KnowledgePage> =
        update.save.into_iter().map(|page| (page.id.clone(), page)).collect();
    if !to_save.is_empty() {
        save(transaction, &tenant, &to_save, Needs::Nothing, now).await?;
    }
    for id in &update.delete {
        delete(transaction, &tenant, id).await?;
    }
    write_record(transaction, source, now).await?;
    Ok(update.changes)
}

async fn write_record(
    transaction: &mut Transaction<'_>,
    mut source: KnowledgeSource,
    now: Timestamp,
) -> Result<(), StoreError> {
    let sql = "SELECT added_at FROM knowledge_sources WHERE tenant = $1 AND id = $2";
    let statement = sqlx::query(sql).bind(&*source.owner.tenant).bind(&source.id);
    let earlier = transaction.row(WRITE, statement).await?;
    let earlier = earlier.map(|row| row.try_get("added_at")).transpose();
    let earlier = earlier.map_err(|error| convert(WRITE, error))?;
    source.added_at = earlier.map_or(now, Timestamp::from_millis);
    source.updated_at = now;
    let sql = r#"
        INSERT INTO knowledge_sources (tenant, id, "user", line, added_at, data) VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (tenant, id) DO UPDATE SET
        "user" = excluded."user", line = excluded.line, data = excluded.data"#;
    let data = data_of(&source)?;
    let statement = sqlx::query(sql)
        .bind(&*source.owner.tenant)
        .bind(&source.id)
        .bind(&*source.owner.user)
        .bind(source.owner.line.as_deref())
        .bind(source.added_at.as_millis())
        .bind(data);
    transaction.execute(WRITE, statement).await.map(drop)
}

async fn delete_with_pages(
    transaction: &mut Transaction<'_>,
    tenant: &str,
    id: &str,
) -> Result<Option<u64>, StoreError> {
    let exists = "SELECT 1 FROM knowledge_sources WHERE tenant = $1 AND id = $2";
    let statement = sqlx::query(exists).bind(lookup(tenant)).bind(lookup(id));
    if transaction.row(DELETE, statement).await?.is_none() {
        return Ok(None);
    }
    // In the order in which writers lock: first the tenant, which has a row, then its pages.
    reserve(transaction, DELETE, tenant, 0, Timestamp::default()).await?;
    let record = "DELETE FROM knowledge_sources WHERE tenant = $1 AND id = $2";
    let deleted = transaction
        .execute(DELETE, sqlx::query(record).bind(tenant).bind(id))
        .await?;
    if deleted == 0 {
        // Another writer was faster.
        return Ok(None);
    }
    let sql = "SELECT id FROM knowledge_pages WHERE tenant = $1 AND source = $2";
    let rows = transaction.rows(DELETE, sqlx::query(sql).bind(tenant).bind(id)).await?;
    for row in &rows {
        let page: String = row.try_get("id").map_err(|error| convert(DELETE, error))?;
        delete(transaction, tenant, &page).await?;
    }
    Ok(Some(rows.len() as u64))
}

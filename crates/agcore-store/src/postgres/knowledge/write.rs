//! Saving and deleting pages.

use std::collections::BTreeMap;

use agcore_chat::{Actor, Timestamp};
use agcore_memory::knowledge::KnowledgePage;
use sqlx::Row;

use super::{Needs, exists_already};
use crate::{
    error::StoreError,
    postgres::{
        PostgresStore,
        connection::{statement::FetchRow, transaction::Transaction},
        error::convert,
        rows::count,
        text::{self, lookup},
    },
    sql::place_of,
};

const SAVE: &str = "cannot save the pages";
const DELETE: &str = "cannot delete the page";
const ERASE: &str = "cannot erase the pages";

impl PostgresStore {
    /// Saves pages, if they are in the state that is needed. Returns the version of the last one.
    pub(super) async fn save_pages(&self, pages: Vec<KnowledgePage>, needs: Needs) -> Result<u64, StoreError> {
        pages.iter().try_for_each(KnowledgePage::check)?;
        let now = self.now();
        let pages = by_tenant(pages);
        if pages.is_empty() {
            return Ok(0);
        }
        let mut transaction = self.statements().begin(SAVE).await?;
        let mut saved = Ok(0);
        for (tenant, pages) in &pages {
            saved = save(&mut transaction, tenant, pages, needs, now).await;
            if saved.is_err() {
                break;
            }
        }
        transaction.end(SAVE, saved).await
    }

    /// Deletes a page. Returns whether it existed.
    pub(super) async fn delete_page(&self, tenant: &str, id: &str) -> Result<bool, StoreError> {
        let mut transaction = self.statements().begin(DELETE).await?;
        let deleted = delete(&mut transaction, tenant, id).await;
        transaction.end(DELETE, deleted).await
    }

    /// Erases the pages of a user. Returns their number.
    pub(super) async fn erase_pages(&self, owner: &Actor) -> Result<u64, StoreError> {
        let mut transaction = self.statements().begin(ERASE).await?;
        let erased = erase(&mut transaction, owner).await;
        transaction.end(ERASE, erased).await
    }
}

/// Returns the pages of each tenant by id, so that two writers lock them in the same order. Of the same id, the last page counts,
/// with the first time of creation.
fn by_tenant(pages: Vec<KnowledgePage>) -> BTreeMap<String, BTreeMap<String, KnowledgePage>> {
    let mut tenants: BTreeMap<String, BTreeMap<String, KnowledgePage>> = BTreeMap::new();
    for mut page in pages {
        let pages = tenants.entry(page.tenant().to_string()).or_default();
        if let Some(earlier) = pages.get(&page.id) {
            page.created_at = earlier.created_at;
        }
        pages.insert(page.id.clone(), page);
    }
    tenants
}

/// Reserves numbers for changes of a tenant. Other writers of the tenant wait until this transaction ends, so that numbers
/// appear in their order. Returns the last number before them.
pub(super) async fn reserve(
    transaction: &mut Transaction<'_>,
    attempt: &str,
    tenant: &str,
    changes: i64,
    now: Timestamp,
) -> Result<i64, StoreError> {
    let sql = "INSERT INTO knowledge_tenants (tenant, generation, change) VALUES ($1, $2, $3)
               ON CONFLICT (tenant) DO UPDATE SET change = knowledge_tenants.change + $3 RETURNING change - $3 AS before";
    let statement = sqlx::query(sql).bind(tenant).bind(now.as_millis()).bind(changes);
    let row = transaction.row(attempt, statement).await?;
    let before = row.map_or(Ok(0), |row| row.try_get("before"));
    before.map_err(|error| convert(attempt, error))
}

pub(super) async fn save(
    transaction: &mut Transaction<'_>,
    tenant: &str,
    pages: &BTreeMap<String, KnowledgePage>,
    needs: Needs,
    now: Timestamp,
) -> Result<u64, StoreError> {
    let number = i64::try_from(pages.len()).unwrap_or(i64::MAX);
    let before = reserve(transaction, SAVE, tenant, number, now).await?;
    if needs != Needs::Nothing {
        for (id, page) in pages {
            let sql = "SELECT change FROM knowledge_pages WHERE tenant = $1 AND id = $2";
            let found = transaction.row(SAVE, sqlx::query(sql).bind(tenant).bind(id)).await?;
            let version = found.as_ref().map(|row| count(row, "change")).transpose();
            let version = version.map_err(|error| convert(SAVE, error))?;
            match (version, needs) {
                (Some(_), Needs::Absence) => return Err(exists_already(id)),
                (None, Needs::Presence) => return Err(StoreError::not_found(format!("there is no page `{id}`"))),
                (version, Needs::Version(expected)) => page.check_version(expected, version.unwrap_or(0))?,
                _ => {}
            }
        }
    }
    for (change, page) in (before + 1..).zip(pages.values()) {
        insert(transaction, page, change, now).await?;
    }
    let gone = "DELETE FROM knowledge_deletions WHERE tenant = $1 AND id = ANY($2)";
    let ids: Vec<&str> = pages.keys().map(String::as_str).collect();
    let statement = sqlx::query(gone).bind(tenant).bind(ids);
    transaction.execute(SAVE, statement).await?;
    Ok((before + number).unsigned_abs())
}

async fn insert(
    transaction: &mut Transaction<'_>,
    page: &KnowledgePage,
    change: i64,
    now: Timestamp,
) -> Result<(), StoreError> {
    let sql = r#"
        INSERT INTO knowledge_pages (tenant, id, "user", line, title, summary, tags, refs, content, created_at, updated_at,
                                     change, source, place)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
        ON CONFLICT (tenant, id) DO UPDATE SET
        "user" = excluded."user", line = excluded.line, title = excluded.title, summary = excluded.summary,
        tags = excluded.tags, refs = excluded.refs, content = excluded.content, updated_at = excluded.updated_at,
        change = excluded.change, source = excluded.source, place = excluded.place"#;
    let created_at = match page.created_at {
        unknown if unknown == Timestamp::default() => now,
        known => known,
    };
    let statement = sqlx::query(sql)
        .bind(&*page.owner.tenant)
        .bind(&page.id)
        .bind(&*page.owner.user)
        .bind(page.owner.line.as_deref())
        .bind(text::encode(&page.title))
        .bind(text::encode(&page.summary))
        .bind(&page.tags)
        .bind(&page.references)
        .bind(text::encode(&page.content))
        .bind(created_at.as_millis())
        .bind(now.as_millis())
        .bind(change)
        .bind(page.source.as_ref().map(|source| source.id.as_str()))
        .bind(page.source.as_ref().map(place_of));
    transaction.execute(SAVE, statement).await.map(drop)
}

pub(super) async fn delete(transaction: &mut Transaction<'_>, tenant: &str, id: &str) -> Result<bool, StoreError> {
    let exists = "SELECT 1 FROM knowledge_pages WHERE tenant = $1 AND id = $2";
    let statement = sqlx::query(exists).bind(lookup(tenant)).bind(lookup(id));
    if transaction.row(DELETE, statement).await?.is_none() {
        return Ok(false);
    }
    // In the order in which writers lock: first the tenant, then the page.
    let before = reserve(transaction, DELETE, tenant, 1, Timestamp::default()).await?;
    let page = "DELETE FROM knowledge_pages WHERE tenant = $1 AND id = $2";
    let deleted = transaction
        .execute(DELETE, sqlx::query(page).bind(tenant).bind(id))
        .await?;
    if deleted == 0 {
        // Another writer was faster, and has recorded it.
        return Ok(false);
    }
    let deletion = "INSERT INTO knowledge_deletions (tenant, id, change) VALUES ($1, $2, $3)";
    let statement = sqlx::query(deletion).bind(tenant).bind(id).bind(before + 1);
    transaction.execute(DELETE, statement).await?;
    Ok(true)
}

async fn erase(transaction: &mut Transaction<'_>, owner: &Actor) -> Result<u64, StoreError> {
    let tenant = lookup(&owner.tenant);
    let generation = "UPDATE knowledge_tenants SET generation = generation + 1 WHERE tenant = $1";
    transaction.execute(ERASE, sqlx::query(generation).bind(tenant)).await?;
    // The ids of deleted pages may be personal as well, and it is not known whose they were.
    let deletions = "DELETE FROM knowledge_deletions WHERE tenant = $1";
    transaction.execute(ERASE, sqlx::query(deletions).bind(tenant)).await?;
    let sources = "DELETE FROM knowledge_sources WHERE tenant = $1 AND \"user\" = $2";
    let statement = sqlx::query(sources).bind(tenant).bind(lookup(&owner.user));
    transaction.execute(ERASE, statement).await?;
    // Indexes contain the words of the pages. They are built again by the next search.
    for sql in [
        "DELETE FROM text_indexes WHERE tenant = $1",
        "DELETE FROM vector_indexes WHERE tenant = $1",
    ] {
        transaction.execute(ERASE, sqlx::query(sql).bind(tenant)).await?;
    }
    let pages = "DELETE FROM knowledge_pages WHERE tenant = $1 AND \"user\" = $2";
    let statement = sqlx::query(pages).bind(tenant).bind(lookup(&owner.user));
    transaction.execute(ERASE, statement).await
}

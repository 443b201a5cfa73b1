//! Saving and deleting pages.

use agcore_chat::{Actor, Timestamp};
use agcore_memory::knowledge::KnowledgePage;
use rusqlite::{Connection, params};
use serde_json::Value;

use crate::{
    error::StoreError,
    sql::place_of,
    sqlite::rows::{count, execute, select_one},
};

/// Returns whether there is a page with the tenant and id of this one.
pub(super) fn exists(connection: &Connection, page: &KnowledgePage) -> Result<bool, StoreError> {
    Ok(key(connection, page.tenant(), &page.id)?.is_some())
}

/// Returns the version of the page with the tenant and id of this one, 0 if there is none.
pub(super) fn version(connection: &Connection, page: &KnowledgePage) -> Result<u64, StoreError> {
    let sql = "SELECT change FROM knowledge_pages WHERE tenant = ?1 AND id = ?2";
    let key = [&**page.tenant(), &page.id];
    let version = select_one(connection, "cannot read the page", sql, key, |row| count(row, "change"))?;
    Ok(version.unwrap_or(0))
}

/// Returns the key of a page in other tables.
fn key(connection: &Connection, tenant: &str, id: &str) -> Result<Option<i64>, StoreError> {
    let sql = "SELECT page FROM knowledge_pages WHERE tenant = ?1 AND id = ?2";
    select_one(connection, "cannot read the page", sql, [tenant, id], |row| row.get(0))
}

/// Returns the number of the next change of a tenant.
fn next_change(connection: &Connection, tenant: &str, now: Timestamp) -> Result<i64, StoreError> {
    let sql = "INSERT INTO knowledge_tenants (tenant, generation, change) VALUES (?1, ?2, 1)
               ON CONFLICT (tenant) DO UPDATE SET change = change + 1 RETURNING change";
    let next = select_one(connection, WRITE, sql, params![tenant, now.as_millis()], |row| {
        row.get(0)
    })?;
    Ok(next.unwrap_or_default())
}

const WRITE: &str = "cannot save the page";

/// Saves a page, or replaces it. Returns its version.
pub(super) fn save(connection: &Connection, page: &KnowledgePage, now: Timestamp) -> Result<u64, StoreError> {
    let tenant = &**page.tenant();
    let change = next_change(connection, tenant, now)?;
    let sql = "INSERT INTO knowledge_pages
               (tenant, id, user, line, title, summary, tags, refs, content, created_at, updated_at, change, source, place)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
               ON CONFLICT (tenant, id) DO UPDATE SET user = excluded.user, line = excluded.line,
               title = excluded.title, summary = excluded.summary, tags = excluded.tags, refs = excluded.refs,
               content = excluded.content, updated_at = excluded.updated_at, change = excluded.change,
               source = excluded.source, place = excluded.place RETURNING page";
    let created_at = match page.created_at {
        unknown if unknown == Timestamp::default() => now,
        known => known,
    };
    let values = params![
        tenant,
        page.id,
        &*page.owner.user,
        page.owner.line.as_deref(),
        page.title,
        page.summary,
        Value::from(page.tags.as_slice()).to_string(),
        Value::from(page.references.as_slice()).to_string(),
        page.content,
        created_at.as_millis(),
        now.as_millis(),
        change,
        page.source.as_ref().map(|source| source.id.as_str()),
        page.source.as_ref().map(place_of),
    ];
    let key: Option<i64> = select_one(connection, WRITE, sql, values, |row| row.get(0))?;
    let key = key.unwrap_or_default();
    let gone = "DELETE FROM knowledge_deletions WHERE tenant = ?1 AND id = ?2";
    execute(connection, WRITE, gone, [tenant, &page.id])?;
    let parts = [
        ("knowledge_tags", "tag", &page.tags),
        ("knowledge_references", "target", &page.references),
    ];
    for (table, column, values) in parts {
        execute(
            connection,
            WRITE,
            &format!("DELETE FROM {table} WHERE page = ?1"),
            [key],
        )?;
        let insert = format!("INSERT INTO {table} (tenant, {column}, page) VALUES (?1, ?2, ?3)");
        for value in values {
            execute(connection, WRITE, &insert, params![tenant, value, key])?;
        }
    }
    Ok(change.unsigned_abs())
}

/// Deletes a page. Returns whether it existed.
pub(super) fn delete(connection: &Connection, tenant: &str, id: &str) -> Result<bool, StoreError> {
    let attempt = "cannot delete the page";
    let Some(key) = key(connection, tenant, id)? else {
        return Ok(false);
    };
    execute(
        connection,
        attempt,
        "DELETE FROM knowledge_pages WHERE page = ?1",
        [key],
    )?;
    // There is a row of the tenant, because there was a page.
    let change = next_change(connection, tenant, Timestamp::default())?;
    let deletion = "INSERT INTO knowledge_deletions (tenant, id, change) VALUES (?1, ?2, ?3)";
    execute(connection, attempt, deletion, params![tenant, id, change])?;
    Ok(true)
}

/// Erases the pages of a user. Returns their number.
pub(super) fn erase(connection: &Connection, owner: &Actor) -> Result<u64, StoreError> {
    let attempt = "cannot erase the pages";
    let pages = "DELETE FROM knowledge_pages WHERE tenant = ?1 AND user = ?2";
    let erased = execute(connection, attempt, pages, [&*owner.tenant, &*owner.user])?;
    // The ids of deleted pages may be personal as well, and it is not known whose they were.
    let deletions = "DELETE FROM knowledge_deletions WHERE tenant = ?1";
    execute(connection, attempt, deletions, [&*owner.tenant])?;
    let sources = "DELETE FROM knowledge_sources WHERE tenant = ?1 AND user = ?2";
    execute(connection, attempt, sources, [&*owner.tenant, &*owner.user])?;
    // Indexes contain the words of the pages. They are built again by the next search.
    for table in ["text_indexes", "vector_indexes"] {
        let sql = format!("DELETE FROM {table} WHERE tenant = ?1");
        execute(connection, attempt, &sql, [&*owner.tenant])?;
    }
    let generation = "UPDATE knowledge_tenants SET generation = generation + 1 WHERE tenant = ?1";
    execute(connection, attempt, generation, [&*owner.tenant])?;
    Ok(erased)
}

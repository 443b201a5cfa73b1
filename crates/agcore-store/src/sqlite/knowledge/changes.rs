//! The sequence of changes.

use agcore_memory::knowledge::{Changes, KnowledgePage, Position};
use rusqlite::{Connection, params};

use super::row::{COLUMNS, page};
use crate::{
    error::StoreError,
    sqlite::{
        error::convert,
        rows::{count, number, select, select_one},
    },
};

const READ: &str = "cannot read the changes of the pages";

/// Returns the changes of a tenant after a position.
pub(super) fn changes(
    connection: &Connection,
    tenant: &str,
    since: Option<Position>,
    limit: u64,
) -> Result<Changes, StoreError> {
    // Both tables as they are at one moment.
    let transaction = connection
        .unchecked_transaction()
        .map_err(|error| convert(READ, error))?;
    let sql = "SELECT generation, change FROM knowledge_tenants WHERE tenant = ?1";
    let read = |row: &rusqlite::Row<'_>| Ok((count(row, "generation")?, count(row, "change")?));
    let Some((generation, last)) = select_one(&transaction, READ, sql, [tenant], read)? else {
        let mut changes = Changes::new(None);
        changes.is_reset = since.is_some();
        return Ok(changes);
    };
    let (mut changes, after) = Changes::starting(since, generation, last);
    if after == last {
        return Ok(changes);
    }
    let limit = limit.clamp(1, i64::MAX as u64 - 1);
    let values = params![tenant, number(after), number(limit + 1)];
    let sql = format!(
        "SELECT {COLUMNS}, content FROM knowledge_pages WHERE tenant = ?1 AND change > ?2 ORDER BY change LIMIT ?3"
    );
    let saved = select(&transaction, READ, &sql, values, |row| {
        Ok((count(row, "change")?, page(row)?))
    })?;
    let sql = "SELECT id, change FROM knowledge_deletions WHERE tenant = ?1 AND change > ?2 ORDER BY change LIMIT ?3";
    let deleted = select(&transaction, READ, sql, values, |row| {
        Ok((count(row, "change")?, row.get(0)?))
    })?;
    merge(&mut changes, saved, deleted, limit);
    Ok(changes)
}

/// Adds the first of two sequences of changes, up to a limit.
fn merge(changes: &mut Changes, saved: Vec<(u64, KnowledgePage)>, deleted: Vec<(u64, String)>, limit: u64) {
    let (mut saved, mut deleted) = (saved.into_iter().peekable(), deleted.into_iter().peekable());
    let mut number = 0;
    loop {
        let next_saved = saved.peek().map(|(change, _)| *change);
        let next_deleted = deleted.peek().map(|(change, _)| *change);
        let Some(next) = next_saved.into_iter().chain(next_deleted).min() else {
            return;
        };
        if number == limit {
            changes.has_more = true;
            return;
        }
        if next_saved == Some(next) {
            changes.saved.extend(saved.next().map(|(_, page)| page));
        } else {
            changes.deleted.extend(deleted.next().map(|(_, id)| id));
        }
        if let Some(position) = &mut changes.position {
            position.change = next;
        }
        number += 1;
    }
}

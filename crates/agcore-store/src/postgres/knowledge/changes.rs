//! The sequence of changes.

use agcore_memory::knowledge::{Changes, Position};
use sqlx::{Error, Row, postgres::PgRow};

use super::row::page;
use crate::{
    error::StoreError,
    postgres::{PostgresStore, error::convert, query::number, rows::count, text::lookup},
};

const READ: &str = "cannot read the changes of the pages";

impl PostgresStore {
    /// Returns the changes of a tenant after a position.
    pub(super) async fn page_changes(
        &self,
        tenant: &str,
        since: Option<Position>,
        limit: u64,
    ) -> Result<Changes, StoreError> {
        let failed = |error| convert(READ, error);
        let sql = "SELECT generation, change FROM knowledge_tenants WHERE tenant = $1";
        let statement = sqlx::query(sql).bind(lookup(tenant));
        let Some(row) = self.statements().row(READ, statement).await? else {
            let mut changes = Changes::new(None);
            changes.is_reset = since.is_some();
            return Ok(changes);
        };
        let generation = count(&row, "generation").map_err(failed)?;
        let last = count(&row, "change").map_err(failed)?;
        let (mut changes, after) = Changes::starting(since, generation, last);
        if after == last {
            return Ok(changes);
        }
        let limit = limit.clamp(1, i64::MAX as u64 - 1);
        // One statement, so that it sees both tables as they are at one moment.
        let sql = r#"
            (SELECT tenant, id, "user", line, title, summary, tags, refs, source, place, created_at, updated_at,
                    content, change
             FROM knowledge_pages WHERE tenant = $1 AND change > $2 ORDER BY change LIMIT $3)
            UNION ALL
            (SELECT tenant, id, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, change
             FROM knowledge_deletions WHERE tenant = $1 AND change > $2 ORDER BY change LIMIT $3)
            ORDER BY change LIMIT $3"#;
        let statement = sqlx::query(sql)
            .bind(lookup(tenant))
            .bind(number(after))
            .bind(number(limit + 1));
        let rows = self.statements().rows(READ, statement).await?;
        changes.has_more = rows.len() as u64 > limit;
        for row in rows.iter().take(usize::try_from(limit).unwrap_or(usize::MAX)) {
            let (change, deleted) = read(row).map_err(failed)?;
            match deleted {
                Some(id) => changes.deleted.push(id),
                None => changes.saved.push(page(row)?),
            }
            if let Some(position) = &mut changes.position {
                position.change = change;
            }
        }
        Ok(changes)
    }
}

/// Reads the number of a change, and the id if the page was deleted.
fn read(row: &PgRow) -> Result<(u64, Option<String>), Error> {
    let user: Option<&str> = row.try_get("user")?;
    let deleted = match user {
        Some(_) => None,
        None => Some(row.try_get("id")?),
    };
    Ok((count(row, "change")?, deleted))
}

//! [`State`]: the row of an index of texts.

use agcore_memory::knowledge::Position;
use rusqlite::{Connection, Row};

use crate::{
    error::StoreError,
    sqlite::rows::{count, select_one},
};

pub(super) const READ: &str = "cannot read the index of texts";

/// The row of an index.
pub(super) struct State {
    pub(super) index: i64,
    pub(super) documents: u64,
    pub(super) length: f64,
    pub(super) next: i64,
    pub(super) position: Option<Position>,
}

/// Returns the index of a tenant, unless it has another format.
pub(super) fn state(connection: &Connection, tenant: &str, format: &str) -> Result<Option<State>, StoreError> {
    let sql = "SELECT text_index, documents, length, next, generation, change FROM text_indexes
               WHERE tenant = ?1 AND format = ?2";
    select_one(connection, READ, sql, [tenant, format], |row| {
        Ok(State {
            index: row.get("text_index")?,
            documents: count(row, "documents")?,
            length: row.get("length")?,
            next: row.get("next")?,
            position: position(row)?,
        })
    })
}

/// Returns the stored position of an index.
pub(in crate::sqlite) fn position(row: &Row<'_>) -> rusqlite::Result<Option<Position>> {
    let generation: Option<i64> = row.get("generation")?;
    let change: Option<i64> = row.get("change")?;
    let position = generation.zip(change);
    Ok(position.map(|(generation, change)| Position::new(generation.unsigned_abs(), change.unsigned_abs())))
}

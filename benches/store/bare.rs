//! The baseline: rusqlite on the same tables, without anything around it.

use std::path::Path;

use rusqlite::{Connection, params};

use crate::Fallible;

/// A connection to a file of the store, with the settings of its durable mode.
pub(crate) struct Bare {
    connection: Connection,
    saved: u64,
}

impl Bare {
    /// Opens a file whose tables exist.
    pub(crate) fn open(path: &Path) -> Fallible<Self> {
        let connection = Connection::open(path)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "foreign_keys", true)?;
        connection.pragma_update(None, "secure_delete", true)?;
        Ok(Self { connection, saved: 0 })
    }

    /// Inserts a row that is synced when this returns.
    pub(crate) fn insert(&mut self, content: &str) -> Fallible {
        self.saved += 1;
        let sql = "INSERT INTO memory_items (tenant, id, user, content, metadata, created_at, updated_at)
                   VALUES ('local', ?1, 'local', ?2, '{}', ?3, ?3)";
        let mut statement = self.connection.prepare_cached(sql)?;
        statement.execute(params![id(self.saved), content, self.saved as i64])?;
        Ok(())
    }

    /// Inserts rows in one transaction, which is synced when this returns.
    pub(crate) fn insert_many(&mut self, rows: u64, content: &str) -> Fallible {
        self.connection.execute_batch("BEGIN IMMEDIATE")?;
        for _ in 0..rows {
            self.insert(content)?;
        }
        self.connection.execute_batch("COMMIT")?;
        Ok(())
    }
}

/// Returns the id of an item, as applications name them: the order of the ids is not that of their creation.
pub(crate) fn id(number: u64) -> String {
    format!("notes/{:016x}", number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

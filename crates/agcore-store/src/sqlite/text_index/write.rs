//! Changes of an index of texts.

use std::collections::BTreeMap;

use rusqlite::{Connection, params};

use super::state::state;
use crate::{
    error::StoreError,
    sql::text::{Delta, DocumentRow, Lengths, Prepared, Rewritten},
    sqlite::rows::{execute, number, select, select_one},
};

const WRITE: &str = "cannot write the index of texts";

/// An index that changes.
struct Changed<'c> {
    connection: &'c Connection,
    index: i64,
    delta: Delta,
}

/// Applies changes, if the index has the position that they expect. Returns whether it has.
pub(super) fn apply(
    connection: &Connection,
    tenant: &str,
    format: &str,
    prepared: &Prepared,
) -> Result<bool, StoreError> {
    let state = state(connection, tenant, format)?;
    if state.as_ref().and_then(|state| state.position) != prepared.after {
        return Ok(false);
    }
    let mut changed = match state.filter(|_| !prepared.is_reset) {
        Some(state) => Changed {
            connection,
            index: state.index,
            delta: Delta::new(number(state.documents), state.length, state.next),
        },
        None => Changed::create(connection, tenant, format)?,
    };
    changed.write_documents(prepared)?;
    changed.write_leaves(&prepared.terms)?;
    changed.write_lengths()?;
    let sql = "UPDATE text_indexes SET documents = ?2, length = ?3, next = ?4, generation = ?5, change = ?6
               WHERE text_index = ?1";
    let position = prepared.position;
    let values = params![
        changed.index,
        changed.delta.documents,
        changed.delta.length,
        changed.delta.next,
        position.map(|position| number(position.generation)),
        position.map(|position| number(position.change)),
    ];
    execute(connection, WRITE, sql, values)?;
    Ok(true)
}

impl<'c> Changed<'c> {
    /// Creates an empty index in the place of one that may exist.
    fn create(connection: &'c Connection, tenant: &str, format: &str) -> Result<Self, StoreError> {
        let sql = "DELETE FROM text_indexes WHERE tenant = ?1";
        execute(connection, WRITE, sql, [tenant])?;
        let sql = "INSERT INTO text_indexes (tenant, format) VALUES (?1, ?2) RETURNING text_index";
        let index = select_one(connection, WRITE, sql, [tenant, format], |row| row.get(0))?;
        Ok(Self {
            connection,
            index: index.unwrap_or_default(),
            delta: Delta::default(),
        })
    }

    /// Adds, replaces and removes documents.
    fn write_documents(&mut self, prepared: &Prepared) -> Result<(), StoreError> {
        let (connection, index) = (self.connection, self.index);
        let known = |id: &str| {
            let sql = "SELECT number FROM text_documents WHERE text_index = ?1 AND id = ?2";
            select_one(connection, WRITE, sql, params![index, id], |row| row.get(0))
        };
        let row = |id: &str, change| match change {
            DocumentRow::Unchanged => Ok(()),
            DocumentRow::Delete { number } => {
                let sql = "DELETE FROM text_documents WHERE text_index = ?1 AND number = ?2";
                execute(connection, WRITE, sql, [index, number]).map(drop)
            }
            DocumentRow::Insert { number } => {
                let sql = "INSERT INTO text_documents (text_index, number, id) VALUES (?1, ?2, ?3)";
                execute(connection, WRITE, sql, params![index, number, id]).map(drop)
            }
        };
        self.delta.apply(prepared, known, row)
    }

    fn write_leaves(&self, terms: &[Box<str>]) -> Result<(), StoreError> {
        for (block, changes) in &self.delta.blocks {
            let sql = "SELECT first FROM text_leaves WHERE text_index = ?1 AND block = ?2 ORDER BY first";
            let firsts: Vec<Vec<u8>> = select(self.connection, WRITE, sql, [self.index, *block], |row| row.get(0))?;
            let mut stored = BTreeMap::new();
            for leaf in changes.needed(&firsts, terms) {
                let sql = "SELECT terms FROM text_leaves WHERE text_index = ?1 AND block = ?2 AND first = ?3";
                let key = params![self.index, block, firsts[leaf]];
                let terms: Option<Vec<u8>> = select_one(self.connection, WRITE, sql, key, |row| row.get(0))?;
                stored.insert(leaf, terms.unwrap_or_default());
            }
            let Rewritten { gone, saved } = changes.rewrite(&firsts, &stored, terms)?;
            for first in gone {
                let sql = "DELETE FROM text_leaves WHERE text_index = ?1 AND block = ?2 AND first = ?3";
                execute(self.connection, WRITE, sql, params![self.index, block, first])?;
            }
            for leaf in saved {
                let sql = "INSERT INTO text_leaves (text_index, block, first, terms) VALUES (?1, ?2, ?3, ?4)
                           ON CONFLICT (text_index, block, first) DO UPDATE SET terms = excluded.terms";
                let values = params![self.index, block, leaf.first, leaf.terms];
                execute(self.connection, WRITE, sql, values)?;
            }
        }
        Ok(())
    }

    fn write_lengths(&mut self) -> Result<(), StoreError> {
        let blocks: Vec<i64> = self.delta.blocks.keys().copied().collect();
        for block in blocks {
            let key = [self.index, block];
            let sql = "SELECT lengths FROM text_lengths WHERE text_index = ?1 AND block = ?2";
            let stored: Option<Vec<u8>> = select_one(self.connection, WRITE, sql, key, |row| row.get(0))?;
            let mut lengths = stored.map_or_else(|| Ok(Lengths::new()), |bytes| Lengths::from_bytes(&bytes))?;
            self.delta.apply_lengths(block, &mut lengths);
            match lengths.to_bytes() {
                Some(bytes) => {
                    let sql = "INSERT INTO text_lengths (text_index, block, lengths) VALUES (?1, ?2, ?3)
                               ON CONFLICT (text_index, block) DO UPDATE SET lengths = excluded.lengths";
                    execute(self.connection, WRITE, sql, params![self.index, block, bytes])?;
                }
                None => {
                    let sql = "DELETE FROM text_lengths WHERE text_index = ?1 AND block = ?2";
                    execute(self.connection, WRITE, sql, key)?;
                }
            }
        }
        Ok(())
    }
}

//! Changes of an index of texts.

use std::collections::HashMap;

use agcore_memory::MemoryError;
use rusqlite::{Connection, params};

use super::state::state;
use crate::{
    sql::text::{Delta, DocumentRow, Lengths, Prepared, keyed, merged},
    sqlite::rows::{execute, number, select_one},
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
) -> Result<bool, MemoryError> {
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
    let terms = changed.terms(prepared)?;
    for (id, document) in &prepared.documents {
        let occurrences = document.as_ref().map(|document| keyed(document, &terms));
        changed.document(id, occurrences)?;
    }
    // The search for terms that are not used any more needs the blocks.
    changed.write_lengths()?;
    changed.write_postings()?;
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
    fn create(connection: &'c Connection, tenant: &str, format: &str) -> Result<Self, MemoryError> {
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

    /// Returns the keys of all terms of the changes, and adds those that are new.
    fn terms<'p>(&self, prepared: &'p Prepared) -> Result<HashMap<&'p str, i64>, MemoryError> {
        let mut keys = HashMap::new();
        for term in prepared.terms() {
            let find = "SELECT term FROM text_terms WHERE text_index = ?1 AND text = ?2";
            let add = "INSERT INTO text_terms (text_index, text) VALUES (?1, ?2) RETURNING term";
            let values = params![self.index, term];
            let known: Option<i64> = select_one(self.connection, WRITE, find, values, |row| row.get(0))?;
            let key = match known {
                Some(key) => Some(key),
                None => select_one(self.connection, WRITE, add, values, |row| row.get(0))?,
            };
            keys.extend(key.map(|key| (term, key)));
        }
        Ok(keys)
    }

    /// Adds, replaces or removes a document.
    fn document(&mut self, id: &str, occurrences: Option<Vec<(i64, f32)>>) -> Result<(), MemoryError> {
        let sql = "SELECT number, terms FROM text_documents WHERE text_index = ?1 AND id = ?2";
        let known: Option<(i64, Vec<u8>)> = select_one(self.connection, WRITE, sql, params![self.index, id], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
        match self.delta.document(known, occurrences)? {
            DocumentRow::Unchanged => {}
            DocumentRow::Delete { number } => {
                let sql = "DELETE FROM text_documents WHERE text_index = ?1 AND number = ?2";
                execute(self.connection, WRITE, sql, [self.index, number])?;
            }
            DocumentRow::Save { number, terms } => {
                let sql = "INSERT INTO text_documents (text_index, number, id, terms) VALUES (?1, ?2, ?3, ?4)
                           ON CONFLICT (text_index, number) DO UPDATE SET terms = excluded.terms";
                execute(self.connection, WRITE, sql, params![self.index, number, id, terms])?;
            }
        }
        Ok(())
    }

    fn write_postings(&self) -> Result<(), MemoryError> {
        for ((block, term), changes) in &self.delta.postings {
            let key = [self.index, *block, *term];
            let sql = "SELECT entries FROM text_postings WHERE text_index = ?1 AND block = ?2 AND term = ?3";
            let stored: Option<Vec<u8>> = select_one(self.connection, WRITE, sql, key, |row| row.get(0))?;
            let entries = merged(stored.as_deref(), changes)?;
            if !entries.is_empty() {
                let sql = "INSERT INTO text_postings (text_index, block, term, entries) VALUES (?1, ?2, ?3, ?4)
                           ON CONFLICT (text_index, block, term) DO UPDATE SET entries = excluded.entries";
                execute(self.connection, WRITE, sql, params![self.index, block, term, entries])?;
                continue;
            }
            let sql = "DELETE FROM text_postings WHERE text_index = ?1 AND block = ?2 AND term = ?3";
            execute(self.connection, WRITE, sql, key)?;
            let sql = "DELETE FROM text_terms WHERE term = ?2 AND NOT EXISTS
                       (SELECT 1 FROM text_lengths AS blocks CROSS JOIN text_postings AS postings
                        ON postings.text_index = ?1 AND postings.block = blocks.block AND postings.term = ?2
                        WHERE blocks.text_index = ?1)";
            execute(self.connection, WRITE, sql, [self.index, *term])?;
        }
        Ok(())
    }

    fn write_lengths(&mut self) -> Result<(), MemoryError> {
        let blocks: Vec<i64> = self.delta.lengths.keys().copied().collect();
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

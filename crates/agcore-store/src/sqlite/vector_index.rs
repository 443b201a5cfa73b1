//! [`SqliteVectorIndex`]: an index of vectors in the tables of a file.

use std::collections::BTreeMap;

use agcore_memory::{
    MemoryError,
    knowledge::Position,
    search::{IndexChanges, IndexHit, NearestVectors, VectorIndex, check_vector, normalized_vector},
};
use async_trait::async_trait;
use rusqlite::{Connection, params};

use super::{
    SqliteStore,
    error::convert,
    rows::{count, execute, number, select_one},
    text_index::position,
};
use crate::{error::StoreError, sql::vector::check_stored};

const READ: &str = "cannot read the index of vectors";
const WRITE: &str = "cannot write the index of vectors";

/// A [`VectorIndex`] in the file of a [`SqliteStore`], which compares all vectors of a tenant.
///
/// The index and its position are written in one transaction. Each model has an index of its own.
/// [`erase`](agcore_memory::knowledge::KnowledgeStore::erase) of the same file removes the indexes of the tenant.
#[derive(Debug, Clone)]
pub struct SqliteVectorIndex {
    store: SqliteStore,
    model: String,
}

impl SqliteStore {
    /// Returns the index of vectors in this file that a model makes. Use another name for each model, and for other settings of a
    /// model that change its vectors.
    pub fn vector_index(&self, model: impl Into<String>) -> SqliteVectorIndex {
        SqliteVectorIndex {
            store: self.clone(),
            model: model.into(),
        }
    }
}

/// The row of an index.
struct State {
    index: i64,
    position: Option<Position>,
    /// 0 if there are no vectors.
    dimensions: usize,
}

/// Returns the index of a tenant and a model.
fn state(connection: &Connection, tenant: &str, model: &str) -> Result<Option<State>, StoreError> {
    let sql = "SELECT vector_index, generation, change,
               coalesce((SELECT length(vector) FROM vectors WHERE vectors.vector_index = indexes.vector_index LIMIT 1), 0)
                   AS bytes
               FROM vector_indexes AS indexes WHERE tenant = ?1 AND model = ?2";
    select_one(connection, READ, sql, [tenant, model], |row| {
        let bytes = usize::try_from(count(row, "bytes")?).unwrap_or(usize::MAX);
        Ok(State {
            index: row.get("vector_index")?,
            position: position(row)?,
            dimensions: bytes / size_of::<f32>(),
        })
    })
}

#[async_trait]
impl VectorIndex for SqliteVectorIndex {
    async fn position(&self, tenant: &str) -> Result<Option<Position>, MemoryError> {
        let (tenant, model) = (tenant.to_owned(), self.model.clone());
        let read = move |connection: &Connection| state(connection, &tenant, &model);
        let state = self.store.read::<_, StoreError>(read).await?;
        Ok(state.and_then(|state| state.position))
    }

    async fn apply(&self, tenant: &str, changes: IndexChanges<Vec<f32>>) -> Result<bool, MemoryError> {
        let (tenant, model) = (tenant.to_owned(), self.model.clone());
        let apply = move |connection: &Connection| apply(connection, &tenant, &model, changes);
        self.store.write(apply).await
    }

    async fn search(&self, tenant: &str, vector: &[f32], limit: usize) -> Result<Vec<IndexHit>, MemoryError> {
        check_vector(vector, None)?;
        let (tenant, model, vector) = (tenant.to_owned(), self.model.clone(), vector.to_vec());
        let search = move |connection: &Connection| {
            // Both tables as they are at one moment.
            let transaction = connection
                .unchecked_transaction()
                .map_err(|error| convert(READ, error))?;
            match state(&transaction, &tenant, &model)?.filter(|state| state.dimensions > 0) {
                Some(state) => nearest(&transaction, &state, &vector, limit),
                None => Ok(Vec::new()),
            }
        };
        self.store.read(search).await
    }
}

fn apply(
    connection: &Connection,
    tenant: &str,
    model: &str,
    changes: IndexChanges<Vec<f32>>,
) -> Result<bool, StoreError> {
    let state = state(connection, tenant, model)?;
    if state.as_ref().and_then(|state| state.position) != changes.after {
        return Ok(false);
    }
    let state = state.filter(|_| !changes.is_reset);
    let mut dimensions = state
        .as_ref()
        .map(|state| state.dimensions)
        .filter(|number| *number > 0);
    for (_, vector) in &changes.saved {
        check_vector(vector, dimensions)?;
        dimensions = Some(vector.len());
    }
    let index = match state {
        Some(state) => state.index,
        None => create(connection, tenant, model)?,
    };
    for id in &changes.removed {
        let sql = "DELETE FROM vectors WHERE vector_index = ?1 AND id = ?2";
        execute(connection, WRITE, sql, params![index, id])?;
    }
    // Of the same id, the last vector counts.
    let saved: BTreeMap<&String, &Vec<f32>> = changes.saved.iter().map(|(id, vector)| (id, vector)).collect();
    for (id, vector) in saved {
        let sql = "INSERT INTO vectors (vector_index, id, vector) VALUES (?1, ?2, ?3)
                   ON CONFLICT (vector_index, id) DO UPDATE SET vector = excluded.vector";
        let values = params![index, id, bytes_of(&normalized_vector(vector))];
        execute(connection, WRITE, sql, values)?;
    }
    let sql = "UPDATE vector_indexes SET generation = ?2, change = ?3 WHERE vector_index = ?1";
    let position = changes.position;
    let values = params![
        index,
        position.map(|position| number(position.generation)),
        position.map(|position| number(position.change)),
    ];
    execute(connection, WRITE, sql, values)?;
    Ok(true)
}

/// Creates an empty index in the place of one that may exist. Returns its key.
fn create(connection: &Connection, tenant: &str, model: &str) -> Result<i64, StoreError> {
    let sql = "DELETE FROM vector_indexes WHERE tenant = ?1 AND model = ?2";
    execute(connection, WRITE, sql, [tenant, model])?;
    let sql = "INSERT INTO vector_indexes (tenant, model) VALUES (?1, ?2) RETURNING vector_index";
    let index = select_one(connection, WRITE, sql, [tenant, model], |row| row.get(0))?;
    Ok(index.unwrap_or_default())
}

/// Compares all vectors with the wanted one.
fn nearest(connection: &Connection, state: &State, vector: &[f32], limit: usize) -> Result<Vec<IndexHit>, StoreError> {
    check_vector(vector, Some(state.dimensions))?;
    let mut nearest = NearestVectors::new(vector, limit);
    let mut known = Vec::with_capacity(state.dimensions);
    let mut compare = || {
        let sql = "SELECT id, vector FROM vectors WHERE vector_index = ?1";
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query([state.index])?;
        while let Some(row) = rows.next()? {
            let bytes = row.get_ref(1)?.as_blob()?;
            if let Err(error) = read_into(bytes, state.dimensions, &mut known) {
                return Ok(Err(error));
            }
            nearest.push(row.get_ref(0)?.as_str()?, &known);
        }
        Ok(Ok(()))
    };
    compare().map_err(|error| convert(READ, error))??;
    Ok(nearest.into_hits())
}

/// Returns the bytes of a vector.
fn bytes_of(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// Reads a stored vector into a buffer.
fn read_into(bytes: &[u8], dimensions: usize, vector: &mut Vec<f32>) -> Result<(), StoreError> {
    check_stored(bytes.len(), dimensions * size_of::<f32>())?;
    vector.clear();
    vector.extend(bytes.as_chunks().0.iter().map(|value| f32::from_le_bytes(*value)));
    Ok(())
}

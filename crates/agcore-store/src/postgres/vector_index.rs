//! [`PostgresVectorIndex`]: an index of vectors in tables of a server.

use std::collections::BTreeMap;

use agcore_memory::{
    MemoryError,
    knowledge::Position,
    search::{IndexChanges, IndexHit, NearestVectors, VectorIndex, check_vector, normalized_vector},
};
use async_trait::async_trait;
use sqlx::{Error, Row, postgres::PgRow};

use super::{
    PostgresStore, error::convert, query::number, statement::FetchRow, text::lookup, text_index::position,
    transaction::Transaction,
};
use crate::sql::vector::{bytes_of, read_into};

const READ: &str = "cannot read the index of vectors";
const WRITE: &str = "cannot write the index of vectors";

/// The number of vectors that are read together.
const BATCH: i64 = 4096;

/// A [`VectorIndex`] in the tables of a [`PostgresStore`], which compares all vectors of a tenant in the process that searches.
///
/// The index and its position are written in one transaction. Each model has an index of its own.
/// [`erase`](agcore_memory::knowledge::KnowledgeStore::erase) of the same tables removes the indexes of the tenant.
#[derive(Debug, Clone)]
pub struct PostgresVectorIndex {
    store: PostgresStore,
    model: String,
}

impl PostgresStore {
    /// Returns the index of vectors in these tables that a model makes. Use another name for each model, and for other settings of
    /// a model that change its vectors.
    pub fn vector_index(&self, model: impl Into<String>) -> PostgresVectorIndex {
        PostgresVectorIndex {
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

impl State {
    fn read(row: &PgRow) -> Result<Self, Error> {
        let bytes: i32 = row.try_get("bytes")?;
        Ok(Self {
            index: row.try_get("vector_index")?,
            position: position(row)?,
            dimensions: usize::try_from(bytes).unwrap_or_default() / size_of::<f32>(),
        })
    }
}

/// The columns of [`State`].
const STATE: &str = "SELECT vector_index, generation, change,
    coalesce((SELECT octet_length(vector) FROM vectors WHERE vectors.vector_index = indexes.vector_index LIMIT 1), 0)
        AS bytes
    FROM vector_indexes AS indexes WHERE tenant = $1 AND model = $2";

impl PostgresVectorIndex {
    async fn state(&self, on: &mut impl FetchRow, tenant: &str) -> Result<Option<State>, MemoryError> {
        let statement = sqlx::query(STATE).bind(lookup(tenant)).bind(lookup(&self.model));
        let row = on.row(READ, statement).await?;
        let state = row.as_ref().map(State::read).transpose();
        state.map_err(|error| convert(READ, error))
    }

    async fn apply_in(
        &self,
        transaction: &mut Transaction<'_>,
        tenant: &str,
        changes: &IndexChanges<Vec<f32>>,
    ) -> Result<bool, MemoryError> {
        let sql = "INSERT INTO vector_indexes (tenant, model) VALUES ($1, $2) ON CONFLICT (tenant, model) DO NOTHING";
        let statement = sqlx::query(sql).bind(tenant).bind(&self.model);
        transaction.execute(WRITE, statement).await?;
        // Others wait until this transaction ends.
        let lock = "SELECT 1 FROM vector_indexes WHERE tenant = $1 AND model = $2 FOR UPDATE";
        let statement = sqlx::query(lock).bind(tenant).bind(&self.model);
        transaction.row(WRITE, statement).await?;
        let state = self.state(transaction, tenant).await?;
        // An erasure may have removed it just now.
        let Some(state) = state.filter(|state| state.position == changes.after) else {
            return Ok(false);
        };
        let known = Some(state.dimensions).filter(|number| *number > 0 && !changes.is_reset);
        let mut dimensions = known;
        for (_, vector) in &changes.saved {
            check_vector(vector, dimensions)?;
            dimensions = Some(vector.len());
        }
        write(transaction, state.index, changes).await?;
        let sql = "UPDATE vector_indexes SET generation = $2, change = $3 WHERE vector_index = $1";
        let statement = sqlx::query(sql)
            .bind(state.index)
            .bind(changes.position.map(|position| number(position.generation)))
            .bind(changes.position.map(|position| number(position.change)));
        transaction.execute(WRITE, statement).await?;
        Ok(true)
    }

    async fn nearest(
        &self,
        transaction: &mut Transaction<'_>,
        tenant: &str,
        vector: &[f32],
        limit: usize,
    ) -> Result<Vec<IndexHit>, MemoryError> {
        // Both tables as they are at one moment.
        let snapshot = sqlx::query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY");
        transaction.execute(READ, snapshot).await?;
        let state = self.state(transaction, tenant).await?;
        let Some(state) = state.filter(|state| state.dimensions > 0) else {
            return Ok(Vec::new());
        };
        check_vector(vector, Some(state.dimensions))?;
        let mut nearest = NearestVectors::new(vector, limit);
        let (mut known, mut last) = (Vec::with_capacity(state.dimensions), String::new());
        loop {
            let sql = "SELECT id, vector FROM vectors WHERE vector_index = $1 AND id > $2 ORDER BY id LIMIT $3";
            let statement = sqlx::query(sql).bind(state.index).bind(&last).bind(BATCH);
            let rows = transaction.rows(READ, statement).await?;
            for row in &rows {
                let id: &str = row.try_get("id").map_err(|error| convert(READ, error))?;
                let bytes: &[u8] = row.try_get("vector").map_err(|error| convert(READ, error))?;
                read_into(bytes, state.dimensions, &mut known)?;
                nearest.push(id, &known);
                id.clone_into(&mut last);
            }
            if i64::try_from(rows.len()).unwrap_or(i64::MAX) < BATCH {
                return Ok(nearest.into_hits());
            }
        }
    }
}

#[async_trait]
impl VectorIndex for PostgresVectorIndex {
    async fn position(&self, tenant: &str) -> Result<Option<Position>, MemoryError> {
        let state = self.state(&mut self.store.statements(), tenant).await?;
        Ok(state.and_then(|state| state.position))
    }

    async fn apply(&self, tenant: &str, changes: IndexChanges<Vec<f32>>) -> Result<bool, MemoryError> {
        let mut transaction = self.store.statements().begin(WRITE).await?;
        let applied = self.apply_in(&mut transaction, tenant, &changes).await;
        transaction.end(WRITE, applied).await
    }

    async fn search(&self, tenant: &str, vector: &[f32], limit: usize) -> Result<Vec<IndexHit>, MemoryError> {
        check_vector(vector, None)?;
        let mut transaction = self.store.statements().begin(READ).await?;
        let hits = self.nearest(&mut transaction, tenant, vector, limit).await;
        transaction.end(READ, hits).await
    }
}

/// Removes and saves vectors that were checked.
async fn write(
    transaction: &mut Transaction<'_>,
    index: i64,
    changes: &IndexChanges<Vec<f32>>,
) -> Result<(), MemoryError> {
    if changes.is_reset {
        let statement = sqlx::query("DELETE FROM vectors WHERE vector_index = $1").bind(index);
        transaction.execute(WRITE, statement).await?;
    }
    let sql = "DELETE FROM vectors WHERE vector_index = $1 AND id = ANY($2)";
    let statement = sqlx::query(sql).bind(index).bind(&changes.removed);
    transaction.execute(WRITE, statement).await?;
    // Of the same id, the last vector counts.
    let saved: BTreeMap<&str, &Vec<f32>> = changes.saved.iter().map(|(id, vector)| (id.as_str(), vector)).collect();
    let vectors: Vec<Vec<u8>> = saved
        .values()
        .map(|vector| bytes_of(&normalized_vector(vector)))
        .collect();
    let ids: Vec<&str> = saved.into_keys().collect();
    let sql = "INSERT INTO vectors (vector_index, id, vector) SELECT $1, * FROM unnest($2::text[], $3::bytea[])
               ON CONFLICT (vector_index, id) DO UPDATE SET vector = excluded.vector";
    let statement = sqlx::query(sql).bind(index).bind(ids).bind(vectors);
    transaction.execute(WRITE, statement).await.map(drop)
}

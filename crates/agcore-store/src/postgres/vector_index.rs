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
    PostgresStore,
    connection::{statement::FetchRow, transaction::Transaction},
    error::convert,
    query::{number, statement},
    text::lookup,
    text_index::position,
};
use crate::{error::StoreError, sql::vector::check_stored};

const READ: &str = "cannot read the index of vectors";
const WRITE: &str = "cannot write the index of vectors";

/// The number of vectors that are read together.
const BATCH: i64 = 4096;

/// The largest number of dimensions that pgvector accepts.
const MAX_DIMENSIONS: usize = 16_000;

/// The number of vectors that pgvector returns in addition: it rounds in another way, and vectors with equal scores are ordered
/// here.
const EXTRA: usize = 32;

/// A [`VectorIndex`] in the tables of a [`PostgresStore`], which compares all vectors of a tenant.
///
/// If the database has the extension [pgvector](https://github.com/pgvector/pgvector) (`CREATE EXTENSION vector`), the server
/// compares the vectors and sends only the best ones; without it, they are sent to the process that searches. The results are the
/// same. The extension may be added or removed at any time.
///
/// With the extension, an approximate index can make searches in large indexes faster, at the price of results that may be missing.
/// For a model with 384 dimensions whose row in `vector_indexes` has the number 1:
///
/// ```sql
/// CREATE INDEX ON agcore.vectors USING hnsw ((vector::vector(384)) vector_ip_ops) WHERE vector_index = 1;
/// ```
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
    /// The schema of the extension pgvector, quoted, if the database has it.
    extension: Option<String>,
}

impl State {
    fn read(row: &PgRow) -> Result<Self, Error> {
        let dimensions: i32 = row.try_get("dimensions")?;
        Ok(Self {
            index: row.try_get("vector_index")?,
            position: position(row)?,
            dimensions: usize::try_from(dimensions).unwrap_or_default(),
            extension: row.try_get("extension")?,
        })
    }
}

/// The columns of [`State`].
const STATE: &str = "SELECT vector_index, generation, change,
    coalesce((SELECT cardinality(vector) FROM vectors WHERE vectors.vector_index = indexes.vector_index LIMIT 1), 0)
        AS dimensions,
    (SELECT quote_ident(nspname) FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace
        WHERE extname = 'vector') AS extension
    FROM vector_indexes AS indexes WHERE tenant = $1 AND model = $2";

impl PostgresVectorIndex {
    async fn state(&self, on: &mut impl FetchRow, tenant: &str) -> Result<Option<State>, StoreError> {
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
    ) -> Result<bool, StoreError> {
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
    ) -> Result<Vec<IndexHit>, StoreError> {
        // Both tables as they are at one moment.
        let snapshot = sqlx::query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY");
        transaction.execute(READ, snapshot).await?;
        let state = self.state(transaction, tenant).await?;
        let Some(state) = state.filter(|state| state.dimensions > 0) else {
            return Ok(Vec::new());
        };
        check_vector(vector, Some(state.dimensions))?;
        let mut nearest = NearestVectors::new(vector, limit);
        if let Some(extension) = state.extension.as_ref().filter(|_| vector.len() <= MAX_DIMENSIONS) {
            let rows = closest(transaction, &state, extension, vector, limit).await?;
            rows.iter().try_for_each(|row| compare(row, &state, &mut nearest))?;
            return Ok(nearest.into_hits());
        }
        let mut last = String::new();
        loop {
            let sql = "SELECT id, vector FROM vectors WHERE vector_index = $1 AND id > $2 ORDER BY id LIMIT $3";
            let statement = sqlx::query(sql).bind(state.index).bind(&last).bind(BATCH);
            let rows = transaction.rows(READ, statement).await?;
            rows.iter().try_for_each(|row| compare(row, &state, &mut nearest))?;
            if let Some(row) = rows.last() {
                last = row.try_get("id").map_err(|error| convert(READ, error))?;
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
        Ok(transaction.end(WRITE, applied).await?)
    }

    async fn search(&self, tenant: &str, vector: &[f32], limit: usize) -> Result<Vec<IndexHit>, MemoryError> {
        check_vector(vector, None)?;
        let mut transaction = self.store.statements().begin(READ).await?;
        let hits = self.nearest(&mut transaction, tenant, vector, limit).await;
        Ok(transaction.end(READ, hits).await?)
    }
}

/// Returns the vectors that pgvector finds closest.
async fn closest(
    transaction: &mut Transaction<'_>,
    state: &State,
    extension: &str,
    vector: &[f32],
    limit: usize,
) -> Result<Vec<PgRow>, StoreError> {
    // The search path of connections does not contain the schema of the extension.
    let kind = format!("{extension}.vector({})", state.dimensions);
    let sql = format!(
        "SELECT id, vector FROM vectors WHERE vector_index = $1
         ORDER BY (vector::{kind}) OPERATOR({extension}.<#>) ($2::real[]::{kind}) LIMIT $3"
    );
    let limit = i64::try_from(limit.saturating_add(EXTRA)).unwrap_or(i64::MAX);
    let wanted = normalized_vector(vector).into_vec();
    let statement = statement(sql).bind(state.index).bind(wanted).bind(limit);
    transaction.rows(READ, statement).await
}

/// Compares the vector of a row.
fn compare(row: &PgRow, state: &State, nearest: &mut NearestVectors) -> Result<(), StoreError> {
    let failed = |error| convert(READ, error);
    let vector: Vec<f32> = row.try_get("vector").map_err(failed)?;
    check_stored(vector.len(), state.dimensions)?;
    nearest.push(row.try_get("id").map_err(failed)?, &vector);
    Ok(())
}

/// Removes and saves vectors that were checked.
async fn write(
    transaction: &mut Transaction<'_>,
    index: i64,
    changes: &IndexChanges<Vec<f32>>,
) -> Result<(), StoreError> {
    if changes.is_reset {
        let statement = sqlx::query("DELETE FROM vectors WHERE vector_index = $1").bind(index);
        transaction.execute(WRITE, statement).await?;
    }
    let sql = "DELETE FROM vectors WHERE vector_index = $1 AND id = ANY($2)";
    let statement = sqlx::query(sql).bind(index).bind(&changes.removed);
    transaction.execute(WRITE, statement).await?;
    // Of the same id, the last vector counts.
    let saved: BTreeMap<&str, &Vec<f32>> = changes.saved.iter().map(|(id, vector)| (id.as_str(), vector)).collect();
    let Some(dimensions) = saved.values().next().map(|vector| vector.len()) else {
        return Ok(());
    };
    // An array of arrays cannot be sent.
    let values: Vec<f32> = saved.values().flat_map(|vector| normalized_vector(vector)).collect();
    let ids: Vec<&str> = saved.into_keys().collect();
    let sql = "INSERT INTO vectors (vector_index, id, vector)
               SELECT $1, id, ($3::real[])[(place::integer - 1) * $4 + 1 : place::integer * $4]
               FROM unnest($2::text[]) WITH ORDINALITY AS saved (id, place)
               ON CONFLICT (vector_index, id) DO UPDATE SET vector = excluded.vector";
    let dimensions = i32::try_from(dimensions).unwrap_or(i32::MAX);
    let statement = sqlx::query(sql).bind(index).bind(ids).bind(values).bind(dimensions);
    transaction.execute(WRITE, statement).await.map(drop)
}

//! Changes of an index of texts.

use std::collections::{BTreeMap, HashMap};

use sqlx::Row;

use super::state::State;
use crate::{
    error::StoreError,
    postgres::{
        connection::{statement::FetchRow, transaction::Transaction},
        error::convert,
        query::number,
    },
    sql::text::{BlockChanges, Delta, DocumentRow, Lengths, Prepared, Rewritten},
};

pub(super) const WRITE: &str = "cannot write the index of texts";

/// Applies changes, if the index has the position that they expect. Returns whether it has.
pub(super) async fn apply(
    transaction: &mut Transaction<'_>,
    tenant: &str,
    format: &str,
    prepared: &Prepared,
) -> Result<bool, StoreError> {
    let Some((state, is_stale)) = locked(transaction, tenant, format).await? else {
        return Ok(false);
    };
    let position = state.position.filter(|_| !is_stale);
    if position != prepared.after {
        return Ok(false);
    }
    let index = state.index;
    let mut delta = if is_stale || prepared.is_reset {
        empty(transaction, index, format).await?;
        Delta::default()
    } else {
        Delta::new(state.documents, state.length, state.next)
    };
    write_documents(transaction, index, prepared, &mut delta).await?;
    for (block, changes) in &delta.blocks {
        write_leaves(transaction, index, *block, changes, &prepared.terms).await?;
    }
    write_lengths(transaction, index, &mut delta).await?;
    let sql = "UPDATE text_indexes SET documents = $2, length = $3, next = $4, generation = $5, change = $6
               WHERE text_index = $1";
    let statement = sqlx::query(sql)
        .bind(index)
        .bind(delta.documents)
        .bind(delta.length)
        .bind(delta.next)
        .bind(prepared.position.map(|position| number(position.generation)))
        .bind(prepared.position.map(|position| number(position.change)));
    transaction.execute(WRITE, statement).await?;
    Ok(true)
}

/// Returns the index of a tenant, which is created if it does not exist, and whether it has another format. Others wait until this
/// transaction ends. Returns `None` if an erasure has just removed it.
async fn locked(
    transaction: &mut Transaction<'_>,
    tenant: &str,
    format: &str,
) -> Result<Option<(State, bool)>, StoreError> {
    let sql = "INSERT INTO text_indexes (tenant, format) VALUES ($1, $2) ON CONFLICT (tenant) DO NOTHING";
    let statement = sqlx::query(sql).bind(tenant).bind(format);
    transaction.execute(WRITE, statement).await?;
    let sql = "SELECT text_index, documents, length, next, generation, change, format <> $2 AS is_stale
               FROM text_indexes WHERE tenant = $1 FOR UPDATE";
    let statement = sqlx::query(sql).bind(tenant).bind(format);
    let row = transaction.row(WRITE, statement).await?;
    let read = row.map(|row| Ok((State::read(&row)?, row.try_get("is_stale")?)));
    read.transpose().map_err(|error| convert(WRITE, error))
}

/// Removes everything from an index, which gets this format.
async fn empty(transaction: &mut Transaction<'_>, index: i64, format: &str) -> Result<(), StoreError> {
    for sql in [
        "DELETE FROM text_documents WHERE text_index = $1",
        "DELETE FROM text_lengths WHERE text_index = $1",
        "DELETE FROM text_leaves WHERE text_index = $1",
    ] {
        transaction.execute(WRITE, sqlx::query(sql).bind(index)).await?;
    }
    let statement = sqlx::query("UPDATE text_indexes SET format = $2 WHERE text_index = $1");
    let statement = statement.bind(index).bind(format);
    transaction.execute(WRITE, statement).await.map(drop)
}

async fn write_documents(
    transaction: &mut Transaction<'_>,
    index: i64,
    prepared: &Prepared,
    delta: &mut Delta,
) -> Result<(), StoreError> {
    let sql = "SELECT id, number FROM text_documents WHERE text_index = $1 AND id = ANY($2)";
    let ids: Vec<&str> = prepared.documents.keys().map(String::as_str).collect();
    let statement = sqlx::query(sql).bind(index).bind(ids);
    let mut known: HashMap<String, i64> = HashMap::new();
    for row in transaction.rows(WRITE, statement).await? {
        let read = || Ok((row.try_get("id")?, row.try_get("number")?));
        known.extend([read().map_err(|error| convert(WRITE, error))?]);
    }
    let (mut deleted, mut numbers, mut ids) = (Vec::new(), Vec::new(), Vec::new());
    let row = |id, change| {
        match change {
            DocumentRow::Unchanged => {}
            DocumentRow::Delete { number } => deleted.push(number),
            DocumentRow::Insert { number } => {
                numbers.push(number);
                ids.push(id);
            }
        }
        Ok::<(), StoreError>(())
    };
    delta.apply(prepared, |id| Ok(known.get(id).copied()), row)?;
    if !deleted.is_empty() {
        let sql = "DELETE FROM text_documents WHERE text_index = $1 AND number = ANY($2)";
        let statement = sqlx::query(sql).bind(index).bind(deleted);
        transaction.execute(WRITE, statement).await?;
    }
    if !numbers.is_empty() {
        let sql =
            "INSERT INTO text_documents (text_index, number, id) SELECT $1, * FROM unnest($2::bigint[], $3::text[])";
        let statement = sqlx::query(sql).bind(index).bind(numbers).bind(ids);
        transaction.execute(WRITE, statement).await?;
    }
    Ok(())
}

async fn write_leaves(
    transaction: &mut Transaction<'_>,
    index: i64,
    block: i64,
    changes: &BlockChanges,
    terms: &[Box<str>],
) -> Result<(), StoreError> {
    let failed = |error| convert(WRITE, error);
    let sql = "SELECT first FROM text_leaves WHERE text_index = $1 AND block = $2 ORDER BY first";
    let rows = transaction
        .rows(WRITE, sqlx::query(sql).bind(index).bind(block))
        .await?;
    let firsts: Result<Vec<Vec<u8>>, _> = rows.iter().map(|row| row.try_get("first")).collect();
    let firsts = firsts.map_err(failed)?;
    let needed = changes.needed(&firsts, terms);
    let wanted: Vec<&[u8]> = needed.iter().map(|leaf| firsts[*leaf].as_slice()).collect();
    let sql = "SELECT terms FROM text_leaves WHERE text_index = $1 AND block = $2 AND first = ANY($3) ORDER BY first";
    let statement = sqlx::query(sql).bind(index).bind(block).bind(wanted);
    let mut stored: BTreeMap<usize, Vec<u8>> = BTreeMap::new();
    for (leaf, row) in needed.into_iter().zip(transaction.rows(WRITE, statement).await?) {
        stored.insert(leaf, row.try_get("terms").map_err(failed)?);
    }
    let Rewritten { gone, saved } = changes.rewrite(&firsts, &stored, terms)?;
    if !gone.is_empty() {
        let sql = "DELETE FROM text_leaves WHERE text_index = $1 AND block = $2 AND first = ANY($3)";
        let statement = sqlx::query(sql).bind(index).bind(block).bind(gone);
        transaction.execute(WRITE, statement).await?;
    }
    let (firsts, leaves): (Vec<_>, Vec<_>) = saved.into_iter().map(|leaf| (leaf.first, leaf.terms)).unzip();
    let sql = "INSERT INTO text_leaves (text_index, block, first, terms) SELECT $1, $2, * FROM unnest($3::bytea[], $4::bytea[])
               ON CONFLICT (text_index, block, first) DO UPDATE SET terms = excluded.terms";
    let statement = sqlx::query(sql).bind(index).bind(block).bind(firsts).bind(leaves);
    transaction.execute(WRITE, statement).await.map(drop)
}

async fn write_lengths(transaction: &mut Transaction<'_>, index: i64, delta: &mut Delta) -> Result<(), StoreError> {
    let wanted: Vec<i64> = delta.blocks.keys().copied().collect();
    let sql = "SELECT block, lengths FROM text_lengths WHERE text_index = $1 AND block = ANY($2)";
    let statement = sqlx::query(sql).bind(index).bind(&wanted);
    let mut stored: BTreeMap<i64, Lengths> = BTreeMap::new();
    for row in transaction.rows(WRITE, statement).await? {
        let read = || Ok((row.try_get("block")?, row.try_get::<Vec<u8>, _>("lengths")?));
        let (block, lengths) = read().map_err(|error| convert(WRITE, error))?;
        stored.insert(block, Lengths::from_bytes(&lengths)?);
    }
    let (mut blocks, mut changed, mut gone) = (Vec::new(), Vec::new(), Vec::new());
    for block in wanted {
        let mut lengths = stored.remove(&block).unwrap_or_else(Lengths::new);
        delta.apply_lengths(block, &mut lengths);
        match lengths.to_bytes() {
            Some(bytes) => {
                blocks.push(block);
                changed.push(bytes);
            }
            None => gone.push(block),
        }
    }
    let sql = "INSERT INTO text_lengths (text_index, block, lengths)
               SELECT $1, * FROM unnest($2::bigint[], $3::bytea[])
               ON CONFLICT (text_index, block) DO UPDATE SET lengths = excluded.lengths";
    let statement = sqlx::query(sql).bind(index).bind(blocks).bind(changed);
    transaction.execute(WRITE, statement).await?;
    let sql = "DELETE FROM text_lengths WHERE text_index = $1 AND block = ANY($2)";
    let statement = sqlx::query(sql).bind(index).bind(gone);
    transaction.execute(WRITE, statement).await.map(drop)
}

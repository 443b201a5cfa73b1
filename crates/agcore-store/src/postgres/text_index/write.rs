//! Changes of an index of texts.

use std::collections::{BTreeMap, HashMap};

use agcore_memory::MemoryError;
use sqlx::Row;

use super::state::State;
use crate::{
    postgres::{error::convert, query::number, statement::FetchRow, text, transaction::Transaction},
    sql::text::{Delta, DocumentRow, Lengths, Prepared, keyed, merged},
};

pub(super) const WRITE: &str = "cannot write the index of texts";

/// Applies changes, if the index has the position that they expect. Returns whether it has.
pub(super) async fn apply(
    transaction: &mut Transaction<'_>,
    tenant: &str,
    format: &str,
    prepared: &Prepared,
) -> Result<bool, MemoryError> {
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
    let terms = terms(transaction, index, prepared).await?;
    write_documents(transaction, index, prepared, &terms, &mut delta).await?;
    write_postings(transaction, index, &delta).await?;
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
) -> Result<Option<(State, bool)>, MemoryError> {
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
async fn empty(transaction: &mut Transaction<'_>, index: i64, format: &str) -> Result<(), MemoryError> {
    for sql in [
        "DELETE FROM text_documents WHERE text_index = $1",
        "DELETE FROM text_lengths WHERE text_index = $1",
        "DELETE FROM text_terms WHERE text_index = $1",
        "DELETE FROM text_postings WHERE text_index = $1",
    ] {
        transaction.execute(WRITE, sqlx::query(sql).bind(index)).await?;
    }
    let statement = sqlx::query("UPDATE text_indexes SET format = $2 WHERE text_index = $1");
    let statement = statement.bind(index).bind(format);
    transaction.execute(WRITE, statement).await.map(drop)
}

/// Returns the keys of all terms of the changes, and adds those that are new.
async fn terms<'p>(
    transaction: &mut Transaction<'_>,
    index: i64,
    prepared: &'p Prepared,
) -> Result<HashMap<&'p str, i64>, MemoryError> {
    let terms = prepared.terms();
    let find = "SELECT term, text FROM text_terms WHERE text_index = $1 AND text = ANY($2)";
    let add = "INSERT INTO text_terms (text_index, text) SELECT $1, unnest($2::text[]) RETURNING term, text";
    let mut keys: HashMap<String, i64> = HashMap::new();
    for sql in [find, add] {
        let encoded = terms.iter().map(|term| text::encode(term));
        let missing: Vec<_> = encoded.filter(|text| !keys.contains_key(&**text)).collect();
        if missing.is_empty() {
            break;
        }
        let statement = sqlx::query(sql).bind(index).bind(missing);
        for row in transaction.rows(WRITE, statement).await? {
            let read = || Ok((row.try_get("text")?, row.try_get("term")?));
            let (text, key) = read().map_err(|error| convert(WRITE, error))?;
            keys.insert(text, key);
        }
    }
    let known = terms
        .into_iter()
        .filter_map(|term| Some((term, *keys.get(&*text::encode(term))?)));
    Ok(known.collect())
}

async fn write_documents(
    transaction: &mut Transaction<'_>,
    index: i64,
    prepared: &Prepared,
    terms: &HashMap<&str, i64>,
    delta: &mut Delta,
) -> Result<(), MemoryError> {
    let sql = "SELECT id, number, terms FROM text_documents WHERE text_index = $1 AND id = ANY($2)";
    let ids: Vec<&str> = prepared.documents.keys().map(String::as_str).collect();
    let statement = sqlx::query(sql).bind(index).bind(ids);
    let mut known: BTreeMap<String, (i64, Vec<u8>)> = BTreeMap::new();
    for row in transaction.rows(WRITE, statement).await? {
        let read = || Ok((row.try_get("id")?, (row.try_get("number")?, row.try_get("terms")?)));
        let (id, document) = read().map_err(|error| convert(WRITE, error))?;
        known.insert(id, document);
    }
    let mut deleted = Vec::new();
    let (mut numbers, mut ids, mut stored) = (Vec::new(), Vec::new(), Vec::new());
    for (id, document) in &prepared.documents {
        let occurrences = document.as_ref().map(|document| keyed(document, terms));
        match delta.document(known.remove(id), occurrences)? {
            DocumentRow::Unchanged => {}
            DocumentRow::Delete { number } => deleted.push(number),
            DocumentRow::Save { number, terms } => {
                numbers.push(number);
                ids.push(id.as_str());
                stored.push(terms);
            }
        }
    }
    if !deleted.is_empty() {
        let sql = "DELETE FROM text_documents WHERE text_index = $1 AND number = ANY($2)";
        let statement = sqlx::query(sql).bind(index).bind(deleted);
        transaction.execute(WRITE, statement).await?;
    }
    if !numbers.is_empty() {
        let sql = "INSERT INTO text_documents (text_index, number, id, terms)
                   SELECT $1, * FROM unnest($2::bigint[], $3::text[], $4::bytea[])
                   ON CONFLICT (text_index, number) DO UPDATE SET terms = excluded.terms";
        let statement = sqlx::query(sql).bind(index).bind(numbers).bind(ids).bind(stored);
        transaction.execute(WRITE, statement).await?;
    }
    Ok(())
}

async fn write_postings(transaction: &mut Transaction<'_>, index: i64, delta: &Delta) -> Result<(), MemoryError> {
    if delta.postings.is_empty() {
        return Ok(());
    }
    let (blocks, terms): (Vec<i64>, Vec<i64>) = delta.postings.keys().copied().unzip();
    let sql = "SELECT block, term, entries FROM unnest($2::bigint[], $3::bigint[]) AS wanted (block, term)
               JOIN text_postings USING (block, term) WHERE text_index = $1";
    let statement = sqlx::query(sql).bind(index).bind(blocks).bind(terms);
    let mut stored: HashMap<(i64, i64), Vec<u8>> = HashMap::new();
    for row in transaction.rows(WRITE, statement).await? {
        let read = || Ok(((row.try_get("block")?, row.try_get("term")?), row.try_get("entries")?));
        let (key, entries) = read().map_err(|error| convert(WRITE, error))?;
        stored.insert(key, entries);
    }
    let (mut blocks, mut terms, mut changed) = (Vec::new(), Vec::new(), Vec::new());
    let (mut gone_blocks, mut gone_terms) = (Vec::new(), Vec::new());
    for (key, changes) in &delta.postings {
        let entries = merged(stored.get(key).map(Vec::as_slice), changes)?;
        if entries.is_empty() {
            gone_blocks.push(key.0);
            gone_terms.push(key.1);
        } else {
            blocks.push(key.0);
            terms.push(key.1);
            changed.push(entries);
        }
    }
    let sql = "INSERT INTO text_postings (text_index, block, term, entries)
               SELECT $1, * FROM unnest($2::bigint[], $3::bigint[], $4::bytea[])
               ON CONFLICT (text_index, block, term) DO UPDATE SET entries = excluded.entries";
    let statement = sqlx::query(sql).bind(index).bind(blocks).bind(terms).bind(changed);
    transaction.execute(WRITE, statement).await?;
    if gone_terms.is_empty() {
        return Ok(());
    }
    let sql = "DELETE FROM text_postings USING unnest($2::bigint[], $3::bigint[]) AS gone (block, term)
               WHERE text_index = $1 AND text_postings.block = gone.block AND text_postings.term = gone.term";
    let statement = sqlx::query(sql).bind(index).bind(gone_blocks).bind(&gone_terms);
    transaction.execute(WRITE, statement).await?;
    let sql = "DELETE FROM text_terms WHERE term = ANY($1)
               AND NOT EXISTS (SELECT 1 FROM text_postings WHERE text_postings.term = text_terms.term)";
    let statement = sqlx::query(sql).bind(gone_terms);
    transaction.execute(WRITE, statement).await.map(drop)
}

async fn write_lengths(transaction: &mut Transaction<'_>, index: i64, delta: &mut Delta) -> Result<(), MemoryError> {
    let wanted: Vec<i64> = delta.lengths.keys().copied().collect();
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

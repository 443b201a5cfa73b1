//! Reads items from rows.

use agcore_chat::{Actor, Timestamp};
use agcore_memory::MemoryItem;
use sqlx::{Row, postgres::PgRow};

use crate::{
    error::StoreError,
    postgres::{
        error::{convert, unreadable},
        text,
    },
};

/// The columns that [`item`] reads.
macro_rules! COLUMNS {
    () => {
        "tenant, id, \"user\", line, content, metadata::text, source, created_at, updated_at, valid_from, valid_until"
    };
}

pub(in crate::postgres) use COLUMNS;

/// Reads an item.
pub(in crate::postgres) fn item(row: &PgRow) -> Result<MemoryItem, StoreError> {
    let (mut item, metadata) = read(row).map_err(|error| convert("cannot read the item", error))?;
    item.metadata = serde_json::from_str(metadata)
        .map_err(|error| unreadable(&format!("the metadata of the item `{}`", item.id), error))?;
    Ok(item)
}

/// Reads an item without its metadata, and the JSON of the metadata.
fn read(row: &PgRow) -> Result<(MemoryItem, &str), sqlx::Error> {
    let time = |column| {
        let millis: Option<i64> = row.try_get(column)?;
        Ok::<_, sqlx::Error>(millis.map(Timestamp::from_millis))
    };
    let mut owner = Actor::new(row.try_get::<String, _>(0)?, row.try_get::<String, _>(2)?);
    owner.line = row.try_get::<Option<String>, _>(3)?.map(Into::into);
    let content = text::decode(row.try_get(4)?);
    let mut item = MemoryItem::new(row.try_get::<String, _>(1)?, content).with_owner(owner);
    item.source = row.try_get::<Option<String>, _>(6)?.map(text::decode);
    item.created_at = time(7)?.unwrap_or_default();
    item.updated_at = time(8)?.unwrap_or_default();
    item.valid_from = time(9)?;
    item.valid_until = time(10)?;
    Ok((item, row.try_get(5)?))
}

//! The memory store.

mod eviction;
mod query;

use agcore_chat::{Actor, Timestamp, id};
use agcore_memory::{MemoryError, MemoryFilter, MemoryItem, MemoryStore, Order};
use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde_json::{Map, Value};

use crate::error::StoreError;

pub(super) use self::query::params_of;

use self::query::{count, selecting};
use super::{
    SqliteStore,
    error::{convert, unreadable},
};
use crate::sql::{Conditions, Value as Parameter};

pub(super) const COLUMNS: &str =
    "tenant, id, user, line, content, metadata, source, created_at, updated_at, valid_from, valid_until";

#[async_trait]
impl MemoryStore for SqliteStore {
    async fn save_many(&self, items: Vec<MemoryItem>) -> Result<(), MemoryError> {
        items.iter().try_for_each(MemoryItem::check)?;
        let (now, written) = (self.now(), items.len());
        let expired = Conditions::expired(&self.0.eviction, now);
        let is_statement = written == 1 && expired.is_never();
        let save = move |connection: &Connection| {
            for item in items {
                delete_expired(connection, &item, &expired)?;
                save(connection, item, now).map_err(|error| convert("cannot save the item", error))?;
            }
            Ok(())
        };
        match is_statement {
            true => self.write_statement::<_, StoreError>(save).await?,
            false => self.write::<_, StoreError>(save).await?,
        }
        self.count_writes(written).await;
        Ok(())
    }

    async fn get(&self, tenant: &str, id: &str) -> Result<Option<MemoryItem>, MemoryError> {
        let (tenant, id) = (tenant.to_owned(), id.to_owned());
        let (now, eviction) = (self.now(), self.0.eviction.clone());
        let get = move |connection: &Connection| {
            let sql = format!("SELECT {COLUMNS} FROM memory_items WHERE tenant = ?1 AND id = ?2");
            let row = connection
                .prepare_cached(&sql)
                .and_then(|mut statement| statement.query_row([&tenant, &id], stored).optional())
                .map_err(|error| convert("cannot read the item", error))?;
            let item = row.map(Stored::into_item).transpose()?;
            Ok(item.filter(|item| !eviction.is_expired(&item.id, item.updated_at, now)))
        };
        self.read(get).await
    }

    async fn delete(&self, tenant: &str, id: &str) -> Result<bool, MemoryError> {
        let (tenant, id) = (tenant.to_owned(), id.to_owned());
        let (now, eviction) = (self.now(), self.0.eviction.clone());
        let delete = move |connection: &Connection| {
            let sql = "DELETE FROM memory_items WHERE tenant = ?1 AND id = ?2 RETURNING updated_at";
            let deleted: Option<i64> = connection
                .prepare_cached(sql)
                .and_then(|mut statement| statement.query_row([&tenant, &id], |row| row.get(0)).optional())
                .map_err(|error| convert("cannot delete the item", error))?;
            Ok(deleted.is_some_and(|updated_at| !eviction.is_expired(&id, Timestamp::from_millis(updated_at), now)))
        };
        self.write(delete).await
    }

    async fn delete_prefix(&self, tenant: &str, prefix: &str) -> Result<u64, MemoryError> {
        if prefix.is_empty() {
            return Err(StoreError::invalid("the prefix is empty").into());
        }
        id::check(prefix)?;
        let filter = MemoryFilter::new(tenant).with_prefix(prefix);
        let conditions = selecting(&filter);
        let expired = Conditions::expired(&self.0.eviction, self.now());
        let delete = move |connection: &Connection| {
            let attempt = |error| convert("cannot delete the items", error);
            let visible = conditions.clone().and_not(expired);
            let count = count(connection, &visible).map_err(attempt)?;
            let sql = format!("DELETE FROM memory_items WHERE {}", conditions.sql());
            let deleted = connection.execute(&sql, params_of(&conditions));
            deleted.map_err(attempt)?;
            Ok(count)
        };
        self.write(delete).await
    }

    async fn list(&self, filter: &MemoryFilter) -> Result<Vec<MemoryItem>, MemoryError> {
        filter.check()?;
        let expired = Conditions::expired(&self.0.eviction, self.now());
        let conditions = selecting(filter).and_not(expired);
        let direction = match filter.order {
            Order::OldestFirst => "ASC",
            Order::NewestFirst => "DESC",
        };
        let number = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let (limit, offset) = (filter.limit.map_or(-1, number), number(filter.offset));
        let list = move |connection: &Connection| {
            let sql = format!(
                "SELECT {COLUMNS} FROM memory_items WHERE {} ORDER BY created_at {direction}, id {direction} \
                 LIMIT {limit} OFFSET {offset}",
                conditions.sql()
            );
            let query = || {
                let mut statement = connection.prepare(&sql)?;
                let rows = statement.query_map(params_of(&conditions), stored)?;
                rows.collect::<Result<Vec<_>, _>>()
            };
            let rows = query().map_err(|error| convert("cannot list the items", error))?;
            rows.into_iter().map(Stored::into_item).collect()
        };
        self.read(list).await
    }

    async fn count(&self, filter: &MemoryFilter) -> Result<u64, MemoryError> {
        filter.check()?;
        let expired = Conditions::expired(&self.0.eviction, self.now());
        let conditions = selecting(filter).and_not(expired);
        let query = move |connection: &Connection| {
            count(connection, &conditions).map_err(|error| convert("cannot count the items", error))
        };
        self.read(query).await
    }

    async fn erase(&self, owner: &Actor) -> Result<u64, MemoryError> {
        let owner = [owner.tenant.to_string(), owner.user.to_string()];
        let erase = move |connection: &Connection| {
            let erased = connection.execute("DELETE FROM memory_items WHERE tenant = ?1 AND user = ?2", owner);
            erased
                .map(|items| items as u64)
                .map_err(|error| convert("cannot erase the items", error))
        };
        let erased = self.write::<_, StoreError>(erase).await?;
        self.truncate_log().await?;
        Ok(erased)
    }

    async fn record_recall(&self, tenant: &str, id: &str, score: f64) -> Result<(), MemoryError> {
        let (tenant, id, now) = (tenant.to_owned(), id.to_owned(), self.now().as_millis());
        let record = move |connection: &Connection| {
            let sql = "UPDATE memory_items SET recalls = recalls + 1, score_sum = score_sum + ?3, recalled_at = ?4
                       WHERE tenant = ?1 AND id = ?2";
            let updated = connection
                .prepare_cached(sql)
                .and_then(|mut statement| statement.execute(params![tenant, id, score.clamp(0.0, 1.0), now]));
            updated
                .map(drop)
                .map_err(|error| convert("cannot record the recall", error))
        };
        self.write(record).await
    }

    async fn evict(&self) -> Result<u64, MemoryError> {
        Ok(self.evict_now().await?)
    }
}

/// Deletes the item that would be replaced if it has expired: it does not exist any more, so its history must not live on.
fn delete_expired(connection: &Connection, item: &MemoryItem, expired: &Conditions) -> Result<(), StoreError> {
    if expired.is_never() {
        return Ok(());
    }
    let key = [item.tenant().to_string(), item.id.clone()].map(Parameter::Text);
    let conditions = Conditions::new("tenant = ? AND id = ?", key).and(expired.clone());
    let sql = format!("DELETE FROM memory_items WHERE {}", conditions.sql());
    let deleted = connection.execute(&sql, params_of(&conditions));
    deleted
        .map(drop)
        .map_err(|error| convert("cannot replace the item", error))
}

fn save(connection: &Connection, item: MemoryItem, now: Timestamp) -> rusqlite::Result<()> {
    let sql = "INSERT INTO memory_items
               (tenant, id, user, line, content, metadata, source, created_at, updated_at, valid_from, valid_until)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
               ON CONFLICT (tenant, id) DO UPDATE SET user = excluded.user, line = excluded.line,
               content = excluded.content, metadata = excluded.metadata, source = excluded.source,
               updated_at = excluded.updated_at, valid_from = excluded.valid_from, valid_until = excluded.valid_until";
    let created_at = if item.created_at == Timestamp::default() {
        now
    } else {
        item.created_at
    };
    let line = item.owner.line.as_deref();
    let metadata = Value::Object(item.metadata).to_string();
    connection.prepare_cached(sql)?.execute(params![
        &*item.owner.tenant,
        item.id,
        &*item.owner.user,
        line,
        item.content,
        metadata,
        item.source,
        created_at.as_millis(),
        now.as_millis(),
        item.valid_from.map(Timestamp::as_millis),
        item.valid_until.map(Timestamp::as_millis),
    ])?;
    Ok(())
}

/// A row whose metadata was not parsed yet.
pub(super) struct Stored {
    item: MemoryItem,
    metadata: String,
}

pub(super) fn stored(row: &Row<'_>) -> rusqlite::Result<Stored> {
    let mut owner = Actor::new(row.get::<_, String>(0)?, row.get::<_, String>(2)?);
    owner.line = row.get::<_, Option<String>>(3)?.map(Into::into);
    let time = |index| {
        row.get::<_, Option<i64>>(index)
            .map(|millis| millis.map(Timestamp::from_millis))
    };
    let mut item = MemoryItem::new(row.get::<_, String>(1)?, row.get::<_, String>(4)?).with_owner(owner);
    item.source = row.get(6)?;
    item.created_at = time(7)?.unwrap_or_default();
    item.updated_at = time(8)?.unwrap_or_default();
    item.valid_from = time(9)?;
    item.valid_until = time(10)?;
    Ok(Stored {
        item,
        metadata: row.get(5)?,
    })
}

impl Stored {
    pub(super) fn into_item(self) -> Result<MemoryItem, StoreError> {
        let Self { mut item, metadata } = self;
        let parsed: Result<Map<String, Value>, _> = serde_json::from_str(&metadata);
        item.metadata =
            parsed.map_err(|error| unreadable(&format!("the metadata of the item `{}`", item.id), error))?;
        Ok(item)
    }
}

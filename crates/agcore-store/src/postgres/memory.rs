//! The memory store.

mod eviction;
mod facets;
mod item;
mod save;

use agcore_chat::{Actor, Timestamp, id};
use agcore_memory::{MemoryError, MemoryFilter, MemoryItem, MemoryStore, Order};
use async_trait::async_trait;
use sqlx::Row;

use self::facets::selecting;
pub(super) use self::item::{COLUMNS, item};
use super::{
    PostgresStore,
    error::convert,
    query::{bind_all, number, numbered, statement},
    text::lookup,
};
use crate::{error::StoreError, sql::Conditions};

#[async_trait]
impl MemoryStore for PostgresStore {
    async fn save_many(&self, items: Vec<MemoryItem>) -> Result<(), MemoryError> {
        items.iter().try_for_each(MemoryItem::check)?;
        let written = items.len();
        if written > 0 {
            self.save_checked(items).await?;
            self.count_writes(written).await;
        }
        Ok(())
    }

    async fn get(&self, tenant: &str, id: &str) -> Result<Option<MemoryItem>, MemoryError> {
        let sql = concat!(
            "SELECT ",
            COLUMNS!(),
            " FROM memory_items WHERE tenant = $1 AND id = $2"
        );
        let statement = sqlx::query(sql).bind(lookup(tenant)).bind(lookup(id));
        let row = self.statements().row("cannot read the item", statement).await?;
        let item = row.as_ref().map(item).transpose()?;
        Ok(item.filter(|item| !self.is_expired(&item.id, item.updated_at)))
    }

    async fn delete(&self, tenant: &str, id: &str) -> Result<bool, MemoryError> {
        let attempt = "cannot delete the item";
        let sql = "DELETE FROM memory_items WHERE tenant = $1 AND id = $2 RETURNING updated_at";
        let statement = sqlx::query(sql).bind(lookup(tenant)).bind(lookup(id));
        let Some(row) = self.statements().row(attempt, statement).await? else {
            return Ok(false);
        };
        let updated_at = row.try_get(0).map_err(|error| convert(attempt, error))?;
        Ok(!self.is_expired(id, Timestamp::from_millis(updated_at)))
    }

    async fn delete_prefix(&self, tenant: &str, prefix: &str) -> Result<u64, MemoryError> {
        if prefix.is_empty() {
            return Err(StoreError::invalid("the prefix is empty").into());
        }
        id::check(prefix)?;
        let deleted = selecting(&MemoryFilter::new(tenant).with_prefix(prefix));
        let visible = Conditions::new("TRUE", []).and_not(self.expired());
        let sql = format!(
            "WITH deleted AS (DELETE FROM memory_items WHERE {} RETURNING id, updated_at)
             SELECT count(*) FROM deleted AS memory_items WHERE {}",
            numbered(deleted.sql(), 1),
            numbered(visible.sql(), 1 + deleted.values().len()),
        );
        let statement = bind_all(bind_all(statement(sql), &deleted), &visible);
        Ok(self.number("cannot delete the items", statement).await?)
    }

    async fn list(&self, filter: &MemoryFilter) -> Result<Vec<MemoryItem>, MemoryError> {
        filter.check()?;
        let conditions = selecting(filter).and_not(self.expired());
        let direction = match filter.order {
            Order::OldestFirst => "ASC",
            Order::NewestFirst => "DESC",
        };
        let next = conditions.values().len() + 1;
        let sql = format!(
            concat!(
                "SELECT ",
                COLUMNS!(),
                " FROM memory_items WHERE {} ORDER BY created_at {}, id {} OFFSET ${} LIMIT ${}"
            ),
            numbered(conditions.sql(), 1),
            direction,
            direction,
            next,
            next + 1,
        );
        let statement = bind_all(statement(sql), &conditions)
            .bind(number(filter.offset))
            .bind(filter.limit.map(number));
        let rows = self.statements().rows("cannot list the items", statement).await?;
        rows.iter().map(|row| Ok(item(row)?)).collect()
    }

    async fn count(&self, filter: &MemoryFilter) -> Result<u64, MemoryError> {
        filter.check()?;
        let conditions = selecting(filter).and_not(self.expired());
        let sql = numbered(conditions.sql(), 1);
        let statement = statement(format!("SELECT count(*) FROM memory_items WHERE {sql}"));
        Ok(self
            .number("cannot count the items", bind_all(statement, &conditions))
            .await?)
    }

    async fn erase(&self, owner: &Actor) -> Result<u64, MemoryError> {
        let sql = "DELETE FROM memory_items WHERE tenant = $1 AND \"user\" = $2";
        let statement = sqlx::query(sql).bind(lookup(&owner.tenant)).bind(lookup(&owner.user));
        Ok(self.statements().execute("cannot erase the items", statement).await?)
    }

    async fn record_recall(&self, tenant: &str, id: &str, score: f64) -> Result<(), MemoryError> {
        let sql = "UPDATE memory_items SET recalls = recalls + 1, score_sum = score_sum + $3, recalled_at = $4
                   WHERE tenant = $1 AND id = $2";
        let statement = sqlx::query(sql)
            .bind(lookup(tenant))
            .bind(lookup(id))
            .bind(score.clamp(0.0, 1.0))
            .bind(self.now().as_millis());
        let recorded = self.statements().execute("cannot record the recall", statement).await;
        Ok(recorded.map(drop)?)
    }

    async fn evict(&self) -> Result<u64, MemoryError> {
        Ok(self.evict_now().await?)
    }
}

impl PostgresStore {
    /// Selects the items that have expired by now.
    fn expired(&self) -> Conditions {
        Conditions::expired(self.eviction(), self.now())
    }

    fn is_expired(&self, id: &str, updated_at: Timestamp) -> bool {
        self.eviction().is_expired(id, updated_at, self.now())
    }

    /// Returns the number that a statement selects.
    async fn number(
        &self,
        attempt: &str,
        statement: super::connection::statement::Statement<'_>,
    ) -> Result<u64, StoreError> {
        let row = self.statements().row(attempt, statement).await?;
        let number = row.map_or(Ok(0), |row| row.try_get::<i64, _>(0));
        Ok(number.map_err(|error| convert(attempt, error))?.unsigned_abs())
    }
}

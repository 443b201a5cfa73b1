//! The data that belongs to a user.

use agcore_chat::Actor;
use agcore_memory::{MemoryItem, graph::Entity, knowledge::KnowledgePage};
use agcore_schedule::Schedule;
use agcore_session::{Session, quota::Quota};
use agcore_webhook::Webhook;
use async_trait::async_trait;
use rusqlite::{Connection, Row, params_from_iter};

use super::{
    SqliteStore,
    graph::{self, entity},
    knowledge::{self, page},
    memory,
    rows::{number, select},
    schedules, sessions,
};
use crate::{
    error::StoreError,
    sql::{
        Conditions, Value,
        schedules::read_schedule,
        tables::read_session,
        webhooks::{WEBHOOK_COLUMNS, read_webhook},
    },
    user_data::{UserDataStore, UserUsage},
};

const ATTEMPT: &str = "cannot list what belongs to the user";

#[async_trait]
impl UserDataStore for SqliteStore {
    async fn items_of(&self, user: &Actor, after: Option<&str>, limit: u64) -> Result<Vec<MemoryItem>, StoreError> {
        let rows = self.rows_of(("memory_items", memory::COLUMNS), (user, after, limit), memory::stored);
        let rows = rows.await?.into_iter();
        rows.map(memory::Stored::into_item).collect()
    }

    async fn pages_of(&self, user: &Actor, after: Option<&str>, limit: u64) -> Result<Vec<KnowledgePage>, StoreError> {
        let columns = format!("{}, content", knowledge::COLUMNS);
        self.rows_of(("knowledge_pages", &columns), (user, after, limit), page)
            .await
    }

    async fn entities_of(&self, user: &Actor, after: Option<&str>, limit: u64) -> Result<Vec<Entity>, StoreError> {
        self.rows_of(("graph_entities", graph::COLUMNS), (user, after, limit), entity)
            .await
    }

    async fn sessions_of(&self, user: &Actor, after: Option<&str>, limit: u64) -> Result<Vec<Session>, StoreError> {
        self.rows_of(("sessions", sessions::COLUMNS), (user, after, limit), |row| {
            read_session(row)
        })
        .await
    }

    async fn schedules_of(&self, user: &Actor, after: Option<&str>, limit: u64) -> Result<Vec<Schedule>, StoreError> {
        self.rows_of(("schedules", schedules::COLUMNS), (user, after, limit), |row| {
            read_schedule(row)
        })
        .await
    }

    async fn webhooks_of(&self, user: &Actor, after: Option<&str>, limit: u64) -> Result<Vec<Webhook>, StoreError> {
        self.rows_of(("webhooks", WEBHOOK_COLUMNS), (user, after, limit), |row| {
            read_webhook(row)
        })
        .await
    }

    async fn quotas_of(&self, user: &Actor) -> Result<Vec<Quota>, StoreError> {
        self.own_quotas(ATTEMPT, user).await
    }

    async fn usage_of(&self, user: &Actor) -> Result<Vec<UserUsage>, StoreError> {
        self.own_usage(ATTEMPT, user).await
    }

    async fn streams(&self, prefix: &str, after: Option<&str>, limit: u64) -> Result<Vec<String>, StoreError> {
        let conditions = Conditions::column_with_prefix("name", prefix).after("name", after);
        let limit = number(limit);
        self.read(move |connection| {
            let sql = format!(
                "SELECT name FROM journal_streams WHERE {} ORDER BY name LIMIT {limit}",
                conditions.sql()
            );
            let params = params_from_iter(conditions.values());
            select(connection, "cannot list the streams", &sql, params, |row| row.get(0))
        })
        .await
    }
}

impl SqliteStore {
    /// Reads rows of a table in the order of their ids.
    async fn rows_of<T: Send + 'static>(
        &self,
        (table, columns): (&'static str, &str),
        (user, after, limit): (&Actor, Option<&str>, u64),
        read: fn(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        let conditions = Conditions::of_user(user).after("id", after);
        let sql = format!(
            "SELECT {columns} FROM {table} WHERE {} ORDER BY id LIMIT ?",
            conditions.sql()
        );
        let limit = Value::Integer(number(limit));
        self.read(move |connection: &Connection| {
            let params = params_from_iter(conditions.values().iter().chain([&limit]));
            select(connection, ATTEMPT, &sql, params, read)
        })
        .await
    }
}

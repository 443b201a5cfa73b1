//! The data that belongs to a user.

use agcore_chat::Actor;
use agcore_memory::{MemoryItem, graph::Entity, knowledge::KnowledgePage};
use agcore_schedule::Schedule;
use agcore_session::{Session, quota::Quota};
use agcore_webhook::Webhook;
use async_trait::async_trait;
use sqlx::{Error, Row, postgres::PgRow};

use super::{
    PostgresStore,
    error::convert,
    graph, knowledge, memory,
    query::{bind_all, number, numbered, statement},
    schedules, sessions,
};
use crate::{
    error::StoreError,
    sql::{
        Conditions,
        schedules::read_schedule,
        tables::read_session,
        webhooks::{WEBHOOK_COLUMNS, read_webhook},
    },
    user_data::{UserDataStore, UserUsage},
};

const ATTEMPT: &str = "cannot list what belongs to the user";

#[async_trait]
impl UserDataStore for PostgresStore {
    async fn items_of(&self, user: &Actor, after: Option<&str>, limit: u64) -> Result<Vec<MemoryItem>, StoreError> {
        let rows = self.rows_of("memory_items", memory::COLUMNS!(), (user, after, limit));
        rows.await?.iter().map(memory::item).collect()
    }

    async fn pages_of(&self, user: &Actor, after: Option<&str>, limit: u64) -> Result<Vec<KnowledgePage>, StoreError> {
        let columns = concat!(knowledge::COLUMNS!(), ", content");
        let rows = self.rows_of("knowledge_pages", columns, (user, after, limit));
        rows.await?.iter().map(knowledge::page).collect()
    }

    async fn entities_of(&self, user: &Actor, after: Option<&str>, limit: u64) -> Result<Vec<Entity>, StoreError> {
        let rows = self.rows_of("graph_entities", graph::COLUMNS!(), (user, after, limit));
        read(&rows.await?, graph::entity)
    }

    async fn sessions_of(&self, user: &Actor, after: Option<&str>, limit: u64) -> Result<Vec<Session>, StoreError> {
        let rows = self.rows_of("sessions", sessions::COLUMNS!(), (user, after, limit));
        read(&rows.await?, read_session)
    }

    async fn schedules_of(&self, user: &Actor, after: Option<&str>, limit: u64) -> Result<Vec<Schedule>, StoreError> {
        let rows = self.rows_of("schedules", schedules::COLUMNS!(), (user, after, limit));
        read(&rows.await?, read_schedule)
    }

    async fn webhooks_of(&self, user: &Actor, after: Option<&str>, limit: u64) -> Result<Vec<Webhook>, StoreError> {
        let rows = self.rows_of("webhooks", WEBHOOK_COLUMNS, (user, after, limit));
        read(&rows.await?, read_webhook)
    }

    async fn quotas_of(&self, user: &Actor) -> Result<Vec<Quota>, StoreError> {
        self.own_quotas(ATTEMPT, user).await
    }

    async fn usage_of(&self, user: &Actor) -> Result<Vec<UserUsage>, StoreError> {
        self.own_usage(ATTEMPT, user).await
    }

    async fn streams(&self, prefix: &str, after: Option<&str>, limit: u64) -> Result<Vec<String>, StoreError> {
        let conditions = Conditions::column_with_prefix("name", prefix).after("name", after);
        let sql = format!(
            "SELECT name FROM journal_streams WHERE {} ORDER BY name LIMIT ${}",
            numbered(conditions.sql(), 1),
            conditions.values().len() + 1
        );
        let listing = bind_all(statement(sql), &conditions).bind(number(limit));
        self.select("cannot list the streams", listing, |row| row.try_get(0))
            .await
    }
}

impl PostgresStore {
    /// Returns rows of a table in the order of their ids.
    async fn rows_of(
        &self,
        table: &str,
        columns: &str,
        (user, after, limit): (&Actor, Option<&str>, u64),
    ) -> Result<Vec<PgRow>, StoreError> {
        let conditions = Conditions::of_user(user).after("id", after);
        let sql = format!(
            "SELECT {columns} FROM {table} WHERE {} ORDER BY id LIMIT ${}",
            numbered(conditions.sql(), 1),
            conditions.values().len() + 1
        );
        let listing = bind_all(statement(sql), &conditions).bind(number(limit));
        self.statements().rows(ATTEMPT, listing).await
    }
}

fn read<T>(rows: &[PgRow], read: impl Fn(&PgRow) -> Result<T, Error>) -> Result<Vec<T>, StoreError> {
    let read = rows.iter().map(read).collect::<Result<_, _>>();
    read.map_err(|error| convert(ATTEMPT, error))
}

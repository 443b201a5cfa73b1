//! The graph of entities.

mod write;

use agcore_chat::{Actor, Timestamp};
use agcore_memory::{
    MemoryError,
    graph::{Direction, Entity, EntityHit, KnowledgeGraph, Relation},
    knowledge::TagCount,
};
use async_trait::async_trait;
use rusqlite::{Connection, Row, params};
use serde_json::Value as Json;

use super::{
    SqliteStore,
    memory::params_of,
    rows::{Json as Stored, count, execute, number, select, time},
};
use crate::{error::StoreError, sql::Conditions};

const READ: &str = "cannot read the entities";

pub(super) const COLUMNS: &str = "tenant, id, user, line, name, kind, description, tags, created_at, updated_at";

#[async_trait]
impl KnowledgeGraph for SqliteStore {
    async fn save_entities(&self, entities: Vec<Entity>) -> Result<(), MemoryError> {
        entities.iter().try_for_each(Entity::check)?;
        let now: Timestamp = self.now();
        let save = move |connection: &Connection| {
            let mut entities = entities.iter();
            entities.try_for_each(|entity| write::entity(connection, entity, now))
        };
        self.write(save).await
    }

    async fn save_relations(&self, tenant: &str, relations: Vec<Relation>) -> Result<(), MemoryError> {
        relations.iter().try_for_each(Relation::check)?;
        let tenant = tenant.to_owned();
        let save = move |connection: &Connection| {
            let mut relations = relations.iter();
            relations.try_for_each(|relation| write::relation(connection, &tenant, relation))
        };
        self.write(save).await
    }

    async fn entities(&self, tenant: &str, ids: &[String]) -> Result<Vec<Entity>, MemoryError> {
        let (tenant, ids) = (tenant.to_owned(), list(ids));
        let read = move |connection: &Connection| {
            let sql = format!(
                "SELECT {COLUMNS} FROM graph_entities
                 WHERE tenant = ?1 AND id IN (SELECT value FROM json_each(?2)) ORDER BY id"
            );
            select(connection, READ, &sql, [tenant, ids], entity)
        };
        self.read(read).await
    }

    async fn relations(
        &self,
        tenant: &str,
        entities: &[String],
        direction: Direction,
    ) -> Result<Vec<Relation>, MemoryError> {
        let (tenant, ids) = (tenant.to_owned(), list(entities));
        let read = move |connection: &Connection| {
            let wanted = "(SELECT entity FROM graph_entities
                           WHERE tenant = ?1 AND id IN (SELECT value FROM json_each(?2)))";
            let conditions = match direction {
                Direction::Outgoing => format!("source IN {wanted}"),
                Direction::Incoming => format!("target IN {wanted}"),
                _ => format!("source IN {wanted} OR target IN {wanted}"),
            };
            let sql = format!(
                "SELECT source.id AS source, graph_relations.kind, target.id AS target, weight FROM graph_relations
                 JOIN graph_entities AS source ON source.entity = graph_relations.source
                 JOIN graph_entities AS target ON target.entity = graph_relations.target
                 WHERE {} ORDER BY source.id, graph_relations.kind, target.id",
                conditions
                    .replace("source IN", "graph_relations.source IN")
                    .replace("target IN", "graph_relations.target IN")
            );
            select(connection, "cannot read the relations", &sql, [tenant, ids], |row| {
                let relation = Relation::new(
                    row.get::<_, String>("source")?,
                    row.get::<_, String>("kind")?,
                    row.get::<_, String>("target")?,
                );
                Ok(relation.with_weight(row.get("weight")?))
            })
        };
        self.read(read).await
    }

    async fn remove_entity(&self, tenant: &str, id: &str) -> Result<bool, MemoryError> {
        let key = [tenant.to_owned(), id.to_owned()];
        let remove = move |connection: &Connection| {
            let sql = "DELETE FROM graph_entities WHERE tenant = ?1 AND id = ?2";
            Ok(execute(connection, "cannot remove the entity", sql, key)? > 0)
        };
        self.write(remove).await
    }

    async fn remove_relation(&self, tenant: &str, relation: &Relation) -> Result<bool, MemoryError> {
        let (tenant, relation) = (tenant.to_owned(), relation.clone());
        let remove = move |connection: &Connection| {
            let sql = "DELETE FROM graph_relations WHERE kind = ?3
                       AND source = (SELECT entity FROM graph_entities WHERE tenant = ?1 AND id = ?2)
                       AND target = (SELECT entity FROM graph_entities WHERE tenant = ?1 AND id = ?4)";
            let key = params![tenant, relation.source, relation.kind, relation.target];
            Ok(execute(connection, "cannot remove the relation", sql, key)? > 0)
        };
        self.write(remove).await
    }

    async fn find_by_keywords(
        &self,
        tenant: &str,
        keywords: &[String],
        limit: usize,
    ) -> Result<Vec<EntityHit>, MemoryError> {
        let (tenant, terms) = (tenant.to_owned(), list(keywords));
        let read = move |connection: &Connection| {
            let sql = format!(
                "SELECT {COLUMNS} FROM graph_entities WHERE entity IN
                 (SELECT entity FROM graph_terms WHERE tenant = ?1 AND term IN (SELECT value FROM json_each(?2)))"
            );
            select(connection, READ, &sql, [tenant, terms], entity)
        };
        Ok(EntityHit::best(
            self.read::<_, StoreError>(read).await?,
            keywords,
            limit,
        ))
    }

    async fn find_tags(&self, tenant: &str, prefix: &str, limit: u64) -> Result<Vec<TagCount>, MemoryError> {
        let conditions = Conditions::tenant(tenant).and(Conditions::column_with_prefix("tag", prefix));
        let limit = number(limit);
        let read = move |connection: &Connection| {
            let sql = format!(
                "SELECT tag, count(*) AS entities FROM graph_tags WHERE {} GROUP BY tag \
                 ORDER BY entities DESC, tag LIMIT {limit}",
                conditions.sql()
            );
            select(
                connection,
                "cannot list the tags",
                &sql,
                params_of(&conditions),
                |row| Ok(TagCount::new(row.get::<_, String>("tag")?, count(row, "entities")?)),
            )
        };
        self.read(read).await
    }

    async fn erase_entities(&self, owner: &Actor) -> Result<u64, MemoryError> {
        let owner = [owner.tenant.to_string(), owner.user.to_string()];
        let erase = move |connection: &Connection| {
            let sql = "DELETE FROM graph_entities WHERE tenant = ?1 AND user = ?2";
            execute(connection, "cannot erase the entities", sql, owner)
        };
        let erased = self.write::<_, StoreError>(erase).await?;
        self.truncate_log().await?;
        Ok(erased)
    }
}

/// Returns texts as a JSON list, which a statement can take as one value.
fn list(texts: &[String]) -> String {
    Json::from(texts).to_string()
}

pub(super) fn entity(row: &Row<'_>) -> rusqlite::Result<Entity> {
    let mut owner = Actor::new(row.get::<_, String>("tenant")?, row.get::<_, String>("user")?);
    owner.line = row.get::<_, Option<String>>("line")?.map(Into::into);
    let (id, name, kind): (String, String, String) = (row.get("id")?, row.get("name")?, row.get("kind")?);
    let mut entity = Entity::new(id, name, kind).with_owner(owner);
    entity.description = row.get("description")?;
    let Stored(tags) = row.get("tags")?;
    entity.tags = tags;
    entity.created_at = time(row, "created_at")?;
    entity.updated_at = time(row, "updated_at")?;
    Ok(entity)
}

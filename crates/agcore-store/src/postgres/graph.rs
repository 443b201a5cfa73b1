//! The graph of entities.

mod write;

use agcore_chat::Actor;
use agcore_memory::{
    MemoryError,
    graph::{Direction, Entity, EntityHit, KnowledgeGraph, Relation},
    knowledge::TagCount,
};
use async_trait::async_trait;
use sqlx::{Error, Row, postgres::PgRow};

use super::{
    PostgresStore,
    connection::statement::Statement,
    error::convert,
    query::number,
    rows::{count, time},
    text::{self, lookup},
};
use crate::error::StoreError;

const READ: &str = "cannot read the entities";

macro_rules! COLUMNS {
    () => {
        "tenant, id, \"user\", line, name, kind, description, tags, created_at, updated_at"
    };
}

pub(super) use COLUMNS;

#[async_trait]
impl KnowledgeGraph for PostgresStore {
    async fn save_entities(&self, entities: Vec<Entity>) -> Result<(), MemoryError> {
        entities.iter().try_for_each(Entity::check)?;
        Ok(self.write_entities(entities).await?)
    }

    async fn save_relations(&self, tenant: &str, relations: Vec<Relation>) -> Result<(), MemoryError> {
        relations.iter().try_for_each(Relation::check)?;
        Ok(self.write_relations(tenant, relations).await?)
    }

    async fn entities(&self, tenant: &str, ids: &[String]) -> Result<Vec<Entity>, MemoryError> {
        let sql = concat!(
            "SELECT ",
            COLUMNS!(),
            " FROM graph_entities WHERE tenant = $1 AND id = ANY($2) ORDER BY id"
        );
        Ok(self
            .read_entities(sqlx::query(sql).bind(lookup(tenant)).bind(lookups(ids)))
            .await?)
    }

    async fn relations(
        &self,
        tenant: &str,
        entities: &[String],
        direction: Direction,
    ) -> Result<Vec<Relation>, MemoryError> {
        let attempt = "cannot read the relations";
        let sql = match direction {
            Direction::Outgoing => {
                "SELECT source, kind, target, weight FROM graph_relations
                 WHERE tenant = $1 AND source = ANY($2) ORDER BY source, kind, target"
            }
            Direction::Incoming => {
                "SELECT source, kind, target, weight FROM graph_relations
                 WHERE tenant = $1 AND target = ANY($2) ORDER BY source, kind, target"
            }
            _ => {
                "SELECT source, kind, target, weight FROM graph_relations
                 WHERE tenant = $1 AND (source = ANY($2) OR target = ANY($2)) ORDER BY source, kind, target"
            }
        };
        let statement = sqlx::query(sql).bind(lookup(tenant)).bind(lookups(entities));
        let rows = self.statements().rows(attempt, statement).await?;
        let relations: Result<_, Error> = rows.iter().map(relation).collect();
        Ok(relations.map_err(|error| convert(attempt, error))?)
    }

    async fn remove_entity(&self, tenant: &str, id: &str) -> Result<bool, MemoryError> {
        let sql = "DELETE FROM graph_entities WHERE tenant = $1 AND id = $2";
        let statement = sqlx::query(sql).bind(lookup(tenant)).bind(lookup(id));
        Ok(self.statements().execute("cannot remove the entity", statement).await? > 0)
    }

    async fn remove_relation(&self, tenant: &str, relation: &Relation) -> Result<bool, MemoryError> {
        let sql = "DELETE FROM graph_relations WHERE tenant = $1 AND source = $2 AND kind = $3 AND target = $4";
        let statement = sqlx::query(sql)
            .bind(lookup(tenant))
            .bind(lookup(&relation.source))
            .bind(lookup(&relation.kind))
            .bind(lookup(&relation.target));
        Ok(self
            .statements()
            .execute("cannot remove the relation", statement)
            .await?
            > 0)
    }

    async fn find_by_keywords(
        &self,
        tenant: &str,
        keywords: &[String],
        limit: usize,
    ) -> Result<Vec<EntityHit>, MemoryError> {
        let sql = concat!(
            "SELECT ",
            COLUMNS!(),
            " FROM graph_entities WHERE tenant = $1 AND terms && $2"
        );
        // The operator does not take null.
        let terms: Vec<&str> = keywords.iter().filter_map(|keyword| lookup(keyword)).collect();
        let found = self
            .read_entities(sqlx::query(sql).bind(lookup(tenant)).bind(terms))
            .await?;
        Ok(EntityHit::best(found, keywords, limit))
    }

    async fn find_tags(&self, tenant: &str, prefix: &str, limit: u64) -> Result<Vec<TagCount>, MemoryError> {
        let attempt = "cannot list the tags";
        let sql = "SELECT tag, count(*) AS entities FROM graph_entities, unnest(tags) AS tag
                   WHERE tenant = $1 AND starts_with(tag, $2)
                   GROUP BY tag ORDER BY entities DESC, tag COLLATE \"C\" LIMIT $3";
        let statement = sqlx::query(sql)
            .bind(lookup(tenant))
            .bind(lookup(prefix))
            .bind(number(limit));
        let rows = self.statements().rows(attempt, statement).await?;
        let read = |row: &PgRow| Ok(TagCount::new(row.try_get::<String, _>("tag")?, count(row, "entities")?));
        let tags: Result<_, Error> = rows.iter().map(read).collect();
        Ok(tags.map_err(|error| convert(attempt, error))?)
    }

    async fn erase_entities(&self, owner: &Actor) -> Result<u64, MemoryError> {
        let sql = "DELETE FROM graph_entities WHERE tenant = $1 AND \"user\" = $2";
        let statement = sqlx::query(sql).bind(lookup(&owner.tenant)).bind(lookup(&owner.user));
        Ok(self
            .statements()
            .execute("cannot erase the entities", statement)
            .await?)
    }
}

impl PostgresStore {
    async fn read_entities(&self, statement: Statement<'_>) -> Result<Vec<Entity>, StoreError> {
        let rows = self.statements().rows(READ, statement).await?;
        let entities: Result<_, Error> = rows.iter().map(entity).collect();
        entities.map_err(|error| convert(READ, error))
    }
}

fn lookups(ids: &[String]) -> Vec<Option<&str>> {
    ids.iter().map(|id| lookup(id)).collect()
}

pub(super) fn entity(row: &PgRow) -> Result<Entity, Error> {
    let mut owner = Actor::new(row.try_get::<String, _>("tenant")?, row.try_get::<String, _>("user")?);
    owner.line = row.try_get::<Option<String>, _>("line")?.map(Into::into);
    let (id, name, kind): (String, String, String) = (row.try_get("id")?, row.try_get("name")?, row.try_get("kind")?);
    let mut entity = Entity::new(id, name, kind).with_owner(owner);
    entity.description = text::decode(row.try_get("description")?);
    entity.tags = row.try_get("tags")?;
    entity.created_at = time(row, "created_at")?;
    entity.updated_at = time(row, "updated_at")?;
    Ok(entity)
}

fn relation(row: &PgRow) -> Result<Relation, Error> {
    let source: String = row.try_get("source")?;
    let (kind, target): (String, String) = (row.try_get("kind")?, row.try_get("target")?);
    Ok(Relation::new(source, kind, target).with_weight(row.try_get("weight")?))
}

//! Saving entities and relations.

use agcore_chat::Timestamp;
use agcore_memory::graph::{Entity, Relation};
use rusqlite::{Connection, params};
use serde_json::Value;

use crate::{
    error::StoreError,
    sqlite::rows::{execute, select_one},
};

const SAVE: &str = "cannot save the entity";

/// Saves an entity, or replaces it.
pub(super) fn entity(connection: &Connection, entity: &Entity, now: Timestamp) -> Result<(), StoreError> {
    let sql =
        "INSERT INTO graph_entities (tenant, id, user, line, name, kind, description, tags, created_at, updated_at)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9)
               ON CONFLICT (tenant, id) DO UPDATE SET user = excluded.user, line = excluded.line, name = excluded.name,
               kind = excluded.kind, description = excluded.description, tags = excluded.tags,
               updated_at = excluded.updated_at
               RETURNING entity";
    let tenant = &**entity.tenant();
    let values = params![
        tenant,
        entity.id,
        &*entity.owner.user,
        entity.owner.line.as_deref(),
        entity.name,
        entity.kind,
        entity.description,
        Value::from(entity.tags.as_slice()).to_string(),
        now.as_millis(),
    ];
    let key: Option<i64> = select_one(connection, SAVE, sql, values, |row| row.get(0))?;
    let key = key.unwrap_or_default();
    let parts = [
        ("graph_tags", "tag", entity.tags.clone()),
        ("graph_terms", "term", entity.terms().into_iter().collect()),
    ];
    for (table, column, values) in parts {
        execute(
            connection,
            SAVE,
            &format!("DELETE FROM {table} WHERE entity = ?1"),
            [key],
        )?;
        let insert = format!("INSERT INTO {table} (tenant, {column}, entity) VALUES (?1, ?2, ?3)");
        for value in values {
            execute(connection, SAVE, &insert, params![tenant, value, key])?;
        }
    }
    Ok(())
}

/// Saves a relation, or replaces its weight.
pub(super) fn relation(connection: &Connection, tenant: &str, relation: &Relation) -> Result<(), StoreError> {
    let attempt = "cannot save the relation";
    let key = |id: &str| {
        let sql = "SELECT entity FROM graph_entities WHERE tenant = ?1 AND id = ?2";
        let found: Option<i64> = select_one(connection, attempt, sql, [tenant, id], |row| row.get(0))?;
        found.ok_or_else(|| StoreError::not_found(format!("there is no entity `{id}`")))
    };
    let (source, target) = (key(&relation.source)?, key(&relation.target)?);
    let sql = "INSERT INTO graph_relations (source, kind, target, weight) VALUES (?1, ?2, ?3, ?4)
               ON CONFLICT (source, kind, target) DO UPDATE SET weight = excluded.weight";
    let values = params![source, relation.kind, target, relation.weight];
    execute(connection, attempt, sql, values).map(drop)
}

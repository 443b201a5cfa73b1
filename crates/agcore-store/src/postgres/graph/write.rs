//! Saving entities and relations.

use std::collections::BTreeMap;

use agcore_chat::Timestamp;
use agcore_memory::graph::{Entity, Relation};
use sqlx::Row;

use crate::{
    error::StoreError,
    postgres::{
        PostgresStore,
        connection::{statement::FetchRow, transaction::Transaction},
        error::convert,
        text::{self, lookup},
    },
};

const SAVE: &str = "cannot save the entities";
const RELATE: &str = "cannot save the relations";

impl PostgresStore {
    /// Saves entities that were checked.
    pub(super) async fn write_entities(&self, entities: Vec<Entity>) -> Result<(), StoreError> {
        let now = self.now();
        // Sorted, so that two writers of the same entities lock them in the same order.
        let entities: BTreeMap<_, _> = entities
            .into_iter()
            .map(|entity| ((entity.tenant().to_string(), entity.id.clone()), entity))
            .collect();
        let mut transaction = self.statements().begin(SAVE).await?;
        let mut saved = Ok(());
        for entity in entities.values() {
            saved = insert(&mut transaction, entity, now).await;
            if saved.is_err() {
                break;
            }
        }
        transaction.end(SAVE, saved).await
    }

    /// Saves relations that were checked.
    pub(super) async fn write_relations(&self, tenant: &str, relations: Vec<Relation>) -> Result<(), StoreError> {
        let mut transaction = self.statements().begin(RELATE).await?;
        let saved = relate(&mut transaction, tenant, relations).await;
        transaction.end(RELATE, saved).await
    }
}

async fn insert(transaction: &mut Transaction<'_>, entity: &Entity, now: Timestamp) -> Result<(), StoreError> {
    let sql = r#"
        INSERT INTO graph_entities (tenant, id, "user", line, name, kind, description, tags, terms, created_at, updated_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10)
        ON CONFLICT (tenant, id) DO UPDATE SET
        "user" = excluded."user", line = excluded.line, name = excluded.name, kind = excluded.kind,
        description = excluded.description, tags = excluded.tags, terms = excluded.terms, updated_at = excluded.updated_at"#;
    let statement = sqlx::query(sql)
        .bind(&*entity.owner.tenant)
        .bind(&entity.id)
        .bind(&*entity.owner.user)
        .bind(entity.owner.line.as_deref())
        .bind(&entity.name)
        .bind(&entity.kind)
        .bind(text::encode(&entity.description))
        .bind(&entity.tags)
        .bind(entity.terms().into_iter().collect::<Vec<String>>())
        .bind(now.as_millis());
    transaction.execute(SAVE, statement).await.map(drop)
}

async fn relate(transaction: &mut Transaction<'_>, tenant: &str, relations: Vec<Relation>) -> Result<(), StoreError> {
    let mut ends: Vec<&str> = relations
        .iter()
        .flat_map(|relation| [relation.source.as_str(), relation.target.as_str()])
        .collect();
    ends.sort_unstable();
    ends.dedup();
    // One that is missing; the others cannot be removed until the transaction ends.
    for id in ends {
        let sql = "SELECT id FROM graph_entities WHERE tenant = $1 AND id = $2 FOR KEY SHARE";
        let row = transaction
            .row(RELATE, sqlx::query(sql).bind(lookup(tenant)).bind(id))
            .await?;
        let found: Option<String> = row
            .map(|row| row.try_get("id"))
            .transpose()
            .map_err(|error| convert(RELATE, error))?;
        if found.is_none() {
            return Err(StoreError::not_found(format!("there is no entity `{id}`")));
        }
    }
    let relations: BTreeMap<(String, String, String), f64> = relations
        .into_iter()
        .map(|relation| ((relation.source, relation.kind, relation.target), relation.weight))
        .collect();
    for ((source, kind, target), weight) in relations {
        let sql = "INSERT INTO graph_relations (tenant, source, kind, target, weight) VALUES ($1, $2, $3, $4, $5)
                   ON CONFLICT (tenant, source, kind, target) DO UPDATE SET weight = excluded.weight";
        let statement = sqlx::query(sql)
            .bind(tenant)
            .bind(source)
            .bind(kind)
            .bind(target)
            .bind(weight);
        transaction.execute(RELATE, statement).await?;
    }
    Ok(())
}

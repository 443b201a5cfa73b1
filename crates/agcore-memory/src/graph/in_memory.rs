//! [`InMemoryGraph`]: a graph in the memory of the process.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use agcore_chat::{Actor, Clock, Timestamp};
use async_trait::async_trait;

use super::{
    entity::{Entity, EntityHit},
    relation::{Direction, Relation},
    store::KnowledgeGraph,
};
use crate::{error::MemoryError, knowledge::TagCount};

/// A [`KnowledgeGraph`] in the memory of the process: for tests, for short-lived programs, and as the reference for other stores.
/// Nothing survives the process.
#[derive(Debug)]
pub struct InMemoryGraph {
    clock: Arc<dyn Clock>,
    tenants: Mutex<BTreeMap<String, Graph>>,
}

#[derive(Debug, Default)]
struct Graph {
    entities: BTreeMap<String, Entity>,
    /// Weights by source, type and target.
    relations: BTreeMap<(String, String, String), f64>,
}

impl InMemoryGraph {
    /// Creates an empty graph.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            tenants: Mutex::default(),
        }
    }

    fn tenants(&self) -> MutexGuard<'_, BTreeMap<String, Graph>> {
        self.tenants.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read<T: Default>(&self, tenant: &str, read: impl FnOnce(&Graph) -> T) -> T {
        self.tenants().get(tenant).map_or_else(T::default, read)
    }
}

#[async_trait]
impl KnowledgeGraph for InMemoryGraph {
    async fn save_entities(&self, entities: Vec<Entity>) -> Result<(), MemoryError> {
        entities.iter().try_for_each(Entity::check)?;
        let now: Timestamp = self.clock.now().into();
        let mut tenants = self.tenants();
        for mut entity in entities {
            let graph = tenants.entry(entity.tenant().to_string()).or_default();
            entity.created_at = graph.entities.get(&entity.id).map_or(now, |known| known.created_at);
            entity.updated_at = now;
            graph.entities.insert(entity.id.clone(), entity);
        }
        Ok(())
    }

    async fn save_relations(&self, tenant: &str, relations: Vec<Relation>) -> Result<(), MemoryError> {
        relations.iter().try_for_each(Relation::check)?;
        let mut tenants = self.tenants();
        let ends = relations
            .iter()
            .flat_map(|relation| [&relation.source, &relation.target]);
        let graph = tenants.get_mut(tenant);
        for id in ends {
            if !graph.as_ref().is_some_and(|graph| graph.entities.contains_key(id)) {
                return Err(MemoryError::not_found(format!("there is no entity `{id}`")));
            }
        }
        if let Some(graph) = graph {
            for relation in relations {
                let key = (relation.source, relation.kind, relation.target);
                graph.relations.insert(key, relation.weight);
            }
        }
        Ok(())
    }

    async fn entities(&self, tenant: &str, ids: &[String]) -> Result<Vec<Entity>, MemoryError> {
        Ok(self.read(tenant, |graph| {
            let mut ids: Vec<&String> = ids.iter().collect();
            ids.sort();
            ids.dedup();
            ids.into_iter()
                .filter_map(|id| graph.entities.get(id))
                .cloned()
                .collect()
        }))
    }

    async fn relations(
        &self,
        tenant: &str,
        entities: &[String],
        direction: Direction,
    ) -> Result<Vec<Relation>, MemoryError> {
        Ok(self.read(tenant, |graph| {
            let is_wanted = |(source, _, target): &(String, String, String)| {
                (direction != Direction::Incoming && entities.contains(source))
                    || (direction != Direction::Outgoing && entities.contains(target))
            };
            let wanted = graph.relations.iter().filter(|(key, _)| is_wanted(key));
            wanted
                .map(|((source, kind, target), weight)| {
                    Relation::new(source.as_str(), kind.as_str(), target.as_str()).with_weight(*weight)
                })
                .collect()
        }))
    }

    async fn remove_entity(&self, tenant: &str, id: &str) -> Result<bool, MemoryError> {
        let mut tenants = self.tenants();
        Ok(tenants.get_mut(tenant).is_some_and(|graph| graph.remove(id)))
    }

    async fn remove_relation(&self, tenant: &str, relation: &Relation) -> Result<bool, MemoryError> {
        let key = (relation.source.clone(), relation.kind.clone(), relation.target.clone());
        let mut tenants = self.tenants();
        let graph = tenants.get_mut(tenant);
        Ok(graph.is_some_and(|graph| graph.relations.remove(&key).is_some()))
    }

    async fn find_by_keywords(
        &self,
        tenant: &str,
        keywords: &[String],
        limit: usize,
    ) -> Result<Vec<EntityHit>, MemoryError> {
        Ok(self.read(tenant, |graph| {
            EntityHit::best(graph.entities.values().cloned(), keywords, limit)
        }))
    }

    async fn find_tags(&self, tenant: &str, prefix: &str, limit: u64) -> Result<Vec<TagCount>, MemoryError> {
        Ok(self.read(tenant, |graph| {
            let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
            let tags = graph.entities.values().flat_map(|entity| &entity.tags);
            for tag in tags.filter(|tag| tag.starts_with(prefix)) {
                *counts.entry(tag).or_default() += 1;
            }
            let mut tags: Vec<TagCount> = counts
                .into_iter()
                .map(|(tag, count)| TagCount::new(tag, count))
                .collect();
            tags.sort_by(|one, other| other.count.cmp(&one.count).then_with(|| one.tag.cmp(&other.tag)));
            tags.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
            tags
        }))
    }

    async fn erase_entities(&self, owner: &Actor) -> Result<u64, MemoryError> {
        owner.check()?;
        let mut tenants = self.tenants();
        let Some(graph) = tenants.get_mut(&*owner.tenant) else {
            return Ok(0);
        };
        let of_user = graph.entities.values().filter(|entity| entity.owner.user == owner.user);
        let ids: Vec<String> = of_user.map(|entity| entity.id.clone()).collect();
        for id in &ids {
            graph.remove(id);
        }
        Ok(ids.len() as u64)
    }
}

impl Graph {
    fn remove(&mut self, id: &str) -> bool {
        self.relations
            .retain(|(source, _, target), _| source != id && target != id);
        self.entities.remove(id).is_some()
    }
}

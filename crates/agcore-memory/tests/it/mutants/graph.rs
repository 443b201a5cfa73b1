//! Graphs with a defect.

use std::sync::Arc;

use agcore_memory::{
    Actor, Clock, MemoryError,
    graph::{
        Direction, Entity, EntityHit, InMemoryGraph, KnowledgeGraph, MAX_DEPTH, RelatedEntity, RelatedQuery, Relation,
    },
    knowledge::TagCount,
};
use async_trait::async_trait;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum GraphDefect {
    ReplacingRemoves,
    SavesOneByOne,
    LosesTheLine,
    HasOneTenant,
    RepairsWeights,
    FindsAllEqually,
    CountsTagsOnce,
    ErasesOneLine,
    CreatesEntities,
    KeepsTheFirstWeight,
    KeepsRelations,
    IgnoresWeights,
    IgnoresDirections,
    ReturnsToTheStart,
}

use GraphDefect as D;

/// An [`InMemoryGraph`] with a defect.
#[derive(Debug)]
pub(super) struct MutantGraph {
    inner: InMemoryGraph,
    defect: GraphDefect,
}

impl MutantGraph {
    pub(super) fn new(defect: GraphDefect, clock: Arc<dyn Clock>) -> Self {
        Self {
            inner: InMemoryGraph::new(clock),
            defect,
        }
    }

    fn tenant<'t>(&self, tenant: &'t str) -> &'t str {
        if self.defect == D::HasOneTenant {
            "local"
        } else {
            tenant
        }
    }
}

#[async_trait]
impl KnowledgeGraph for MutantGraph {
    async fn save_entities(&self, entities: Vec<Entity>) -> Result<(), MemoryError> {
        if self.defect == D::SavesOneByOne {
            for entity in entities {
                self.inner.save_entities(vec![entity]).await?;
            }
            return Ok(());
        }
        let mut changed = entities;
        for entity in &mut changed {
            match self.defect {
                D::ReplacingRemoves => drop(self.inner.remove_entity(entity.tenant(), &entity.id).await?),
                D::LosesTheLine => entity.owner.line = None,
                D::HasOneTenant => entity.owner.tenant = "local".into(),
                _ => {}
            }
        }
        self.inner.save_entities(changed).await
    }

    async fn save_relations(&self, tenant: &str, mut relations: Vec<Relation>) -> Result<(), MemoryError> {
        let tenant = self.tenant(tenant);
        for relation in &mut relations {
            match self.defect {
                D::RepairsWeights => relation.weight = relation.weight.clamp(0.0, 1.0),
                D::CreatesEntities => {
                    let ends = [&relation.source, &relation.target].map(|id| Entity::new(id.as_str(), "new", "thing"));
                    self.inner.save_entities(ends.to_vec()).await?;
                }
                D::KeepsTheFirstWeight => {
                    let known =
                        self.inner
                            .relations(tenant, std::slice::from_ref(&relation.source), Direction::Outgoing);
                    let same = |known: &&Relation| known.kind == relation.kind && known.target == relation.target;
                    if let Some(known) = known.await?.iter().find(same) {
                        relation.weight = known.weight;
                    }
                }
                D::IgnoresWeights => relation.weight = 1.0,
                _ => {}
            }
        }
        self.inner.save_relations(tenant, relations).await
    }

    async fn entities(&self, tenant: &str, ids: &[String]) -> Result<Vec<Entity>, MemoryError> {
        self.inner.entities(self.tenant(tenant), ids).await
    }

    async fn relations(
        &self,
        tenant: &str,
        entities: &[String],
        direction: Direction,
    ) -> Result<Vec<Relation>, MemoryError> {
        let direction = if self.defect == D::IgnoresDirections {
            Direction::Both
        } else {
            direction
        };
        self.inner.relations(self.tenant(tenant), entities, direction).await
    }

    async fn remove_entity(&self, tenant: &str, id: &str) -> Result<bool, MemoryError> {
        let tenant = self.tenant(tenant);
        let removed = self.inner.remove_entity(tenant, id).await?;
        if self.defect == D::KeepsRelations && removed {
            self.inner.save_entities(vec![Entity::new(id, id, "thing")]).await?;
            let others = self.inner.entities(tenant, &["b".to_owned()]).await?;
            for other in others {
                self.inner
                    .save_relations(tenant, vec![Relation::new(id, "x", other.id)])
                    .await?;
            }
        }
        Ok(removed)
    }

    async fn remove_relation(&self, tenant: &str, relation: &Relation) -> Result<bool, MemoryError> {
        self.inner.remove_relation(self.tenant(tenant), relation).await
    }

    async fn find_by_keywords(
        &self,
        tenant: &str,
        keywords: &[String],
        limit: usize,
    ) -> Result<Vec<EntityHit>, MemoryError> {
        let mut hits = self
            .inner
            .find_by_keywords(self.tenant(tenant), keywords, limit)
            .await?;
        if self.defect == D::FindsAllEqually {
            hits.iter_mut().for_each(|hit| hit.score = 1.0);
        }
        Ok(hits)
    }

    async fn find_tags(&self, tenant: &str, prefix: &str, limit: u64) -> Result<Vec<TagCount>, MemoryError> {
        let mut tags = self.inner.find_tags(self.tenant(tenant), prefix, limit).await?;
        if self.defect == D::CountsTagsOnce {
            tags.iter_mut().for_each(|tag| tag.count = 1);
        }
        Ok(tags)
    }

    async fn erase_entities(&self, owner: &Actor) -> Result<u64, MemoryError> {
        if self.defect == D::ErasesOneLine {
            let all = ["a", "b", "c"].map(str::to_owned);
            let entities = self.inner.entities(&owner.tenant, &all).await?;
            let mut erased = 0;
            for entity in entities.iter().filter(|entity| entity.owner == *owner) {
                erased += u64::from(self.inner.remove_entity(&owner.tenant, &entity.id).await?);
            }
            return Ok(erased);
        }
        self.inner.erase_entities(owner).await
    }

    async fn related(
        &self,
        tenant: &str,
        entity: &str,
        query: &RelatedQuery,
    ) -> Result<Vec<RelatedEntity>, MemoryError> {
        let mut related = self.inner.related(self.tenant(tenant), entity, query).await?;
        if self.defect == D::IgnoresDirections {
            let both = query.clone().with_direction(Direction::Both);
            related = self.inner.related(tenant, entity, &both).await?;
        }
        if self.defect == D::ReturnsToTheStart && query.depth == MAX_DEPTH {
            related.extend(related.first().cloned());
        }
        Ok(related)
    }
}

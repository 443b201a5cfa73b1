//! [`KnowledgeGraph`]: the contract of graphs.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Debug,
};

use agcore_chat::Actor;
use async_trait::async_trait;

use super::{
    entity::{Entity, EntityHit},
    relation::{Direction, RelatedEntity, RelatedQuery, Relation},
};
use crate::{error::MemoryError, knowledge::TagCount};

/// A store of [entities](Entity) and the [relations](Relation) between them.
///
/// Every operation reads and changes entities of the given tenant only: an id of another tenant behaves exactly like one that does
/// not exist. Every implementation must pass the suite `agcore_testkit::stores::graph`. Common to all:
///
/// - An acknowledged write is visible to every later operation. Each implementation documents which failures it survives.
/// - An operation that fails has changed nothing.
/// - Dropping the future of a read has no effect. Dropping the future of a write leaves open whether it took place, but it
///   takes place completely or not at all.
#[async_trait]
pub trait KnowledgeGraph: Send + Sync + Debug {
    /// Saves entities, or replaces those with their tenants and ids, all or none. Relations are kept. If an id occurs more than
    /// once, the last entity counts.
    ///
    /// # Errors
    /// When an entity is not acceptable or the storage fails.
    async fn save_entities(&self, entities: Vec<Entity>) -> Result<(), MemoryError>;

    /// Saves relations, or replaces the weights of those that exist, all or none.
    ///
    /// # Errors
    /// - [`NotFound`](crate::MemoryErrorKind::NotFound) if an entity does not exist.
    /// - Other errors when a relation is not acceptable or the storage fails.
    async fn save_relations(&self, tenant: &str, relations: Vec<Relation>) -> Result<(), MemoryError>;

    /// Returns entities in the order of their ids, without those that do not exist.
    ///
    /// # Errors
    /// When the storage fails.
    async fn entities(&self, tenant: &str, ids: &[String]) -> Result<Vec<Entity>, MemoryError>;

    /// Returns the relations of entities, ordered by source, type and target.
    ///
    /// # Errors
    /// When the storage fails.
    async fn relations(
        &self,
        tenant: &str,
        entities: &[String],
        direction: Direction,
    ) -> Result<Vec<Relation>, MemoryError>;

    /// Removes an entity and its relations. Returns whether it existed.
    ///
    /// # Errors
    /// When the storage fails.
    async fn remove_entity(&self, tenant: &str, id: &str) -> Result<bool, MemoryError>;

    /// Removes a relation, whatever its weight is. Returns whether it existed.
    ///
    /// # Errors
    /// When the storage fails.
    async fn remove_relation(&self, tenant: &str, relation: &Relation) -> Result<bool, MemoryError>;

    /// Returns the entities that match keywords best, as [`Keywords`](crate::search::Keywords) extracts them from a query.
    ///
    /// # Errors
    /// When the storage fails.
    async fn find_by_keywords(
        &self,
        tenant: &str,
        keywords: &[String],
        limit: usize,
    ) -> Result<Vec<EntityHit>, MemoryError>;

    /// Returns the tags that begin with a prefix, those of most entities first, then in the order of their bytes. Look for a tag
    /// before you make a new one.
    ///
    /// # Errors
    /// When the storage fails.
    async fn find_tags(&self, tenant: &str, prefix: &str, limit: u64) -> Result<Vec<TagCount>, MemoryError>;

    /// Erases all entities of a user with their relations, in all lines of business, so that nothing of them is left in the
    /// storage. Returns the number of entities.
    ///
    /// # Errors
    /// When the storage fails.
    async fn erase_entities(&self, owner: &Actor) -> Result<u64, MemoryError>;

    /// Returns the entities that are related to one, the closest first. The entity itself is not among them, also if a cycle leads
    /// back to it.
    ///
    /// # Errors
    /// When the query is not acceptable or the storage fails.
    async fn related(
        &self,
        tenant: &str,
        entity: &str,
        query: &RelatedQuery,
    ) -> Result<Vec<RelatedEntity>, MemoryError> {
        query.check()?;
        let mut ways = Ways::new(entity);
        for distance in 1..=query.depth {
            if ways.frontier.is_empty() {
                break;
            }
            let from: Vec<String> = ways.frontier.keys().cloned().collect();
            let relations = self.relations(tenant, &from, query.direction).await?;
            ways.follow(&relations, distance, query);
        }
        let mut best: Vec<(String, (f64, u32))> = ways.found.into_iter().collect();
        best.sort_by(|one, other| other.1.0.total_cmp(&one.1.0).then_with(|| one.0.cmp(&other.0)));
        best.truncate(query.limit);
        let ids: Vec<String> = best.iter().map(|(id, _)| id.clone()).collect();
        let entities = self.entities(tenant, &ids).await?;
        let mut entities: BTreeMap<String, Entity> =
            entities.into_iter().map(|entity| (entity.id.clone(), entity)).collect();
        let related = best.into_iter().filter_map(|(id, (score, distance))| {
            let entity = entities.remove(&id)?;
            Some(RelatedEntity {
                entity,
                score,
                distance,
            })
        });
        Ok(related.collect())
    }
}

/// The ways from an entity to others.
struct Ways<'e> {
    start: &'e str,
    /// The entities to continue from, with the largest product of weights on a way of this length.
    frontier: BTreeMap<String, f64>,
    /// The largest product on a way of any length.
    products: BTreeMap<String, f64>,
    /// The best score and the smallest distance.
    found: BTreeMap<String, (f64, u32)>,
}

impl<'e> Ways<'e> {
    fn new(start: &'e str) -> Self {
        Self {
            start,
            frontier: BTreeMap::from([(start.to_owned(), 1.0)]),
            products: BTreeMap::new(),
            found: BTreeMap::new(),
        }
    }

    /// Follows the relations of the frontier.
    fn follow(&mut self, relations: &[Relation], distance: u32, query: &RelatedQuery) {
        let mut next: BTreeMap<String, f64> = BTreeMap::new();
        let kinds: BTreeSet<&str> = query.kinds.iter().map(String::as_str).collect();
        let followed = relations
            .iter()
            .filter(|relation| kinds.is_empty() || kinds.contains(relation.kind.as_str()));
        for relation in followed {
            let (source, target) = (relation.source.as_str(), relation.target.as_str());
            if query.direction != Direction::Incoming {
                self.step(source, target, relation.weight, &mut next);
            }
            if query.direction != Direction::Outgoing {
                self.step(target, source, relation.weight, &mut next);
            }
        }
        // A longer way is continued only if it is better than every shorter one: cycles end.
        next.retain(|id, product| *product > self.products.get(id).copied().unwrap_or(-1.0));
        for (id, product) in &next {
            self.products.insert(id.clone(), *product);
            let (score, _) = self.found.entry(id.clone()).or_insert((0.0, distance));
            *score = score.max(product / f64::from(distance));
        }
        self.frontier = next;
    }

    fn step(&self, from: &str, to: &str, weight: f64, next: &mut BTreeMap<String, f64>) {
        let Some(product) = self.frontier.get(from).map(|product| product * weight) else {
            return;
        };
        if to != self.start {
            let best = next.entry(to.to_owned()).or_insert(product);
            *best = best.max(product);
        }
    }
}

//! A graph of knowledge: entities such as people, places and projects, and the relations between them.
//!
//! ```
//! use std::sync::Arc;
//!
//! use agcore_chat::SystemClock;
//! use agcore_memory::graph::{Entity, InMemoryGraph, KnowledgeGraph, RelatedQuery, Relation};
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let graph = InMemoryGraph::new(Arc::new(SystemClock::new()));
//! graph.save_entities(vec![Entity::new("ann", "Ann", "person"), Entity::new("ulm", "Ulm", "city")]).await?;
//! graph.save_relations("local", vec![Relation::new("ann", "lives in", "ulm")]).await?;
//!
//! let related = graph.related("local", "ann", &RelatedQuery::new(2)).await?;
//! assert_eq!(related[0].entity.name, "Ulm");
//! # Ok::<(), agcore_memory::MemoryError>(())
//! # }).unwrap();
//! ```

mod entity;
mod relation;
mod store;
#[cfg(feature = "in-memory")]
mod in_memory;

#[cfg(feature = "in-memory")]
pub use self::in_memory::InMemoryGraph;
pub use self::{
    entity::{Entity, EntityHit, MAX_DESCRIPTION_BYTES, MAX_ENTITY_TAGS},
    relation::{Direction, MAX_DEPTH, RelatedEntity, RelatedQuery, Relation},
    store::KnowledgeGraph,
};

//! [`Relation`]: an edge of the graph.

use agcore_chat::id;
use serde::{Deserialize, Serialize};

use super::entity::Entity;
use crate::error::MemoryError;

/// The maximum number of relations between an entity and those that are related.
pub const MAX_DEPTH: u32 = 8;

/// A relation from one entity to another, identified by both and its type.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Relation {
    /// The id of the entity from which the relation leads.
    pub source: String,
    /// The type, such as `works for`.
    pub kind: String,
    /// The id of the entity to which it leads.
    pub target: String,
    /// The strength, from 0 to 1.
    pub weight: f64,
}

impl Relation {
    /// Creates a relation with the weight 1.
    pub fn new(source: impl Into<String>, kind: impl Into<String>, target: impl Into<String>) -> Self {
        Self {
            source: source.into(),
            kind: kind.into(),
            target: target.into(),
            weight: 1.0,
        }
    }

    /// Sets the strength, from 0 to 1.
    #[must_use]
    pub fn with_weight(mut self, weight: f64) -> Self {
        self.weight = weight;
        self
    }

    /// Checks that every store can keep the relation. Stores call this before they save anything.
    ///
    /// # Errors
    /// [`InvalidInput`](crate::MemoryErrorKind::InvalidInput) if a member is not acceptable.
    pub fn check(&self) -> Result<(), MemoryError> {
        id::check_named("the source of a relation", &self.source)?;
        id::check_named("the type of a relation", &self.kind)?;
        id::check_named("the target of a relation", &self.target)?;
        if !(0.0..=1.0).contains(&self.weight) {
            return Err(MemoryError::invalid(format!(
                "the relation `{}` from `{}` to `{}` has the weight {}; use a number from 0 to 1",
                self.kind, self.source, self.target, self.weight
            )));
        }
        Ok(())
    }
}

/// The direction in which relations are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Direction {
    /// From source to target.
    Outgoing,
    /// From target to source.
    Incoming,
    /// Both ways.
    #[default]
    Both,
}

/// Selects related entities.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RelatedQuery {
    /// The maximum number of relations in between, at most [`MAX_DEPTH`].
    pub depth: u32,
    /// The direction.
    pub direction: Direction,
    /// The types of relations that are followed; all, if there are none.
    pub kinds: Vec<String>,
    /// The maximum number of entities: 50.
    pub limit: usize,
}

impl RelatedQuery {
    /// Follows up to `depth` relations of all types in both directions.
    pub fn new(depth: u32) -> Self {
        Self {
            depth,
            direction: Direction::Both,
            kinds: Vec::new(),
            limit: 50,
        }
    }

    /// Sets the direction.
    #[must_use]
    pub fn with_direction(mut self, direction: Direction) -> Self {
        self.direction = direction;
        self
    }

    /// Follows relations of this type, and of others that were added.
    #[must_use]
    pub fn with_kind(mut self, kind: impl Into<String>) -> Self {
        self.kinds.push(kind.into());
        self
    }

    /// Sets the maximum number of entities.
    #[must_use]
    pub fn with_limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// Checks the depth.
    ///
    /// # Errors
    /// [`InvalidInput`](crate::MemoryErrorKind::InvalidInput) if it is more than [`MAX_DEPTH`].
    pub fn check(&self) -> Result<(), MemoryError> {
        if self.depth > MAX_DEPTH {
            return Err(MemoryError::invalid(format!(
                "the depth is {}; at most {MAX_DEPTH} relations can be followed",
                self.depth
            )));
        }
        Ok(())
    }
}

/// An entity that is related to another one.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RelatedEntity {
    /// The entity.
    pub entity: Entity,
    /// The score, from 0 to 1: the product of the weights on the best way, divided by its number of relations.
    pub score: f64,
    /// The smallest number of relations in between.
    pub distance: u32,
}

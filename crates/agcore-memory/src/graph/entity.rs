//! [`Entity`]: a node of the graph.

use std::collections::BTreeSet;

use agcore_chat::{Actor, Text, Timestamp, id};
use serde::{Deserialize, Serialize};

use crate::{
    error::MemoryError,
    keywords::{KeywordExtractor, Keywords},
    knowledge::{check_tag, normalized_tag},
};

/// The maximum number of tags of an entity.
pub const MAX_ENTITY_TAGS: usize = 8;

/// The maximum length of a description, in bytes.
pub const MAX_DESCRIPTION_BYTES: usize = 64 << 10;

/// A person, a place, a project or anything else that relations connect.
///
/// An entity is identified by the tenant of its owner and its id.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Entity {
    /// The id, unique within the tenant of the owner. See [`id::check`] for the rules.
    pub id: String,
    /// The name.
    pub name: String,
    /// The type, such as `person`.
    pub kind: String,
    /// The description; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The tags, each in the form of [`normalized_tag`] and only once, the most relevant first; at most [`MAX_ENTITY_TAGS`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The tenant and user to whom the entity belongs.
    #[serde(default)]
    pub owner: Actor,
    /// The time at which the id was first saved, set by the store.
    #[serde(default)]
    pub created_at: Timestamp,
    /// The time at which the entity was last saved, set by the store.
    #[serde(default)]
    pub updated_at: Timestamp,
}

impl Entity {
    /// Creates an entity of the actor [`local`](Actor::local).
    pub fn new(id: impl Into<String>, name: impl Into<String>, kind: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            kind: kind.into(),
            description: String::new(),
            tags: Vec::new(),
            owner: Actor::local(),
            created_at: Timestamp::default(),
            updated_at: Timestamp::default(),
        }
    }

    /// Sets the description.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// Adds a tag in its [normal form](normalized_tag). A tag that the entity has already is not added again.
    #[must_use]
    pub fn with_tag(mut self, tag: impl AsRef<str>) -> Self {
        let tag = normalized_tag(tag.as_ref());
        if !self.tags.contains(&tag) {
            self.tags.push(tag);
        }
        self
    }

    /// Sets the owner.
    #[must_use]
    pub fn with_owner(mut self, owner: Actor) -> Self {
        self.owner = owner;
        self
    }

    /// Returns the tenant, which together with the id identifies the entity.
    pub fn tenant(&self) -> &Text {
        &self.owner.tenant
    }

    /// Returns the terms by which the entity is found, as [`Keywords`] extracts them.
    pub fn terms(&self) -> BTreeSet<String> {
        let [mut name, tags, description] = self.parts();
        name.extend(tags);
        name.extend(description);
        name
    }

    fn parts(&self) -> [BTreeSet<String>; 3] {
        let extractor = Keywords::new();
        [self.name.as_str(), &self.tags.join("\n"), &self.description].map(|text| {
            let mut terms = BTreeSet::new();
            extractor.terms(text, &mut |term| {
                terms.insert(term.to_owned());
            });
            terms
        })
    }

    /// Returns how well the entity matches keywords, from 0 to 1: the mean of 1 for each that is in the name, .8 in a tag, .4 in
    /// the description. For implementations of [`KnowledgeGraph`](super::KnowledgeGraph).
    pub fn score(&self, keywords: &[String]) -> f64 {
        let [name, tags, description] = self.parts();
        let score = |keyword: &String| {
            if name.contains(keyword) {
                1.0
            } else if tags.contains(keyword) {
                0.8
            } else if description.contains(keyword) {
                0.4
            } else {
                0.0
            }
        };
        keywords.iter().map(score).sum::<f64>() / keywords.len().max(1) as f64
    }

    /// Checks that every store can keep the entity. Stores call this before they save anything.
    ///
    /// # Errors
    /// [`InvalidInput`](crate::MemoryErrorKind::InvalidInput) if a member is not acceptable.
    pub fn check(&self) -> Result<(), MemoryError> {
        id::check(&self.id)?;
        self.owner.check()?;
        id::check_named("the name of an entity", &self.name)?;
        id::check_named("the type of an entity", &self.kind)?;
        let invalid = |problem: String| Err(MemoryError::invalid(format!("the entity `{}` {problem}", self.id)));
        if self.description.len() > MAX_DESCRIPTION_BYTES {
            let bytes = self.description.len();
            return invalid(format!(
                "has a description of {bytes} bytes; at most {MAX_DESCRIPTION_BYTES} are allowed: write a page"
            ));
        }
        if self.tags.len() > MAX_ENTITY_TAGS {
            return invalid(format!(
                "has {} tags; at most {MAX_ENTITY_TAGS} are allowed: keep the most relevant ones",
                self.tags.len()
            ));
        }
        for (position, tag) in self.tags.iter().enumerate() {
            check_tag(tag)?;
            if self.tags[..position].contains(tag) {
                return invalid(format!("has the tag `{tag}` twice"));
            }
        }
        Ok(())
    }
}

/// An entity that was found by keywords.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct EntityHit {
    /// The entity.
    pub entity: Entity,
    /// The score, from 0 to 1.
    pub score: f64,
}

impl EntityHit {
    /// Scores entities and returns the best, at most `limit`. For implementations of [`KnowledgeGraph`](super::KnowledgeGraph).
    pub fn best(entities: impl IntoIterator<Item = Entity>, keywords: &[String], limit: usize) -> Vec<Self> {
        let hits = entities.into_iter().map(|entity| Self {
            score: entity.score(keywords),
            entity,
        });
        let mut hits: Vec<Self> = hits.filter(|hit| hit.score > 0.0).collect();
        hits.sort_by(|one, other| {
            let by_score = other.score.total_cmp(&one.score);
            by_score.then_with(|| one.entity.id.cmp(&other.entity.id))
        });
        hits.truncate(limit);
        hits
    }
}

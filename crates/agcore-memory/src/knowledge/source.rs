//! [`KnowledgeSource`]: a file from which pages were made.

use std::collections::{BTreeMap, BTreeSet};

use agcore_chat::{Actor, Timestamp, id};
use serde::{Deserialize, Serialize};

use super::page::KnowledgePage;
use crate::error::{MemoryError, MemoryErrorKind};

/// The maximum number of warnings of a source.
const MAX_WARNINGS: usize = 100;

/// A file, or another source, from which pages were made: a record of what was read, so that it is read again only after it has
/// changed.
///
/// A source is identified by the tenant of its owner and its id. It is saved together with its pages by
/// [`SourceStore::put_source`](super::SourceStore::put_source).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct KnowledgeSource {
    /// The id, which citations show, such as the path of the file in its folder: `handbook/travel.pdf`.
    pub id: String,
    /// The tenant and user to whom the source belongs.
    #[serde(default)]
    pub owner: Actor,
    /// The place from which it was read, such as the whole path of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// The title, if the source has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// A hash of the content and of everything that decides which pages it becomes. As long as it is the same, so are the pages.
    pub fingerprint: String,
    /// The size of the content in bytes.
    #[serde(default)]
    pub bytes: u64,
    /// The number of its pages, set by the store.
    #[serde(default)]
    pub pages: u64,
    /// Why the content could not be read. The pages of the source are those of an earlier content, if it has any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// The parts of the content that could not be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// The time at which the id was first saved, set by the store.
    #[serde(default)]
    pub added_at: Timestamp,
    /// The time at which the source was last saved, set by the store.
    #[serde(default)]
    pub updated_at: Timestamp,
}

impl KnowledgeSource {
    /// Creates a source of the actor [`local`](Actor::local).
    pub fn new(id: impl Into<String>, fingerprint: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            owner: Actor::local(),
            location: None,
            title: None,
            fingerprint: fingerprint.into(),
            bytes: 0,
            pages: 0,
            problem: None,
            warnings: Vec::new(),
            added_at: Timestamp::default(),
            updated_at: Timestamp::default(),
        }
    }

    /// Sets the owner.
    #[must_use]
    pub fn with_owner(mut self, owner: Actor) -> Self {
        self.owner = owner;
        self
    }

    /// Sets the place from which the source was read.
    #[must_use]
    pub fn with_location(mut self, location: impl Into<String>) -> Self {
        self.location = Some(location.into());
        self
    }

    /// Sets why the content could not be read.
    #[must_use]
    pub fn with_problem(mut self, problem: impl Into<String>) -> Self {
        self.problem = Some(problem.into());
        self
    }

    /// Checks that every store can keep the source.
    ///
    /// # Errors
    /// [`InvalidInput`](MemoryErrorKind::InvalidInput) if the id, the owner or the number of warnings is not acceptable.
    pub fn check(&self) -> Result<(), MemoryError> {
        id::check_named("the id of the source", &self.id)?;
        self.owner.check()?;
        if self.warnings.len() > MAX_WARNINGS {
            let number = self.warnings.len();
            return Err(MemoryError::invalid(format!(
                "the source `{}` has {number} warnings; at most {MAX_WARNINGS} are allowed",
                self.id
            )));
        }
        Ok(())
    }
}

/// The pages that a source has lost and got.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SourceChanges {
    /// The number of pages that are new or different.
    pub saved: u64,
    /// The number of pages that stay as they are.
    pub kept: u64,
    /// The number of pages that were deleted.
    pub deleted: u64,
}

impl SourceChanges {
    /// Returns the number of pages that the source has now.
    pub fn total(&self) -> u64 {
        self.saved + self.kept
    }
}

/// The writes by which a source gets other pages, worked out completely before anything changes.
///
/// For implementations of [`SourceStore`](super::SourceStore).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SourceUpdate {
    /// The pages to save.
    pub save: Vec<KnowledgePage>,
    /// The ids of the pages to delete.
    pub delete: Vec<String>,
    /// The numbers of both.
    pub changes: SourceChanges,
}

impl SourceUpdate {
    /// Compares the pages of a source with those in the store: `known` are all stored pages of the source, and all others that have
    /// the id of one of the new pages. If the source has a problem, its pages stay.
    ///
    /// # Errors
    /// - [`InvalidInput`](MemoryErrorKind::InvalidInput) if the source or a page is not acceptable, a page belongs to another
    ///   tenant or source, two have the same id, or there are pages in spite of a problem.
    /// - [`AlreadyExists`](MemoryErrorKind::AlreadyExists) if a page with the same id belongs to another source.
    pub fn new(
        source: &KnowledgeSource,
        pages: Vec<KnowledgePage>,
        known: Vec<KnowledgePage>,
    ) -> Result<Self, MemoryError> {
        Self::check(source, &pages)?;
        let of_source = |page: &KnowledgePage| page.source.as_ref().is_some_and(|of| of.id == source.id);
        if source.problem.is_some() {
            // What was read before is better than nothing.
            let changes = SourceChanges {
                kept: known.iter().filter(|page| of_source(page)).count() as u64,
                ..SourceChanges::default()
            };
            return Ok(Self {
                save: Vec::new(),
                delete: Vec::new(),
                changes,
            });
        }
        let mut known: BTreeMap<String, KnowledgePage> =
            known.into_iter().map(|page| (page.id.clone(), page)).collect();
        let mut changes = SourceChanges::default();
        let mut save = Vec::new();
        for page in pages {
            let stored = known.remove(&page.id);
            if let Some(other) = stored.as_ref().and_then(|stored| stored.source.as_ref())
                && other.id != source.id
            {
                return Err(MemoryError::new(
                    MemoryErrorKind::AlreadyExists,
                    format!(
                        "the page `{}` belongs to the source `{}`; give one of them another id, or delete that source",
                        page.id, other.id
                    ),
                ));
            }
            match stored.is_some_and(|stored| is_same(&stored, &page)) {
                true => changes.kept += 1,
                false => save.push(page),
            }
        }
        let delete: Vec<String> = known.into_values().filter(of_source).map(|page| page.id).collect();
        (changes.saved, changes.deleted) = (save.len() as u64, delete.len() as u64);
        Ok(Self { save, delete, changes })
    }

    fn check(source: &KnowledgeSource, pages: &[KnowledgePage]) -> Result<(), MemoryError> {
        source.check()?;
        if source.problem.is_some() && !pages.is_empty() {
            let id = &source.id;
            return Err(MemoryError::invalid(format!(
                "the source `{id}` has pages and a problem because of which it could not be read"
            )));
        }
        let mut ids = BTreeSet::new();
        for page in pages {
            page.check()?;
            let is_own = page.source.as_ref().is_some_and(|of| of.id == source.id);
            if !is_own || page.tenant() != &source.owner.tenant {
                return Err(MemoryError::invalid(format!(
                    "the page `{}` does not belong to the source `{}`",
                    page.id, source.id
                )));
            }
            if !ids.insert(&page.id) {
                return Err(MemoryError::invalid(format!(
                    "two pages of the source `{}` have the id `{}`",
                    source.id, page.id
                )));
            }
        }
        Ok(())
    }
}

/// Returns whether two pages differ in nothing but their times and versions.
fn is_same(stored: &KnowledgePage, page: &KnowledgePage) -> bool {
    let mut page = page.clone();
    (page.created_at, page.updated_at, page.version) = (stored.created_at, stored.updated_at, stored.version);
    page == *stored
}

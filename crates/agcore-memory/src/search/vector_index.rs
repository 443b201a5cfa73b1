//! [`VectorIndex`]: the contract of indexes of embeddings.

use std::{
    collections::BTreeMap,
    fmt::Debug,
    sync::{Arc, PoisonError, RwLock},
};

use async_trait::async_trait;

use super::text_index::{IndexChanges, IndexHit};
use crate::{
    error::{MemoryError, MemoryErrorKind},
    knowledge::Position,
};

/// An index of vectors, which finds those that are most similar to a vector (by the cosine of the angle between them).
///
/// All vectors of a tenant have the same number of dimensions, because they come from the same model.
#[async_trait]
pub trait VectorIndex: Send + Sync + Debug {
    /// Returns the position of a tenant, as [`TextIndex::position`](super::TextIndex::position) does.
    ///
    /// # Errors
    /// When the index cannot be read.
    async fn position(&self, tenant: &str) -> Result<Option<Position>, MemoryError>;

    /// Applies changes, all or none. Returns whether they were applied, as [`TextIndex::apply`](super::TextIndex::apply) does.
    ///
    /// # Errors
    /// - [`Retrieval`](MemoryErrorKind::Retrieval) if a vector is not usable or has another number of dimensions than those of
    ///   the index.
    /// - Other errors when the index cannot be written.
    async fn apply(&self, tenant: &str, changes: IndexChanges<Vec<f32>>) -> Result<bool, MemoryError>;

    /// Returns the entries that are most similar, at most `limit`, with scores from −1 to 1.
    ///
    /// # Errors
    /// - [`Retrieval`](MemoryErrorKind::Retrieval) if the vector is not usable or has another number of dimensions than those of
    ///   the index.
    /// - Other errors when the index cannot be read.
    async fn search(&self, tenant: &str, vector: &[f32], limit: usize) -> Result<Vec<IndexHit>, MemoryError>;
}

/// Checks a vector from a model. `dimensions` is the number of dimensions of the index, if it has vectors.
///
/// # Errors
/// [`Retrieval`](MemoryErrorKind::Retrieval) if the vector is empty, has a value that is not a finite number, or another number of
/// dimensions.
pub fn check_vector(vector: &[f32], dimensions: Option<usize>) -> Result<(), MemoryError> {
    let problem = if vector.is_empty() {
        "the embedder returned an empty vector".to_owned()
    } else if let Some(place) = vector.iter().position(|value| !value.is_finite()) {
        format!(
            "the embedder returned {} as value {} of a vector, which is not a finite number",
            vector[place],
            place + 1
        )
    } else {
        match dimensions {
            Some(dimensions) if dimensions != vector.len() => format!(
                "the embedder returned a vector with {} dimensions, but those of the index have {dimensions}: use the model with \
                 which it was built, or rebuild it",
                vector.len()
            ),
            _ => return Ok(()),
        }
    };
    Err(MemoryError::new(MemoryErrorKind::Retrieval, problem))
}

/// A [`VectorIndex`] in the memory of the process, which compares all vectors.
///
/// A search takes about 1 ms for 10 000 vectors of 384 dimensions.
#[derive(Debug, Default)]
pub struct InMemoryVectorIndex {
    tenants: RwLock<BTreeMap<String, Vectors>>,
}

#[derive(Debug, Default)]
struct Vectors {
    /// Vectors of length 1.
    vectors: BTreeMap<String, Box<[f32]>>,
    position: Option<Position>,
}

impl Vectors {
    fn dimensions(&self) -> Option<usize> {
        self.vectors.values().next().map(|vector| vector.len())
    }
}

impl InMemoryVectorIndex {
    /// Creates an empty index.
    pub fn new() -> Self {
        Self::default()
    }

    fn read<T: Default>(&self, tenant: &str, read: impl FnOnce(&Vectors) -> T) -> T {
        let tenants = self.tenants.read().unwrap_or_else(PoisonError::into_inner);
        tenants.get(tenant).map_or_else(T::default, read)
    }
}

#[async_trait]
impl VectorIndex for InMemoryVectorIndex {
    async fn position(&self, tenant: &str) -> Result<Option<Position>, MemoryError> {
        Ok(self.read(tenant, |vectors| vectors.position))
    }

    async fn apply(&self, tenant: &str, changes: IndexChanges<Vec<f32>>) -> Result<bool, MemoryError> {
        let mut tenants = self.tenants.write().unwrap_or_else(PoisonError::into_inner);
        let indexed = tenants.entry(tenant.to_owned()).or_default();
        if indexed.position != changes.after {
            return Ok(false);
        }
        let mut dimensions = indexed.dimensions().filter(|_| !changes.is_reset);
        for (_, vector) in &changes.saved {
            check_vector(vector, dimensions)?;
            dimensions = Some(vector.len());
        }
        if changes.is_reset {
            indexed.vectors.clear();
        }
        for id in &changes.removed {
            indexed.vectors.remove(id);
        }
        for (id, vector) in changes.saved {
            indexed.vectors.insert(id, normalized_vector(&vector));
        }
        indexed.position = changes.position;
        Ok(true)
    }

    async fn search(&self, tenant: &str, vector: &[f32], limit: usize) -> Result<Vec<IndexHit>, MemoryError> {
        let dimensions = self.read(tenant, Vectors::dimensions);
        check_vector(vector, dimensions)?;
        let mut nearest = NearestVectors::new(vector, limit);
        self.read(tenant, |indexed| {
            for (id, known) in &indexed.vectors {
                nearest.push(id, known);
            }
        });
        Ok(nearest.into_hits())
    }
}

/// The vectors that are most similar to a wanted one, of all that it is compared with.
///
/// For implementations of [`VectorIndex`] that compare all vectors.
#[derive(Debug)]
pub struct NearestVectors {
    wanted: Box<[f32]>,
    limit: usize,
    /// More than wanted, until they are sorted.
    found: Vec<(f32, String)>,
    /// The score that a vector needs, once there are enough.
    least: f32,
}

impl NearestVectors {
    /// Begins a comparison with a vector, which [`check_vector`] has checked.
    pub fn new(wanted: &[f32], limit: usize) -> Self {
        Self {
            wanted: normalized_vector(wanted),
            limit,
            found: Vec::new(),
            least: f32::NEG_INFINITY,
        }
    }

    /// Compares a vector, which [`normalized_vector`] has returned.
    pub fn push(&mut self, id: &str, vector: &[f32]) {
        let score = dot(&self.wanted, vector);
        if score < self.least {
            return;
        }
        self.found.push((score, id.to_owned()));
        if self.found.len() > 2 * self.limit + 64 {
            self.drop_others();
        }
    }

    /// Returns the most similar vectors, the best first; of equal scores, in the order of their ids.
    pub fn into_hits(mut self) -> Vec<IndexHit> {
        self.drop_others();
        let hits = self.found.into_iter();
        hits.map(|(score, id)| IndexHit::new(id, f64::from(score))).collect()
    }

    fn drop_others(&mut self) {
        self.found
            .sort_by(|one, other| other.0.total_cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
        self.found.truncate(self.limit);
        if self.found.len() == self.limit {
            self.least = self.found.last().map_or(f32::INFINITY, |found| found.0);
        }
    }
}

/// Returns a vector of the same direction and length 1. A vector without a direction stays as it is.
pub fn normalized_vector(vector: &[f32]) -> Box<[f32]> {
    let largest = vector.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
    if largest == 0.0 {
        return vector.into();
    }
    // Divided first, because the squares of large values are infinite.
    let scaled = vector.iter().map(|value| value / largest);
    let length = scaled.clone().map(|value| value * value).sum::<f32>().sqrt();
    scaled.map(|value| value / length).collect()
}

fn dot(one: &[f32], other: &[f32]) -> f32 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

#[async_trait]
impl<I: VectorIndex + ?Sized> VectorIndex for Arc<I> {
    async fn position(&self, tenant: &str) -> Result<Option<Position>, MemoryError> {
        (**self).position(tenant).await
    }

    async fn apply(&self, tenant: &str, changes: IndexChanges<Vec<f32>>) -> Result<bool, MemoryError> {
        (**self).apply(tenant, changes).await
    }

    async fn search(&self, tenant: &str, vector: &[f32], limit: usize) -> Result<Vec<IndexHit>, MemoryError> {
        (**self).search(tenant, vector, limit).await
    }
}

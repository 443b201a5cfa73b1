//! [`Bm25Settings`]: the parameters of the formula, and the formula.

/// The parameters of BM25.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Bm25Settings {
    /// The value at which more occurrences of a term hardly count any more: 1.2.
    pub k1: f32,
    /// The influence of the length of a document, from 0 to 1: 0.75.
    pub b: f32,
    /// The number of occurrences that one in the title counts as: 1.5.
    pub title: f32,
    /// The number of occurrences that one in the summary counts as: 1.
    pub summary: f32,
}

impl Default for Bm25Settings {
    fn default() -> Self {
        Self {
            k1: 1.2,
            b: 0.75,
            title: 1.5,
            summary: 1.0,
        }
    }
}

impl Bm25Settings {
    /// Returns the most that a term can add to a score, which is higher the fewer of the documents contain it.
    ///
    /// For implementations of [`TextIndex`](crate::search::TextIndex), as [`formula`](Self::formula).
    pub fn weight(&self, documents: u64, with_term: u64) -> f32 {
        let (documents, with_term) = (documents as f32, with_term as f32);
        let rarity = (1.0 + (documents - with_term + 0.5) / (with_term + 0.5)).ln();
        rarity * (self.k1 + 1.0)
    }

    /// Returns the formula for documents with this average length.
    pub fn formula(&self, average_length: f32) -> Bm25Formula {
        Bm25Formula {
            constant: self.k1 * (1.0 - self.b),
            per_length: self.k1 * self.b / average_length.max(f32::MIN_POSITIVE),
        }
    }
}

/// The formula of BM25 for the documents of an index.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bm25Formula {
    constant: f32,
    per_length: f32,
}

impl Bm25Formula {
    /// Returns what a term adds to the score of a document. `weight` is that of the term ([`Bm25Settings::weight`]); the length of
    /// a document is the sum of the occurrences of its terms.
    pub fn score(&self, weight: f32, occurrences: f32, length: f32) -> f32 {
        weight * occurrences / (occurrences + self.constant + self.per_length * length)
    }
}

//! [`Bm25Settings`]: the parameters of the formula.

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

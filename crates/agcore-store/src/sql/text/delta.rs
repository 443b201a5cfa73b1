//! [`Delta`]: the changes of an index.

use std::collections::BTreeMap;

use agcore_memory::MemoryError;

use super::block::{Lengths, block_of, numbers_from, numbers_to};

/// The changes of an index that take place together. Of the same document, the last change counts.
#[derive(Debug, Default)]
pub(crate) struct Delta {
    /// The number of documents, after the changes so far.
    pub(crate) documents: i64,
    /// The sum of their lengths, after [`apply_lengths`](Self::apply_lengths).
    pub(crate) length: f64,
    /// The number of the next document.
    pub(crate) next: i64,
    /// By block and term: numbers of occurrences at places, or `None` to remove the entry.
    pub(crate) postings: BTreeMap<(i64, i64), BTreeMap<u16, Option<f32>>>,
    /// By block: lengths at places, 0 for documents that are removed.
    pub(crate) lengths: BTreeMap<i64, BTreeMap<u16, f32>>,
}

/// The change of the row of a document.
#[derive(Debug, PartialEq)]
pub(crate) enum DocumentRow {
    Unchanged,
    Delete { number: i64 },
    Save { number: i64, terms: Vec<u8> },
}

impl Delta {
    /// Begins changes of an index.
    pub(crate) fn new(documents: i64, length: f64, next: i64) -> Self {
        Self {
            documents,
            length,
            next,
            ..Self::default()
        }
    }

    /// Adds, replaces or removes a document. `known` is its row, if there is one; `occurrences` are its new terms.
    ///
    /// # Errors
    /// When the row is damaged.
    pub(crate) fn document(
        &mut self,
        known: Option<(i64, Vec<u8>)>,
        occurrences: Option<Vec<(i64, f32)>>,
    ) -> Result<DocumentRow, MemoryError> {
        if let Some((number, terms)) = &known {
            self.remove(*number, &numbers_from(terms)?);
        }
        Ok(match (known, occurrences) {
            (None, None) => DocumentRow::Unchanged,
            (Some((number, _)), None) => {
                self.documents -= 1;
                DocumentRow::Delete { number }
            }
            (known, Some(occurrences)) => {
                let number = known.map_or(self.next, |(number, _)| number);
                if number == self.next {
                    self.next += 1;
                    self.documents += 1;
                }
                let mut terms: Vec<i64> = occurrences.iter().map(|(term, _)| *term).collect();
                terms.sort_unstable();
                self.insert(number, occurrences);
                let terms = numbers_to(&terms);
                DocumentRow::Save { number, terms }
            }
        })
    }

    /// Changes the stored lengths of a block.
    pub(crate) fn apply_lengths(&mut self, block: i64, lengths: &mut Lengths) {
        for (place, length) in self.lengths.get(&block).into_iter().flatten() {
            self.length += f64::from(*length) - f64::from(lengths.set(*place, *length));
        }
    }

    fn remove(&mut self, number: i64, terms: &[i64]) {
        let (block, place) = block_of(number);
        for term in terms {
            self.postings.entry((block, *term)).or_default().insert(place, None);
        }
        self.lengths.entry(block).or_default().insert(place, 0.0);
    }

    fn insert(&mut self, number: i64, terms: Vec<(i64, f32)>) {
        let (block, place) = block_of(number);
        let mut length = 0.0;
        for (term, occurrences) in terms {
            let entries = self.postings.entry((block, term)).or_default();
            entries.insert(place, Some(occurrences));
            length += occurrences;
        }
        self.lengths.entry(block).or_default().insert(place, length);
    }
}

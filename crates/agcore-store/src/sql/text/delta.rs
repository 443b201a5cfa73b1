//! [`Delta`]: the changes of an index.

use std::collections::BTreeMap;

use super::{
    block::{Lengths, block_of},
    changes::BlockChanges,
    prepared::Prepared,
};

/// The changes of an index that take place together.
#[derive(Debug, Default)]
pub(crate) struct Delta {
    /// The number of documents, after the changes so far.
    pub(crate) documents: i64,
    /// The sum of their lengths, after [`apply_lengths`](Self::apply_lengths).
    pub(crate) length: f64,
    /// The number of the next document.
    pub(crate) next: i64,
    pub(crate) blocks: BTreeMap<i64, BlockChanges>,
}

/// The change of the row of a document.
#[derive(Debug, PartialEq)]
pub(crate) enum DocumentRow {
    Unchanged,
    Delete { number: i64 },
    Insert { number: i64 },
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

    /// Adds, replaces or removes documents. `known` returns the number of a document that exists; `row` changes a row.
    ///
    /// # Errors
    /// Those of the functions.
    pub(crate) fn apply<'p, E>(
        &mut self,
        prepared: &'p Prepared,
        mut known: impl FnMut(&str) -> Result<Option<i64>, E>,
        mut row: impl FnMut(&'p str, DocumentRow) -> Result<(), E>,
    ) -> Result<(), E> {
        for (id, document) in &prepared.documents {
            let known = known(id)?;
            if let Some((block, place)) = known.map(block_of) {
                self.blocks.entry(block).or_default().remove(place);
            }
            let change = match (known, document) {
                (None, None) => DocumentRow::Unchanged,
                (Some(number), None) => {
                    self.documents -= 1;
                    DocumentRow::Delete { number }
                }
                (Some(_), Some(_)) => DocumentRow::Unchanged,
                (None, Some(_)) => {
                    self.documents += 1;
                    self.next += 1;
                    DocumentRow::Insert { number: self.next - 1 }
                }
            };
            if let Some(document) = document {
                let (block, place) = block_of(known.unwrap_or(self.next - 1));
                let changes = self.blocks.entry(block).or_default();
                changes.add(place, &document.terms, document.length);
            }
            row(id, change)?;
        }
        self.blocks.values_mut().for_each(BlockChanges::sort);
        Ok(())
    }

    /// Changes the stored lengths of a block.
    pub(crate) fn apply_lengths(&mut self, block: i64, lengths: &mut Lengths) {
        let changes = self.blocks.get(&block).into_iter();
        for (place, length) in changes.flat_map(|changes| &changes.lengths) {
            self.length += f64::from(*length) - f64::from(lengths.set(*place, *length));
        }
    }
}

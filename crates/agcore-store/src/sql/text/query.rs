//! [`Query`]: the scores of the documents for some keywords.

use std::collections::BTreeMap;

use agcore_memory::search::{Bm25Settings, IndexHit};

use super::block::{Lengths, SIZE, entries, entry_count, number_of};
use crate::error::StoreError;

/// The postings of a term: blocks in ascending order, with their entries.
#[derive(Debug, Default)]
pub(crate) struct TermPostings(pub(crate) Vec<(i64, Vec<u8>)>);

/// The postings of the keywords of a query.
pub(crate) struct Query {
    settings: Bm25Settings,
    average_length: f32,
    /// With the weights of the terms, the rarest first.
    terms: Vec<(f32, TermPostings)>,
    /// The blocks with matching documents, in ascending order.
    blocks: Vec<i64>,
}

impl Query {
    /// Weighs the terms of a query. `documents` and `length` are those of the whole index.
    ///
    /// # Errors
    /// When postings are damaged.
    pub(crate) fn new(
        settings: Bm25Settings,
        documents: u64,
        length: f64,
        postings: Vec<TermPostings>,
    ) -> Result<Self, StoreError> {
        let mut terms = Vec::with_capacity(postings.len());
        let mut blocks = Vec::new();
        for postings in postings {
            let mut with_term = 0;
            for (block, bytes) in &postings.0 {
                with_term += entry_count(bytes)? as u64;
                blocks.push(*block);
            }
            if with_term > 0 {
                terms.push((settings.weight(documents, with_term), postings));
            }
        }
        terms.sort_by(|one, other| other.0.total_cmp(&one.0));
        blocks.sort_unstable();
        blocks.dedup();
        Ok(Self {
            settings,
            average_length: (length / documents.max(1) as f64) as f32,
            terms,
            blocks,
        })
    }

    /// Returns the numbers and scores of the best documents, at most `limit`, and of all others with the score of the last one.
    ///
    /// # Errors
    /// When postings are damaged.
    pub(crate) fn best(&self, lengths: &BTreeMap<i64, Lengths>, limit: usize) -> Result<Vec<(i64, f32)>, StoreError> {
        let formula = self.settings.formula(self.average_length);
        let mut scores = vec![0.0_f32; self.blocks.len() * SIZE];
        for (weight, postings) in &self.terms {
            let mut first = 0;
            for (block, bytes) in &postings.0 {
                first += self.blocks[first..].partition_point(|known| known < block);
                // Without lengths, the documents do not exist.
                let Some(lengths) = lengths.get(block) else { continue };
                for (place, occurrences) in entries(bytes)? {
                    let score = formula.score(*weight, occurrences, lengths.get(place));
                    scores[first * SIZE + usize::from(place)] += score;
                }
            }
        }
        let scored = scores.iter().enumerate().filter(|(_, score)| **score > 0.0);
        let mut found: Vec<(i64, f32)> = scored
            .map(|(index, score)| {
                let place = u16::try_from(index % SIZE).unwrap_or_default();
                (number_of(self.blocks[index / SIZE], place), *score)
            })
            .collect();
        if limit == 0 {
            return Ok(Vec::new());
        }
        if found.len() > limit {
            let (_, last, _) = found.select_nth_unstable_by(limit - 1, |one, other| other.1.total_cmp(&one.1));
            let least = last.1;
            found.retain(|(_, score)| *score >= least);
        }
        Ok(found)
    }

    /// Sorts documents by score, then by id, and cuts the list.
    pub(crate) fn sorted(mut hits: Vec<IndexHit>, limit: usize) -> Vec<IndexHit> {
        hits.sort_by(|one, other| other.score.total_cmp(&one.score).then_with(|| one.id.cmp(&other.id)));
        hits.truncate(limit);
        hits
    }
}

//! [`TermCounter`]: from documents to numbered terms.

use std::collections::HashMap;

use super::settings::Bm25Settings;
use crate::{keywords::KeywordExtractor, search::text_index::TextDocument};

/// Counts the terms of documents that are indexed together, and numbers them from 0, so that a text is kept once.
///
/// For implementations of [`TextIndex`](crate::search::TextIndex).
///
/// ```
/// use agcore_memory::search::{Bm25Settings, Keywords, TermCounter, TextDocument};
///
/// let mut counter = TermCounter::new();
/// let document = TextDocument::new("tea", "Tea", "Green tea");
/// let counted = counter.count(&document, &Keywords::new(), &Bm25Settings::default());
/// // The title counts 1.5 times.
/// assert_eq!(counted.terms, [(0, 2.5), (1, 1.0)]);
/// assert_eq!(counted.length, 3.5);
/// assert_eq!(counter.into_terms(), ["tea".into(), "green".into()]);
/// ```
#[derive(Debug, Default)]
pub struct TermCounter {
    numbers: HashMap<Box<str>, u32>,
    /// The occurrences in the current document, by number. All are 0 between documents.
    occurrences: Vec<f32>,
}

/// The terms of a document.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct CountedTerms {
    /// The numbers of the different terms, in the order of their first occurrence, with their numbers of occurrences. Those in the
    /// title and the summary are weighted.
    pub terms: Vec<(u32, f32)>,
    /// The length of the document: the sum of the numbers of occurrences.
    pub length: f32,
}

impl TermCounter {
    /// Creates a counter that has seen no documents.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts the terms of a document.
    pub fn count(
        &mut self,
        document: &TextDocument,
        extractor: &dyn KeywordExtractor,
        settings: &Bm25Settings,
    ) -> CountedTerms {
        let mut counted = CountedTerms::default();
        let parts = [
            (&document.title, settings.title),
            (&document.summary, settings.summary),
            (&document.content, 1.0),
        ];
        // What counts nothing is not found either.
        for (text, weight) in parts.into_iter().filter(|(_, weight)| *weight > 0.0) {
            extractor.terms(text, &mut |term| {
                let number = self.number(term);
                let occurrences = &mut self.occurrences[number as usize];
                if *occurrences == 0.0 {
                    counted.terms.push((number, 0.0));
                }
                *occurrences += weight;
            });
        }
        for (number, occurrences) in &mut counted.terms {
            *occurrences = std::mem::take(&mut self.occurrences[*number as usize]);
            counted.length += *occurrences;
        }
        counted
    }

    /// Returns the terms by their numbers.
    pub fn into_terms(self) -> Vec<Box<str>> {
        let mut terms = vec![Box::default(); self.numbers.len()];
        for (term, number) in self.numbers {
            terms[number as usize] = term;
        }
        terms
    }

    fn number(&mut self, term: &str) -> u32 {
        if let Some(number) = self.numbers.get(term) {
            return *number;
        }
        let number = u32::try_from(self.numbers.len()).unwrap_or(u32::MAX);
        self.numbers.insert(term.into(), number);
        self.occurrences.push(0.0);
        number
    }
}

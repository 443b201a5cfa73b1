//! [`Postings`]: which documents contain a term, and how often.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use super::{settings::Bm25Settings, terms::CountedTerms};

/// The number of removed documents that is always tolerated.
const FEW: usize = 64;

/// The documents of an index by their terms.
///
/// Documents are numbered in the order in which they are added. A document that is replaced gets a new number; the entries of
/// removed documents stay until there are too many of them.
#[derive(Debug, Default)]
pub(super) struct Postings {
    terms: HashMap<Box<str>, u32>,
    lists: Vec<List>,
    documents: Vec<Document>,
    numbers: HashMap<Box<str>, u32>,
    /// The sum of the lengths of the documents that exist.
    length: f64,
    /// Buffers for the scores of searches, all of whose entries are 0.
    scores: Mutex<Vec<Vec<f32>>>,
}

/// The documents that contain a term, by number.
#[derive(Debug, Default)]
struct List {
    entries: Vec<(u32, f32)>,
    /// The number of documents in the list that exist.
    documents: u32,
}

#[derive(Debug)]
struct Document {
    /// Empty if it was removed.
    id: Box<str>,
    length: f32,
    terms: Box<[u32]>,
    exists: bool,
}

impl Postings {
    /// Returns the number of documents.
    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Adds documents, or replaces those with their ids. `terms` are the texts of the terms that the documents count.
    pub(super) fn insert_all(&mut self, documents: Vec<(String, CountedTerms)>, terms: Vec<Box<str>>) {
        // Before the numbers of terms are looked up, because it may change them.
        for (id, _) in &documents {
            self.remove(id);
        }
        let numbers: Vec<u32> = terms.into_iter().map(|term| self.number_of(term)).collect();
        for (id, mut counted) in documents {
            for (term, _) in &mut counted.terms {
                *term = numbers[*term as usize];
            }
            self.insert(id, counted);
        }
    }

    /// Returns the number of the list of a term, which is created if there is none.
    fn number_of(&mut self, term: Box<str>) -> u32 {
        let next = u32::try_from(self.lists.len()).unwrap_or(u32::MAX);
        let number = *self.terms.entry(term).or_insert(next);
        if number == next {
            self.lists.push(List::default());
        }
        number
    }

    fn insert(&mut self, id: String, counted: CountedTerms) {
        // Of documents with the same id, the last one counts.
        self.forget(&id);
        let number = u32::try_from(self.documents.len()).unwrap_or(u32::MAX);
        for (term, occurrences) in &counted.terms {
            let list = &mut self.lists[*term as usize];
            list.entries.push((number, *occurrences));
            list.documents += 1;
        }
        let id: Box<str> = id.into();
        self.numbers.insert(id.clone(), number);
        self.length += f64::from(counted.length);
        self.documents.push(Document {
            id,
            length: counted.length,
            terms: counted.terms.iter().map(|(term, _)| *term).collect(),
            exists: true,
        });
    }

    /// Removes a document, if it exists.
    pub(super) fn remove(&mut self, id: &str) {
        self.forget(id);
        let removed = self.documents.len() - self.numbers.len();
        if removed > FEW && removed > self.numbers.len() {
            self.compact();
        }
    }

    fn forget(&mut self, id: &str) {
        let Some(number) = self.numbers.remove(id) else {
            return;
        };
        let document = &mut self.documents[number as usize];
        document.exists = false;
        document.id = Box::default();
        self.length -= f64::from(document.length);
        for term in &std::mem::take(&mut document.terms) {
            self.lists[*term as usize].documents -= 1;
        }
    }

    /// Drops the entries of removed documents and numbers the others again.
    fn compact(&mut self) {
        let mut new_numbers = Vec::with_capacity(self.documents.len());
        let mut next = 0;
        for document in &self.documents {
            new_numbers.push(next);
            next += u32::from(document.exists);
        }
        for list in &mut self.lists {
            list.entries
                .retain(|(number, _)| self.documents[*number as usize].exists);
            for (number, _) in &mut list.entries {
                *number = new_numbers[*number as usize];
            }
        }
        for number in self.numbers.values_mut() {
            *number = new_numbers[*number as usize];
        }
        self.documents.retain(|document| document.exists);
        self.drop_unused_terms();
    }

    fn drop_unused_terms(&mut self) {
        let mut new_terms = Vec::with_capacity(self.lists.len());
        let mut next = 0;
        for list in &self.lists {
            new_terms.push(next);
            next += u32::from(!list.entries.is_empty());
        }
        self.terms
            .retain(|_, term| !self.lists[*term as usize].entries.is_empty());
        for term in self.terms.values_mut() {
            *term = new_terms[*term as usize];
        }
        for document in &mut self.documents {
            for term in &mut document.terms {
                *term = new_terms[*term as usize];
            }
        }
        self.lists.retain(|list| !list.entries.is_empty());
    }

    /// Returns the documents with the best scores, the best first; of equal scores, in the order of their ids.
    pub(super) fn search(&self, keywords: &[String], limit: usize, settings: Bm25Settings) -> Vec<(String, f32)> {
        let mut lists: Vec<(f32, &List)> = keywords
            .iter()
            .filter_map(|keyword| self.terms.get(keyword.as_str()))
            .map(|term| &self.lists[*term as usize])
            .filter(|list| list.documents > 0)
            .map(|list| {
                (
                    settings.weight(self.numbers.len() as u64, u64::from(list.documents)),
                    list,
                )
            })
            .collect();
        // Rare terms first, so that the bound below is reached early.
        lists.sort_by(|one, other| other.0.total_cmp(&one.0));
        let mut scores = self.take_scores();
        let candidates = self.score(&lists, limit, settings, &mut scores);
        let exists = |number: &u32| self.documents[*number as usize].exists;
        let mut found: Vec<(f32, &str)> = candidates
            .iter()
            .filter(|number| exists(number))
            .map(|number| (scores[*number as usize], &*self.documents[*number as usize].id))
            .collect();
        for number in candidates {
            scores[number as usize] = 0.0;
        }
        self.give_back(scores);
        let better =
            |one: &(f32, &str), other: &(f32, &str)| other.0.total_cmp(&one.0).then_with(|| one.1.cmp(other.1));
        if found.len() > limit {
            found.select_nth_unstable_by(limit, better);
            found.truncate(limit);
        }
        found.sort_by(better);
        found.into_iter().map(|(score, id)| (id.to_owned(), score)).collect()
    }

    /// Adds up the scores of the lists. Returns the documents that may be among the best, which are all that have a score.
    fn score(&self, lists: &[(f32, &List)], limit: usize, settings: Bm25Settings, scores: &mut [f32]) -> Vec<u32> {
        let average = (self.length / self.numbers.len().max(1) as f64) as f32;
        let formula = settings.formula(average);
        let add = |weight: f32, number: u32, occurrences: f32| {
            formula.score(weight, occurrences, self.documents[number as usize].length)
        };
        let mut candidates: Vec<u32> = Vec::new();
        // The most that a document can get from the remaining lists.
        let mut remaining: f32 = lists.iter().map(|(weight, _)| weight).sum();
        let mut is_closed = false;
        for (weight, list) in lists {
            is_closed = is_closed || self.least(&candidates, limit, scores) > remaining * 1.0001;
            remaining -= weight;
            if is_closed && candidates.len() < list.entries.len() / 16 {
                candidates.sort_unstable();
                let mut rest = list.entries.as_slice();
                for number in &candidates {
                    rest = &rest[rest.partition_point(|entry| entry.0 < *number)..];
                    match rest.first() {
                        Some((found, occurrences)) if found == number => {
                            scores[*number as usize] += add(*weight, *number, *occurrences);
                        }
                        Some(_) => {}
                        None => break,
                    }
                }
                continue;
            }
            for (number, occurrences) in &list.entries {
                let score = &mut scores[*number as usize];
                if *score == 0.0 {
                    if is_closed {
                        continue;
                    }
                    candidates.push(*number);
                }
                *score += add(*weight, *number, *occurrences);
            }
        }
        candidates
    }

    /// Returns the score of the last of the best candidates, 0 if there are fewer.
    fn least(&self, candidates: &[u32], limit: usize, scores: &[f32]) -> f32 {
        let exists = |number: &&u32| self.documents[**number as usize].exists;
        let mut best: Vec<f32> = candidates
            .iter()
            .filter(exists)
            .map(|number| scores[*number as usize])
            .collect();
        if best.len() < limit {
            return 0.0;
        }
        *best
            .select_nth_unstable_by(limit - 1, |one, other| other.total_cmp(one))
            .1
    }

    fn take_scores(&self) -> Vec<f32> {
        let mut scores = self.buffers().pop().unwrap_or_default();
        scores.resize(self.documents.len(), 0.0);
        scores
    }

    fn give_back(&self, scores: Vec<f32>) {
        self.buffers().push(scores);
    }

    fn buffers(&self) -> std::sync::MutexGuard<'_, Vec<Vec<f32>>> {
        self.scores.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::{
        keywords::KeywordExtractor,
        search::{bm25::TermCounter, text_index::TextDocument},
    };

    /// Words are their own terms.
    #[derive(Debug)]
    struct Words;

    impl KeywordExtractor for Words {
        fn terms(&self, text: &str, found: &mut dyn FnMut(&str)) {
            text.split_whitespace().for_each(found);
        }

        fn keywords(&self, query: &str) -> Vec<String> {
            vec![query.to_owned()]
        }
    }

    fn insert(postings: &mut Postings, id: &str, text: &str) {
        let mut counter = TermCounter::new();
        let document = TextDocument::new(id, "", text);
        let counted = counter.count(&document, &Words, &Bm25Settings::default());
        postings.insert_all(vec![(id.to_owned(), counted)], counter.into_terms());
    }

    /// Scores every document by the formula, without an index.
    fn reference(documents: &BTreeMap<String, String>, query: &[String], limit: usize) -> Vec<(String, f32)> {
        let settings = Bm25Settings::default();
        let lengths = documents.values().map(|text| text.split_whitespace().count());
        let average = lengths.sum::<usize>() as f32 / documents.len().max(1) as f32;
        let with_term = |keyword: &String| {
            let has = |text: &&String| text.split_whitespace().any(|term| term == keyword);
            documents.values().filter(has).count() as f32
        };
        let query: Vec<(&String, f32)> = query.iter().map(|keyword| (keyword, with_term(keyword))).collect();
        let mut found = Vec::new();
        for (id, text) in documents {
            let length = text.split_whitespace().count() as f32;
            let mut score = 0.0;
            for (keyword, with_term) in &query {
                let occurrences = text.split_whitespace().filter(|term| term == keyword).count() as f32;
                let rarity = (1.0 + (documents.len() as f32 - with_term + 0.5) / (with_term + 0.5)).ln();
                let norm = settings.k1 * (1.0 - settings.b + settings.b * length / average);
                score += rarity * occurrences * (settings.k1 + 1.0) / (occurrences + norm);
            }
            if score > 0.0 {
                found.push((id.clone(), score));
            }
        }
        found.sort_by(|one, other| other.1.total_cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
        found.truncate(limit);
        found
    }

    fn check(documents: &BTreeMap<String, String>, postings: &Postings, query: &[String], limit: usize) {
        let expected = reference(documents, query, limit);
        let found = postings.search(query, limit, Bm25Settings::default());
        assert_eq!(found.len(), expected.len(), "{query:?}");
        for (one, other) in found.iter().zip(&expected) {
            assert!((one.1 - other.1).abs() < 1e-4, "{found:?} instead of {expected:?}");
        }
    }

    #[test]
    fn removed_documents_leave_nothing_behind() {
        let mut postings = Postings::default();
        for number in 0..1000 {
            insert(&mut postings, &number.to_string(), &format!("a w{number}"));
        }
        for number in 0..999 {
            postings.remove(&number.to_string());
        }
        assert_eq!(postings.len(), 1);
        assert!(postings.documents.len() <= FEW + 2, "{}", postings.documents.len());
        assert!(postings.lists.len() <= 2 * FEW, "{}", postings.lists.len());
        let found = postings.search(&["a".to_owned()], 10, Bm25Settings::default());
        assert_eq!(found[0].0, "999");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn the_best_are_those_of_the_formula(
            changes in proptest::collection::vec((0_u8..40, "([a-e] |x){0,12}"), 0..400),
            query in proptest::collection::btree_set("[a-e]|x|xx|z", 0..6),
            limit in 1_usize..8,
        ) {
            let (mut documents, mut postings) = (BTreeMap::new(), Postings::default());
            for (id, text) in changes {
                let id = id.to_string();
                if text.is_empty() {
                    postings.remove(&id);
                    documents.remove(&id);
                } else {
                    insert(&mut postings, &id, &text);
                    documents.insert(id, text);
                }
            }
            prop_assert_eq!(postings.len(), documents.len());
            let query: Vec<String> = query.into_iter().collect();
            check(&documents, &postings, &query, limit);
        }
    }

    #[test]
    fn frequent_terms_after_rare_ones_do_not_change_the_result() {
        let mut postings = Postings::default();
        let mut documents = BTreeMap::new();
        for number in 0..2000_u32 {
            let mut text = "the of and".to_owned();
            if number % 50 == 0 {
                text += " rare";
            }
            if number % 7 == 0 {
                text += " middle middle";
            }
            text += &" x".repeat(number as usize % 13);
            insert(&mut postings, &number.to_string(), &text);
            documents.insert(number.to_string(), text);
        }
        let query = ["the", "of", "rare", "middle", "and"].map(str::to_owned);
        for limit in [1, 10, 40, 100, 5000] {
            check(&documents, &postings, &query, limit);
        }
    }
}

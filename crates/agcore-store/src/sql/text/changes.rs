//! [`BlockChanges`]: what changes in a block, and the leaves that result from it.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::StoreError;

use super::{
    block::{SIZE, entries, places_of},
    leaf::{Leaf, Leaves, Terms},
};

/// The size at which a leaf is full. With its key, it is the largest row that SQLite keeps within a page of the tree, with four
/// rows per page: a query reads a page for each block and term.
const FULL: usize = 960;

/// The changes of the documents of a block.
#[derive(Debug, Default)]
pub(crate) struct BlockChanges {
    /// In the order of terms and places, after [`sort`](Self::sort).
    added: Vec<Added>,
    removed: Places,
    /// Lengths at places, 0 for documents that are removed.
    pub(super) lengths: BTreeMap<u16, f32>,
}

/// A term of a document.
#[derive(Debug, Clone, Copy)]
struct Added {
    /// The number of the term, in the order of all terms.
    term: u32,
    place: u16,
    occurrences: f32,
}

/// Places of a block.
#[derive(Debug, Default)]
struct Places {
    bits: [u64; SIZE / 64],
    has_any: bool,
}

impl Places {
    fn insert(&mut self, place: u16) {
        self.bits[usize::from(place) / 64] |= 1 << (place % 64);
        self.has_any = true;
    }

    fn contains(&self, place: u16) -> bool {
        self.bits[usize::from(place) / 64] & (1 << (place % 64)) != 0
    }
}

/// The rows of a block that change.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Rewritten {
    /// The first terms of leaves that are gone.
    pub(crate) gone: Vec<Vec<u8>>,
    pub(crate) saved: Vec<Leaf>,
}

impl BlockChanges {
    /// Adds a document at a place.
    pub(super) fn add(&mut self, place: u16, terms: &[(u32, f32)], length: f32) {
        let added = terms.iter().map(|(term, occurrences)| Added {
            term: *term,
            place,
            occurrences: *occurrences,
        });
        self.added.extend(added);
        self.lengths.insert(place, length);
    }

    /// Removes the document at a place, which has been there before all changes.
    pub(super) fn remove(&mut self, place: u16) {
        self.removed.insert(place);
        self.lengths.insert(place, 0.0);
    }

    /// Sorts the changes, which is necessary before they are applied.
    pub(super) fn sort(&mut self) {
        self.added.sort_unstable_by_key(|added| (added.term, added.place));
    }

    /// Returns the leaves of a block that have to be read, by their first terms.
    pub(crate) fn needed(&self, firsts: &[Vec<u8>], terms: &[Box<str>]) -> BTreeSet<usize> {
        // It is not known which terms a removed document has.
        if self.removed.has_any {
            return (0..firsts.len()).collect();
        }
        self.with_added(firsts, terms)
    }

    /// Returns the leaves to which terms are added.
    fn with_added(&self, firsts: &[Vec<u8>], terms: &[Box<str>]) -> BTreeSet<usize> {
        let mut leaves = BTreeSet::new();
        let mut rest = self.added.as_slice();
        while let Some(added) = rest.first().filter(|_| !firsts.is_empty()) {
            let term = terms[added.term as usize].as_bytes();
            let leaf = firsts
                .partition_point(|first| first.as_slice() <= term)
                .saturating_sub(1);
            leaves.insert(leaf);
            rest = &rest[before(rest, firsts.get(leaf + 1), terms)..];
        }
        leaves
    }

    /// Applies the changes to the leaves of a block. `stored` are the bytes of those that were needed.
    ///
    /// # Errors
    /// When a leaf is damaged.
    pub(crate) fn rewrite(
        &self,
        firsts: &[Vec<u8>],
        stored: &BTreeMap<usize, Vec<u8>>,
        terms: &[Box<str>],
    ) -> Result<Rewritten, StoreError> {
        let mut affected = self.with_added(firsts, terms);
        if self.removed.has_any {
            for (leaf, bytes) in stored {
                if !affected.contains(leaf) && self.is_removed_from(bytes)? {
                    affected.insert(*leaf);
                }
            }
        }
        let mut rewritten = Rewritten::default();
        let mut added = self.added.as_slice();
        let mut next = affected.into_iter().peekable();
        // Without leaves, all terms are new.
        let mut run = next.next().map_or(0..0, |leaf| leaf..leaf + 1);
        loop {
            while next.next_if_eq(&run.end).is_some() {
                run.end += 1;
            }
            let after = if run.is_empty() { None } else { firsts.get(run.end) };
            let (here, rest) = added.split_at(before(added, after, terms));
            added = rest;
            let old: Vec<&[u8]> = run
                .clone()
                .filter_map(|leaf| stored.get(&leaf))
                .map(Vec::as_slice)
                .collect();
            let leaves = self.merge(&old, here, terms)?;
            rewritten.add(&firsts[run.clone()], &old, leaves);
            match next.next() {
                Some(leaf) => run = leaf..leaf + 1,
                None => return Ok(rewritten),
            }
        }
    }

    fn is_removed_from(&self, leaf: &[u8]) -> Result<bool, StoreError> {
        let mut terms = Terms::new(leaf)?;
        while let Some(entries) = terms.next()? {
            if self.has_removed(entries)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn has_removed(&self, entries: &[u8]) -> Result<bool, StoreError> {
        Ok(self.removed.has_any && self::entries(entries)?.any(|(place, _)| self.removed.contains(place)))
    }

    /// Returns the leaves that replace these neighbors.
    fn merge(&self, old: &[&[u8]], added: &[Added], terms: &[Box<str>]) -> Result<Vec<Leaf>, StoreError> {
        let size = old.iter().map(|leaf| leaf.len()).sum::<usize>() + 12 * added.len();
        // Leaves that are equally full have space for the next terms.
        let mut leaves = Leaves::new(if size > 8 * FULL {
            FULL
        } else {
            size.div_ceil(size.div_ceil(FULL).max(1))
        });
        let term_of = |group: &[Added]| {
            group
                .first()
                .map_or(&[][..], |added| terms[added.term as usize].as_bytes())
        };
        let mut added = added.chunk_by(|one, other| one.term == other.term).peekable();
        let mut entry = Entry::default();
        for leaf in old {
            let mut stored = Terms::new(leaf)?;
            while let Some(entries) = stored.next()? {
                while let Some(group) = added.next_if(|group| term_of(group) < stored.term.as_slice()) {
                    entry.set(&[], &self.removed, group)?;
                    leaves.push(term_of(group), &entry.places, &entry.occurrences);
                }
                let group = added
                    .next_if(|group| term_of(group) == stored.term.as_slice())
                    .unwrap_or_default();
                if group.is_empty() && !self.has_removed(entries)? {
                    let (places, occurrences) = entries.split_at(places_of(entries));
                    leaves.push(&stored.term, places, occurrences);
                    continue;
                }
                entry.set(entries, &self.removed, group)?;
                if !entry.places.is_empty() {
                    leaves.push(&stored.term, &entry.places, &entry.occurrences);
                }
            }
        }
        for group in added {
            entry.set(&[], &self.removed, group)?;
            leaves.push(term_of(group), &entry.places, &entry.occurrences);
        }
        Ok(leaves.into_leaves())
    }
}

/// Returns the number of changes of terms before this one, or of all.
fn before(added: &[Added], term: Option<&Vec<u8>>, terms: &[Box<str>]) -> usize {
    let is_before = |added: &Added, term: &Vec<u8>| terms[added.term as usize].as_bytes() < term.as_slice();
    term.map_or(added.len(), |term| {
        added.partition_point(|added| is_before(added, term))
    })
}

impl Rewritten {
    /// Adds leaves that replace others.
    fn add(&mut self, firsts: &[Vec<u8>], old: &[&[u8]], leaves: Vec<Leaf>) {
        let is_gone = |first: &&Vec<u8>| leaves.iter().all(|leaf| leaf.first != **first);
        self.gone.extend(firsts.iter().filter(is_gone).cloned());
        let is_stored = |leaf: &Leaf| {
            firsts
                .iter()
                .zip(old)
                .any(|(first, old)| *first == leaf.first && *old == leaf.terms)
        };
        self.saved.extend(leaves.into_iter().filter(|leaf| !is_stored(leaf)));
    }
}

/// The bytes of the entries of a term.
#[derive(Default)]
struct Entry {
    places: Vec<u8>,
    occurrences: Vec<u8>,
}

impl Entry {
    /// Sets the entry to the stored one without the removed places, and with a group.
    fn set(&mut self, stored: &[u8], removed: &Places, group: &[Added]) -> Result<(), StoreError> {
        self.places.clear();
        self.occurrences.clear();
        let (places, occurrences) = stored.split_at(places_of(stored));
        let last = places.last_chunk().map(|last| u16::from_le_bytes(*last));
        let mut group = group.iter().peekable();
        if !removed.has_any && last < group.peek().map(|added| added.place) {
            self.places.extend_from_slice(places);
            self.occurrences.extend_from_slice(occurrences);
        } else if !stored.is_empty() {
            for (place, occurrences) in entries(stored)?.filter(|(place, _)| !removed.contains(*place)) {
                while let Some(added) = group.next_if(|added| added.place < place) {
                    self.push(added.place, added.occurrences);
                }
                self.push(place, occurrences);
            }
        }
        group.for_each(|added| self.push(added.place, added.occurrences));
        Ok(())
    }

    fn push(&mut self, place: u16, occurrences: f32) {
        self.places.extend_from_slice(&place.to_le_bytes());
        self.occurrences.extend_from_slice(&occurrences.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::text::leaf::find;

    /// The rows of a block.
    type Rows = BTreeMap<Vec<u8>, Vec<u8>>;

    fn apply(rows: &mut Rows, changes: &mut BlockChanges, terms: &[Box<str>]) {
        changes.sort();
        let firsts: Vec<Vec<u8>> = rows.keys().cloned().collect();
        let needed = changes.needed(&firsts, terms);
        let stored = needed
            .into_iter()
            .map(|leaf| (leaf, rows[&firsts[leaf]].clone()))
            .collect();
        let rewritten = changes.rewrite(&firsts, &stored, terms).unwrap();
        for first in rewritten.gone {
            assert!(rows.remove(&first).is_some());
        }
        rows.extend(rewritten.saved.into_iter().map(|leaf| (leaf.first, leaf.terms)));
    }

    /// Returns the entries of a term, found as queries do.
    fn entries_of(rows: &Rows, term: &str) -> Vec<(u16, f32)> {
        let leaf = rows.range(..=term.as_bytes().to_vec()).next_back();
        let found = leaf.and_then(|(_, bytes)| find(bytes, term.as_bytes()).unwrap());
        found.map_or_else(Vec::new, |bytes| entries(bytes).unwrap().collect())
    }

    /// Numbered terms in ascending order. Some of them are frequent.
    fn terms() -> Vec<Box<str>> {
        (0..2000).map(|number| format!("term{number:04}").into()).collect()
    }

    #[test]
    fn rows_contain_what_was_added() {
        for seed in 0..24 {
            let mut random = fastrand::Rng::with_seed(seed);
            let terms = terms();
            let (mut rows, mut expected) = (Rows::new(), BTreeMap::<u16, BTreeSet<u32>>::new());
            for _ in 0..random.usize(1..8) {
                let mut changes = BlockChanges::default();
                let places: BTreeSet<u16> = (0..random.usize(1..30)).map(|_| random.u16(..60)).collect();
                for place in places {
                    if expected.remove(&place).is_some() {
                        changes.remove(place);
                    }
                    if random.u8(..5) > 0 {
                        let mut term = || {
                            if random.bool() {
                                random.u32(..20)
                            } else {
                                random.u32(..2000)
                            }
                        };
                        let document: BTreeSet<u32> = (0..place + 50).map(|_| term()).collect();
                        let counted: Vec<(u32, f32)> = document.iter().map(|term| (*term, f32::from(place))).collect();
                        changes.add(place, &counted, 1.0);
                        expected.insert(place, document);
                    }
                }
                apply(&mut rows, &mut changes, &terms);
                for (number, term) in (0..).zip(&terms) {
                    let with_term = expected.iter().filter(|(_, document)| document.contains(&number));
                    let with_term: Vec<_> = with_term.map(|(place, _)| (*place, f32::from(*place))).collect();
                    assert_eq!(entries_of(&rows, term), with_term, "seed {seed}: {term}");
                }
            }
            let mut changes = BlockChanges::default();
            expected.keys().for_each(|place| changes.remove(*place));
            apply(&mut rows, &mut changes, &terms);
            assert!(rows.is_empty(), "seed {seed}: {:?}", rows.keys());
        }
    }

    #[test]
    fn one_document_changes_few_rows() {
        let terms = terms();
        let mut rows = Rows::new();
        let mut changes = BlockChanges::default();
        for place in 0..900 {
            let counted: Vec<(u32, f32)> = (0..50)
                .map(|number| ((number * 97 + u32::from(place) * 13) % 2000, 1.0))
                .collect();
            changes.add(place, &counted, 50.0);
        }
        apply(&mut rows, &mut changes, &terms);
        let all = rows.len();
        assert!(all > 200, "{all}");
        assert!(rows.values().all(|row| row.len() < FULL + 100));
        // Added, then removed.
        for is_removed in [false, true] {
            let mut changes = BlockChanges::default();
            match is_removed {
                true => changes.remove(1000),
                false => changes.add(1000, &[(3, 1.0), (1500, 1.0)], 2.0),
            }
            changes.sort();
            let firsts: Vec<Vec<u8>> = rows.keys().cloned().collect();
            let stored = changes.needed(&firsts, &terms).into_iter();
            let stored = stored.map(|leaf| (leaf, rows[&firsts[leaf]].clone())).collect();
            let rewritten = changes.rewrite(&firsts, &stored, &terms).unwrap();
            assert!(
                (1..=4).contains(&rewritten.saved.len()),
                "{is_removed}: {}",
                rewritten.saved.len()
            );
            apply(&mut rows, &mut changes, &terms);
        }
        assert!(rows.len() <= all + 4);
    }
}

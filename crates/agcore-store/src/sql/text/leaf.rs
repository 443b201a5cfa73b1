//! [`Leaf`]: a row with the terms of a part of a block.

use std::cmp::Ordering;

use crate::error::StoreError;

use super::block::{ENTRY, SIZE, damaged};

/// Terms in ascending order of their bytes, each with the entries of a block.
///
/// A term is stored as the number of bytes that it has in common with the one before, and the others.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Leaf {
    pub(crate) first: Vec<u8>,
    pub(crate) terms: Vec<u8>,
}

/// Reads the terms of a leaf.
pub(super) struct Terms<'l> {
    bytes: &'l [u8],
    /// The last term.
    pub(super) term: Vec<u8>,
}

impl<'l> Terms<'l> {
    /// Begins to read.
    ///
    /// # Errors
    /// When there is no term.
    pub(super) fn new(bytes: &'l [u8]) -> Result<Self, StoreError> {
        if bytes.is_empty() {
            return Err(damaged());
        }
        let term = Vec::with_capacity(64);
        Ok(Self { bytes, term })
    }

    /// Reads the next term. Returns its entries, `None` after the last term.
    ///
    /// # Errors
    /// When the bytes are damaged.
    pub(super) fn next(&mut self) -> Result<Option<&'l [u8]>, StoreError> {
        if self.bytes.is_empty() {
            return Ok(None);
        }
        let (common, other, count) = (self.number()?, self.number()?, self.number()?);
        if common > self.term.len() || !(1..=SIZE).contains(&count) {
            return Err(damaged());
        }
        self.term.truncate(common);
        let other = self.take(other)?;
        self.term.extend_from_slice(other);
        self.take(count * ENTRY).map(Some)
    }

    fn take(&mut self, length: usize) -> Result<&'l [u8], StoreError> {
        let (taken, rest) = self.bytes.split_at_checked(length).ok_or_else(damaged)?;
        self.bytes = rest;
        Ok(taken)
    }

    /// Reads a number of variable length.
    fn number(&mut self) -> Result<usize, StoreError> {
        let (mut number, mut shift) = (0, 0);
        loop {
            let [byte] = self.take(1)? else { return Err(damaged()) };
            number |= usize::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
            shift += 7;
            if shift > 28 {
                return Err(damaged());
            }
        }
    }
}

/// Returns the entries of a term, if the leaf has it.
///
/// # Errors
/// When the bytes are damaged.
pub(crate) fn find<'l>(leaf: &'l [u8], wanted: &[u8]) -> Result<Option<&'l [u8]>, StoreError> {
    let mut terms = Terms::new(leaf)?;
    while let Some(entries) = terms.next()? {
        match terms.term.as_slice().cmp(wanted) {
            Ordering::Less => {}
            Ordering::Equal => return Ok(Some(entries)),
            Ordering::Greater => return Ok(None),
        }
    }
    Ok(None)
}

/// Writes terms to as many leaves as are needed.
pub(super) struct Leaves {
    leaves: Vec<Leaf>,
    last: Vec<u8>,
    /// The size at which a leaf is full.
    full: usize,
}

impl Leaves {
    /// Begins to write leaves of this size.
    pub(super) fn new(full: usize) -> Self {
        Self {
            leaves: Vec::new(),
            last: Vec::new(),
            full,
        }
    }

    /// Adds a term, which is greater than the one before, with the places and the bytes of the numbers of occurrences.
    pub(super) fn push(&mut self, term: &[u8], places: &[u8], occurrences: &[u8]) {
        let needed = term.len() + places.len() + occurrences.len();
        let is_full = |leaf: &Leaf| leaf.terms.len() + needed > self.full;
        if self.leaves.last().is_none_or(is_full) {
            self.last.clear();
            self.leaves.push(Leaf {
                first: term.to_vec(),
                terms: Vec::with_capacity(self.full),
            });
        }
        let Some(Leaf { terms, .. }) = self.leaves.last_mut() else {
            return;
        };
        let common = self
            .last
            .iter()
            .zip(term)
            .take_while(|(one, other)| one == other)
            .count();
        write_number(terms, common);
        write_number(terms, term.len() - common);
        write_number(terms, (places.len() + occurrences.len()) / ENTRY);
        terms.extend_from_slice(&term[common..]);
        terms.extend_from_slice(places);
        terms.extend_from_slice(occurrences);
        self.last.clear();
        self.last.extend_from_slice(term);
    }

    pub(super) fn into_leaves(self) -> Vec<Leaf> {
        self.leaves
    }
}

fn write_number(bytes: &mut Vec<u8>, mut number: usize) {
    while number > 0x7f {
        bytes.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

#[cfg(test)]
mod tests {
    use crate::error::StoreErrorKind;

    use super::*;

    const ENTRIES: [u8; 6] = [7, 0, 0, 0, 128, 63];

    fn leaves(terms: &[&str], full: usize) -> Vec<Leaf> {
        let mut leaves = Leaves::new(full);
        for term in terms {
            leaves.push(term.as_bytes(), &ENTRIES[..2], &ENTRIES[2..]);
        }
        leaves.into_leaves()
    }

    #[test]
    fn terms_come_back() {
        let long = "x".repeat(300);
        let terms = ["", "a", "ab", "abc", "b", &long, "番茄"];
        let [leaf] = leaves(&terms, 4000).try_into().unwrap();
        assert!(leaf.first.is_empty());
        for term in terms {
            assert_eq!(
                find(&leaf.terms, term.as_bytes()).unwrap(),
                Some(&ENTRIES[..]),
                "{term}"
            );
        }
        for term in ["0", "abcd", "c", "番"] {
            assert_eq!(find(&leaf.terms, term.as_bytes()).unwrap(), None, "{term}");
        }
    }

    #[test]
    fn full_leaves_are_followed_by_others() {
        let leaves = leaves(&["apple", "apply", "banana", "cherry"], 25);
        let firsts: Vec<&[u8]> = leaves.iter().map(|leaf| leaf.first.as_slice()).collect();
        assert_eq!(firsts, [&b"apple"[..], b"banana", b"cherry"]);
        assert!(find(&leaves[0].terms, b"apply").unwrap().is_some());
    }

    #[test]
    fn damaged_bytes_are_errors() {
        let [leaf] = leaves(&["a", "ab"], 4000).try_into().unwrap();
        for length in 0..leaf.terms.len() {
            let whole_terms = 3 + 1 + ENTRIES.len();
            let found = find(&leaf.terms[..length], b"zz");
            assert_eq!(found.is_ok(), length == whole_terms, "{length}");
        }
        for bytes in [
            &leaf.terms[1..],
            &[1, 0, 1],
            &[0, 1, 0, b'a'],
            &[0xff; 20],
            &[0, 1, 0x81, 8, b'a'],
        ] {
            assert_eq!(
                find(bytes, b"zz").unwrap_err().kind(),
                StoreErrorKind::Serialization,
                "{bytes:?}"
            );
        }
    }
}

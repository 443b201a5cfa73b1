//! The bytes of a block.

use std::collections::BTreeMap;

use agcore_memory::{MemoryError, MemoryErrorKind};

/// The number of documents of a block.
pub(super) const SIZE: usize = 1024;

/// The number of bytes of an entry: a place in the block, and a number of occurrences.
const ENTRY: usize = size_of::<u16>() + size_of::<f32>();

/// Returns the block of a document and its place there.
pub(crate) fn block_of(number: i64) -> (i64, u16) {
    let (block, place) = (number.div_euclid(SIZE as i64), number.rem_euclid(SIZE as i64));
    (block, u16::try_from(place).unwrap_or_default())
}

/// Returns the number of the document at a place of a block.
pub(super) fn number_of(block: i64, place: u16) -> i64 {
    block * SIZE as i64 + i64::from(place)
}

/// Returns the number of entries.
///
/// # Errors
/// When the bytes are damaged.
pub(super) fn entry_count(bytes: &[u8]) -> Result<usize, MemoryError> {
    let count = bytes.len() / ENTRY;
    if bytes.is_empty() || bytes.len() != count * ENTRY || count > SIZE {
        return Err(damaged());
    }
    Ok(count)
}

/// Returns the entries: places in ascending order, with numbers of occurrences.
///
/// # Errors
/// When the bytes are damaged.
pub(super) fn entries(bytes: &[u8]) -> Result<impl Iterator<Item = (u16, f32)> + '_, MemoryError> {
    let (places, occurrences) = bytes.split_at(entry_count(bytes)? * size_of::<u16>());
    let places = places.chunks_exact(size_of::<u16>());
    let places = places.map(|chunk| chunk.try_into().map_or(0, u16::from_le_bytes));
    if places.clone().any(|place| usize::from(place) >= SIZE) {
        return Err(damaged());
    }
    Ok(places.zip(floats(occurrences)))
}

fn floats(bytes: &[u8]) -> impl Iterator<Item = f32> + '_ {
    let chunks = bytes.chunks_exact(size_of::<f32>());
    chunks.map(|chunk| chunk.try_into().map_or(0.0, f32::from_le_bytes))
}

/// Changes the entries of a block: numbers of occurrences to set, or entries to remove. The result is empty if none are left.
///
/// # Errors
/// When the bytes are damaged.
pub(crate) fn merged(stored: Option<&[u8]>, changes: &BTreeMap<u16, Option<f32>>) -> Result<Vec<u8>, MemoryError> {
    let mut all: BTreeMap<u16, f32> = match stored {
        Some(bytes) => entries(bytes)?.collect(),
        None => BTreeMap::new(),
    };
    for (place, occurrences) in changes {
        match occurrences {
            Some(occurrences) => drop(all.insert(*place, *occurrences)),
            None => drop(all.remove(place)),
        }
    }
    let mut bytes: Vec<u8> = all.keys().flat_map(|place| place.to_le_bytes()).collect();
    bytes.extend(all.values().flat_map(|occurrences| occurrences.to_le_bytes()));
    Ok(bytes)
}

/// The lengths of the documents of a block, 0 for those that do not exist.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Lengths(Vec<f32>);

impl Lengths {
    /// Returns the lengths of a block without documents.
    pub(crate) fn new() -> Self {
        Self(vec![0.0; SIZE])
    }

    /// Reads stored lengths.
    ///
    /// # Errors
    /// When the bytes are damaged.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self, MemoryError> {
        if bytes.len() != SIZE * size_of::<f32>() {
            return Err(damaged());
        }
        Ok(Self(floats(bytes).collect()))
    }

    /// Returns the bytes to store, or `None` if no document is left.
    pub(crate) fn to_bytes(&self) -> Option<Vec<u8>> {
        let has_documents = self.0.iter().any(|length| *length != 0.0);
        has_documents.then(|| self.0.iter().flat_map(|length| length.to_le_bytes()).collect())
    }

    /// Returns the length of a document.
    pub(crate) fn get(&self, place: u16) -> f32 {
        self.0[usize::from(place)]
    }

    /// Sets the length of a document. Returns the one before.
    pub(crate) fn set(&mut self, place: u16, length: f32) -> f32 {
        std::mem::replace(&mut self.0[usize::from(place)], length)
    }
}

/// Returns the bytes of numbers in ascending order, as differences of variable length.
pub(crate) fn numbers_to(numbers: &[i64]) -> Vec<u8> {
    let (mut bytes, mut last) = (Vec::with_capacity(2 * numbers.len()), 0);
    for number in numbers {
        let mut difference = number.abs_diff(last);
        last = *number;
        while difference > 0x7f {
            bytes.push((difference & 0x7f) as u8 | 0x80);
            difference >>= 7;
        }
        bytes.push(difference as u8);
    }
    bytes
}

/// Returns the numbers that were stored.
///
/// # Errors
/// When the bytes are damaged.
pub(crate) fn numbers_from(bytes: &[u8]) -> Result<Vec<i64>, MemoryError> {
    let (mut numbers, mut last) = (Vec::new(), 0_i64);
    let (mut difference, mut shift) = (0_u64, 0_u32);
    for byte in bytes {
        if shift > 56 {
            return Err(damaged());
        }
        difference |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            last = last.checked_add_unsigned(difference).ok_or_else(damaged)?;
            numbers.push(last);
            (difference, shift) = (0, 0);
        }
    }
    if shift != 0 {
        return Err(damaged());
    }
    Ok(numbers)
}

/// Returns the error of bytes that cannot be read.
#[cold]
pub(super) fn damaged() -> MemoryError {
    MemoryError::new(
        MemoryErrorKind::Serialization,
        "the index of texts is damaged; rebuild it (`KnowledgeIndex::rebuild`, `agcore knowledge rebuild`)",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_set_and_removed() {
        let first = merged(None, &BTreeMap::from([(700, Some(1.5)), (0, Some(2.0)), (255, None)])).unwrap();
        assert_eq!(entries(&first).unwrap().collect::<Vec<_>>(), [(0, 2.0), (700, 1.5)]);
        let second = merged(
            Some(&first),
            &BTreeMap::from([(0, None), (900, Some(1.0)), (700, Some(3.0))]),
        )
        .unwrap();
        assert_eq!(entries(&second).unwrap().collect::<Vec<_>>(), [(700, 3.0), (900, 1.0)]);
        assert!(
            merged(Some(&second), &BTreeMap::from([(700, None), (900, None)]))
                .unwrap()
                .is_empty()
        );
    }

    #[test]
    fn numbers_come_back() {
        let numbers = vec![0, 1, 1, 127, 128, 300, 1 << 40, i64::MAX];
        assert_eq!(numbers_from(&numbers_to(&numbers)).unwrap(), numbers);
        assert_eq!(numbers_from(&[]).unwrap(), [0_i64; 0]);
        assert_eq!(block_of(number_of(3, 1023)), (3, 1023));
    }

    #[test]
    fn damaged_bytes_are_errors() {
        let error = |result: Result<(), MemoryError>| result.unwrap_err().kind();
        for bytes in [&[][..], &[1], &[0; 7], &[0xff; 6], &[0; 6 * 1025]] {
            assert_eq!(error(entries(bytes).map(drop)), MemoryErrorKind::Serialization);
        }
        assert_eq!(
            error(Lengths::from_bytes(&[0; 1023]).map(drop)),
            MemoryErrorKind::Serialization
        );
        for bytes in [
            &[0x80][..],
            &[0xff; 10],
            &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 1],
        ] {
            assert_eq!(
                error(numbers_from(bytes).map(drop)),
                MemoryErrorKind::Serialization,
                "{bytes:?}"
            );
        }
    }
}

//! The bytes of a block.

use crate::error::{StoreError, StoreErrorKind};

/// The number of documents of a block.
pub(super) const SIZE: usize = 1024;

/// The number of bytes of an entry: a place in the block, and a number of occurrences.
pub(super) const ENTRY: usize = size_of::<u16>() + size_of::<f32>();

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
pub(super) fn entry_count(bytes: &[u8]) -> Result<usize, StoreError> {
    let count = bytes.len() / ENTRY;
    if bytes.is_empty() || bytes.len() != count * ENTRY || count > SIZE {
        return Err(damaged());
    }
    Ok(count)
}

/// Returns the number of bytes of the places, which precede the numbers of occurrences.
pub(super) fn places_of(bytes: &[u8]) -> usize {
    bytes.len() / ENTRY * size_of::<u16>()
}

/// Returns the entries: places in ascending order, with numbers of occurrences.
///
/// # Errors
/// When the bytes are damaged.
pub(super) fn entries(bytes: &[u8]) -> Result<impl Iterator<Item = (u16, f32)> + '_, StoreError> {
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
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self, StoreError> {
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

/// Returns the error of bytes that cannot be read.
#[cold]
pub(super) fn damaged() -> StoreError {
    StoreError::new(
        StoreErrorKind::Serialization,
        "the index of texts is damaged; rebuild it (`KnowledgeIndex::rebuild`, `agcore knowledge rebuild`)",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_places() {
        for number in [0, 1023, 1024, 4095, i64::MAX] {
            let (block, place) = block_of(number);
            assert_eq!(number_of(block, place), number);
        }
        assert_eq!(block_of(3 * 1024 + 1023), (3, 1023));
    }

    #[test]
    fn damaged_bytes_are_errors() {
        let error = |result: Result<(), StoreError>| result.unwrap_err().kind();
        for bytes in [&[][..], &[1], &[0; 7], &[0xff; 6], &[0; 6 * 1025]] {
            assert_eq!(error(entries(bytes).map(drop)), StoreErrorKind::Serialization);
        }
        assert_eq!(
            error(Lengths::from_bytes(&[0; 1023]).map(drop)),
            StoreErrorKind::Serialization
        );
    }
}

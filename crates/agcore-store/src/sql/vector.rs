//! The bytes of vectors.

use agcore_memory::{MemoryError, MemoryErrorKind};

/// Returns the bytes of a vector.
pub(crate) fn bytes_of(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// Reads a stored vector into a buffer.
///
/// # Errors
/// When the bytes are damaged, or the vector has another number of dimensions than the first one.
pub(crate) fn read_into(bytes: &[u8], dimensions: usize, vector: &mut Vec<f32>) -> Result<(), MemoryError> {
    if bytes.len() != dimensions * size_of::<f32>() {
        return Err(MemoryError::new(
            MemoryErrorKind::Serialization,
            "the index of vectors is damaged; rebuild it (`KnowledgeIndex::rebuild`)",
        ));
    }
    let chunks = bytes.chunks_exact(size_of::<f32>());
    vector.clear();
    vector.extend(chunks.map(|chunk| chunk.try_into().map_or(0.0, f32::from_le_bytes)));
    Ok(())
}

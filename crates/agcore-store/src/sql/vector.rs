//! Checks of stored vectors.

use crate::error::{StoreError, StoreErrorKind};

/// Checks that a stored vector has the number of dimensions of the first one.
///
/// # Errors
/// When it has another one, which means that the index is damaged.
pub(crate) fn check_stored(found: usize, dimensions: usize) -> Result<(), StoreError> {
    if found == dimensions {
        return Ok(());
    }
    Err(StoreError::new(
        StoreErrorKind::Serialization,
        "the index of vectors is damaged; rebuild it (`KnowledgeIndex::rebuild`)",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_dimensions_are_damage() {
        check_stored(384, 384).unwrap();
        let error = check_stored(383, 384).unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Serialization);
        assert!(error.to_string().contains("rebuild it"));
    }
}

//! [`DocumentPatch`]: a JSON Patch for a document, within limits.

use json_patch::{Patch, PatchOperation, patch_unsafe};
use serde_json::Value;

use super::limits;
use crate::error::SessionError;

/// The most operations of a patch.
const MAX_OPERATIONS: usize = 128;

/// A [JSON Patch](https://www.rfc-editor.org/rfc/rfc6902) for a [document](super::SessionDocument), which a client or a model has
/// written: at most 128 operations.
///
/// ```
/// use agcore_session::DocumentPatch;
/// use serde_json::json;
///
/// let patch = DocumentPatch::from_value(json!([
///     {"op": "test", "path": "/title", "value": "Tea"},
///     {"op": "add", "path": "/steps/-", "value": "Boil water"},
/// ]))?;
/// let changed = patch.apply(json!({"title": "Tea", "steps": []}))?;
/// assert_eq!(changed, json!({"title": "Tea", "steps": ["Boil water"]}));
///
/// let error = patch.apply(json!({"title": "Coffee"})).unwrap_err();
/// assert!(error.message().starts_with("operation 0 does not fit the document: value did not match"), "{error}");
/// # Ok::<(), agcore_session::SessionError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct DocumentPatch(Patch);

impl DocumentPatch {
    /// Reads a patch.
    ///
    /// # Errors
    /// [`InvalidInput`](crate::SessionErrorKind::InvalidInput) if the value is not a patch, or has too many operations.
    pub fn from_value(value: Value) -> Result<Self, SessionError> {
        let patch: Patch = serde_json::from_value(value).map_err(|error| {
            SessionError::invalid(format!(
                "this is not a JSON Patch, an array of operations as in RFC 6902: {error}"
            ))
        })?;
        match patch.0.len() {
            0..=MAX_OPERATIONS => Ok(Self(patch)),
            many => Err(SessionError::invalid(format!(
                "the patch has {many} operations, and {MAX_OPERATIONS} are allowed; send several patches"
            ))),
        }
    }

    /// Returns the document after all operations.
    ///
    /// # Errors
    /// [`InvalidInput`](crate::SessionErrorKind::InvalidInput) if an operation does not fit, or the document becomes too large or
    /// has too many levels. The message states the number of the operation.
    pub fn apply(&self, mut document: Value) -> Result<Value, SessionError> {
        limits::check(&document)?;
        for (number, operation) in self.0.iter().enumerate() {
            let refused = |reason: String| SessionError::invalid(format!("operation {number} {reason}"));
            patch_unsafe(&mut document, std::slice::from_ref(operation))
                .map_err(|error| refused(format!("does not fit the document: {}", error.kind)))?;
            // A removal makes nothing larger, and neither does a comparison.
            if matches!(operation, PatchOperation::Remove(_) | PatchOperation::Test(_)) {
                continue;
            }
            limits::check(&document).map_err(|error| refused(format!("is refused: {}", error.message())))?;
        }
        Ok(document)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::error::SessionErrorKind;

    fn patch(operations: Value) -> DocumentPatch {
        DocumentPatch::from_value(operations).unwrap()
    }

    #[track_caller]
    fn refused(operations: Value, document: Value, expected: &str) {
        let error = patch(operations).apply(document).unwrap_err();
        assert_eq!(error.kind(), SessionErrorKind::InvalidInput);
        assert!(error.message().contains(expected), "{error}");
    }

    #[test]
    fn what_cannot_be_applied_is_refused_with_its_place() {
        let add = |path: &str| json!({"op": "add", "path": path, "value": 1});
        refused(json!([add("/a"), add("/b/c")]), json!({}), "operation 1 does not fit");
        for strange in [
            json!({}),
            json!(null),
            json!([{"op": "sing", "path": "/a"}]),
            json!([{"op": "add", "path": "a", "value": 1}]),
            json!([{"op": "remove"}]),
            json!(vec![add("/a"); 129]),
        ] {
            assert!(DocumentPatch::from_value(strange).is_err());
        }
        assert_eq!(patch(json!([])).apply(json!(1)).unwrap(), json!(1));
    }

    #[test]
    fn copies_of_copies_stay_within_the_limits() {
        let nest = |levels| (0..levels).fold(json!([]), |value, _| json!([value]));
        let deeper = json!({"op": "add", "path": "/0".repeat(41), "value": nest(40)});
        refused(json!([deeper]), nest(40), "64 levels");
        let twice: Vec<Value> = (0..64)
            .map(|number| json!({"op": "copy", "from": "", "path": format!("/{number}")}))
            .collect();
        refused(json!(twice), json!({"a": "x".repeat(1000)}), "65536 are allowed");
        refused(json!([]), nest(100), "64 levels");
    }
}

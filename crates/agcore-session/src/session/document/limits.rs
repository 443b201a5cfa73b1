//! Limits of documents.

use serde_json::Value;

use crate::error::SessionError;

/// The largest document, in bytes of its JSON: models are shown the whole.
const MAX_BYTES: usize = 64 * 1024;

/// The most levels of a document. A patch can nest a value in itself, and values of many thousand levels overflow the stack.
const MAX_DEPTH: usize = 64;

/// Checks the size of a document.
///
/// # Errors
/// [`InvalidInput`](crate::SessionErrorKind::InvalidInput) if it has more than 64 KiB or 64 levels.
pub(super) fn check(value: &Value) -> Result<(), SessionError> {
    // First, because writing a value descends into it.
    check_depth(value)?;
    let bytes = value.to_string().len();
    match bytes {
        0..=MAX_BYTES => Ok(()),
        _ => Err(SessionError::invalid(format!(
            "the document has {bytes} bytes, and {MAX_BYTES} are allowed; keep large parts elsewhere"
        ))),
    }
}

/// Returns whether a document has more than 64 KiB. One with more levels than allowed does not count.
pub(super) fn is_too_large(value: &Value) -> bool {
    check_depth(value).is_ok() && value.to_string().len() > MAX_BYTES
}

/// Checks the levels of a value, one after the other.
fn check_depth(value: &Value) -> Result<(), SessionError> {
    let mut level: Vec<&Value> = vec![value];
    for _ in 0..=MAX_DEPTH {
        let inner = level.iter().flat_map(|value| -> Box<dyn Iterator<Item = &Value>> {
            match value {
                Value::Array(items) => Box::new(items.iter()),
                Value::Object(members) => Box::new(members.values()),
                _ => Box::new(std::iter::empty()),
            }
        });
        level = inner.collect();
        if level.is_empty() {
            return Ok(());
        }
    }
    Err(SessionError::invalid(format!(
        "the document has more than {MAX_DEPTH} levels of arrays and objects"
    )))
}

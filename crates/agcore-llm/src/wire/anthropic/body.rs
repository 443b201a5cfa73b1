//! Replies that are one JSON object: counts and lists.

use serde_json::{Map, Value};

use crate::{
    error::LlmError,
    wire::{Close, document::Document},
};

/// What `read` finds in the object, `what` being what was expected.
pub(super) fn object<T>(
    document: &Document,
    close: Close,
    what: &str,
    read: impl FnOnce(Map<String, Value>) -> Option<T>,
) -> Result<T, LlmError> {
    let none = || document.malformed(format!("the reply is JSON, but no {what}"));
    match document.read(close, what)? {
        Value::Object(reply) if is_error(&reply) => Err(document.reported()),
        Value::Object(reply) => read(reply).ok_or_else(none),
        _ => Err(none()),
    }
}

fn is_error(reply: &Map<String, Value>) -> bool {
    reply.get("error").is_some_and(|error| !error.is_null()) || reply.get("type").is_some_and(|kind| kind == "error")
}
